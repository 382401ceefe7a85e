"""Bringing a database of an older version to this one, whole or not at all; Alembic takes the steps."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from manyveils.errors import InputError, ManyveilsError
from manyveils.keys import Key, Meaning, interpret_rule, interpret_table
from manyveils.server.chain import append, read_head, reseal_head, seal_before_3
from manyveils.server.database import ONE_WRITES, Database, sqlite_url
from manyveils.server.disclosure import written
from manyveils.server.heads import Heads
from manyveils.server.instances import alone
from manyveils.server.keeper import SCHEMA, Keeper, fingerprint, make_folders
from manyveils.server.schema import SUMMED, log, meta
from manyveils.server.sealed import seal_all, sum_of_rows
from manyveils.server.secret import read_secret
from manyveils.server.settings import Settings
from manyveils.server.upkeep import COMMAND, refuse_running

SCRIPTS = "manyveils.server:migrations"
# Tables before this version had no seals.
FIRST_SEALED = "3"


def migrate(settings: Settings) -> str:
    """Bring a server's database to this version; gives the version it had."""
    from alembic import command
    from alembic.config import Config

    make_folders(settings)
    with alone(settings):
        database = Database(settings.database or sqlite_url(settings.sqlite), existing=True)
        try:
            secret, _ = read_secret(settings, make=False)
            keeper = Keeper(settings, database, secret, Heads(settings.folder, secret))
            with _changing(database) as connection:
                before = _version(keeper, connection)
                if before == SCHEMA:
                    return before
                if before >= FIRST_SEALED:
                    refuse_running(keeper, connection)
                config = Config()
                config.set_main_option("script_location", SCRIPTS)
                config.attributes |= {"connection": connection}
                config.attributes["seal"] = lambda: _seal(keeper, connection)
                config.attributes["told"] = lambda release, key: _told(keeper, connection, release, key)
                if not sa.inspect(connection).has_table("alembic_version"):
                    command.stamp(config, before)
                command.upgrade(config, SCHEMA)
                connection.execute(sa.update(meta).where(meta.c.name == "schema").values(value=SCHEMA))
                append(keeper, connection, COMMAND, "migrate", "", {"from": before, "to": SCHEMA})
        finally:
            database.close()
    return before


@contextmanager
def _changing(database: Database) -> Iterator[sa.Connection]:
    """A transaction that may put tables in the place of others to which rows refer."""
    with database.engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        if database.is_sqlite:
            driver.execute("PRAGMA foreign_keys = OFF")
        try:
            with connection.execution_options(writes=True).begin():
                if not database.is_sqlite:
                    connection.execute(ONE_WRITES)
                yield connection
                if database.is_sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                    raise InputError.at("database", "would have rows that lead nowhere.", "Restore a copy.")
        finally:
            connection.invalidate()


def _version(keeper: Keeper, connection: sa.Connection) -> str:
    known = {row.name: row.value for row in connection.execute(sa.select(meta))}
    if known.get("secret") != fingerprint(keeper.secret):
        raise InputError.at(
            "server key", "is not the one this database was begun with.", "Give the right one."
        )
    version = str(known.get("schema"))
    if version > SCHEMA or version < "2":
        raise InputError.at(
            "database", f"has version {version}.", "Use the version of manyveils that made it."
        )
    return version


def _seal(keeper: Keeper, connection: sa.Connection) -> None:
    """Seal every row as it stands; the log's end only if it was as the server left it."""
    for table in SUMMED:
        seal_all(keeper, connection, table)
    head = read_head(connection)
    if head is not None and seal_before_3(keeper.secret, head) == head.seal:
        reseal_head(keeper, connection, sum_of_rows(keeper, connection))


def _told(keeper: Keeper, connection: sa.Connection, release: str, blob: bytes) -> dict[str, list[str]]:
    """The published values that researchers were told the meanings of, read from the questions in the log."""
    key = Key.parse(json.loads(keeper.secret.unlock(blob, release)))
    query = sa.select(log.c.details).where(log.c.action == "interpret", log.c.subject == release)
    told: dict[str, set[str]] = {}
    for details in connection.execute(query).scalars():
        for meaning in _meanings(key, json.loads(details).get("asked", {})):
            if meaning.kind != "public":
                told.setdefault(meaning.attribute, set()).add(written(key, meaning))
    return {name: sorted(values) for name, values in told.items()}


def _meanings(key: Key, asked: dict[str, Any]) -> list[Meaning]:
    cells = {asked["attribute"]: [asked["published"]]} if "attribute" in asked else asked.get("published", {})
    try:
        if "rule" in asked:
            return list(interpret_rule(key, asked["rule"])[1])
        if "rows" in asked:
            return list(interpret_table(key, asked["names"], asked["rows"])[1])
    except ManyveilsError:
        return []
    found = [key.meaning(name, value) for name, values in cells.items() for value in values]
    return [meaning for meaning in found if meaning is not None]
