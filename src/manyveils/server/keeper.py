"""What everything on the server works on: its settings, its database, its secret and its clock."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from hmac import compare_digest

from sqlalchemy import Connection, insert, select

from manyveils.errors import InputError
from manyveils.server.chain import begin, settle
from manyveils.server.database import Database, sqlite_url
from manyveils.server.heads import Heads
from manyveils.server.instances import alone
from manyveils.server.schema import meta, users
from manyveils.server.secret import Secret, read_secret, take_waiting, waiting_secret
from manyveils.server.settings import Settings

SCHEMA = "3"


@dataclass(frozen=True, repr=False)
class Keeper:
    """A server's settings, database and secret, the last end of its log, and its clock."""

    settings: Settings
    database: Database
    secret: Secret
    heads: Heads
    told: str | None = None
    # What sealed entries of the log up to these numbers, before the server key was changed.
    former: tuple[tuple[int, Secret], ...] = ()
    now: Callable[[], float] = time.time

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def open_keeper(settings: Settings, *, existing: bool = False) -> Keeper:
    """Open a server's folder, secret and database; what is not there yet is made, unless it must exist."""
    if existing:
        _refuse_missing(settings)
    else:
        make_folders(settings)
    with alone(settings):
        database = Database(settings.database or sqlite_url(settings.sqlite), existing=existing)
        try:
            with database.reading() as connection:
                is_new = not _stored(connection)
            secret, told = read_secret(settings, make=is_new)
            secret = _rotated(settings, database, secret)
            keeper = Keeper(settings, database, secret, Heads(settings.folder, secret), told)
            _refuse_other_secret(keeper)
            former = _former(keeper)
            heads = Heads(settings.folder, secret, [old for _, old in former])
            keeper = replace(keeper, former=former, heads=heads)
            database.ended = keeper.heads.keep
            database.settle = partial(settle, keeper)
        except BaseException:
            database.close()
            raise
    return keeper


def _refuse_missing(settings: Settings) -> None:
    if not settings.folder.is_dir():
        raise InputError.at(str(settings.folder), "there is no such folder.", "Give --folder.")
    if settings.database is None and not settings.sqlite.is_file():
        what = "holds no server's database."
        raise InputError.at(str(settings.folder), what, "Check --folder, or give --database.")


def make_folders(settings: Settings) -> None:
    """Make the folders of a server, for its user alone."""
    try:
        for folder in (settings.folder, settings.releases, settings.work, settings.temporary):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if settings.database is None:
            # SQLite gives the files it makes beside this one the same mode.
            settings.sqlite.touch(mode=0o600)
    except OSError as error:
        raise InputError.at(str(settings.folder), f"cannot be used: {error.strerror}.") from None


def _stored(connection: Connection) -> dict[str, str]:
    return {row.name: row.value for row in connection.execute(select(meta))}


def _rotated(settings: Settings, database: Database, secret: Secret) -> Secret:
    """The secret that the database has, if a change of the key was broken off before the new key was in its place."""
    with database.reading() as connection:
        known = _stored(connection).get("secret", "")
    if known and not compare_digest(known, fingerprint(secret)):
        waiting = waiting_secret(settings)
        if waiting is not None and compare_digest(known, fingerprint(waiting)):
            take_waiting(settings)
            return waiting
    return secret


def _former(keeper: Keeper) -> tuple[tuple[int, Secret], ...]:
    with keeper.database.reading() as connection:
        written = json.loads(_stored(connection).get("former", "[]"))
    seals = (
        (number, keeper.secret.unlock(bytes.fromhex(blob), f"seals up to {number}"))
        for number, blob in written
    )
    return tuple((number, replace(keeper.secret, seals=former)) for number, former in seals)


def fingerprint(secret: Secret) -> str:
    """What a database keeps of the secret that it was begun with."""
    return secret.seal("this database")


def _begin(connection: Connection, secret: Secret, expected: dict[str, str]) -> None:
    """Bind a new database to its secret, and seal its empty log."""
    if connection.execute(select(users.c.id)).first() is not None:
        what = "has accounts, but not with which server key it was begun."
        raise InputError.at("database", what, "Restore a copy.")
    connection.execute(insert(meta), [{"name": name, "value": value} for name, value in expected.items()])
    begin(connection, secret)


def _refuse_other_secret(keeper: Keeper) -> None:
    """A database belongs to the secret it was begun with; with another one no key in it could be read."""
    expected = {"schema": SCHEMA, "secret": fingerprint(keeper.secret)}
    with keeper.database.writing() as connection:
        stored = _stored(connection)
        if not stored:
            _begin(connection, keeper.secret, expected)
            return
    if stored.get("schema") != SCHEMA:
        what = "was written by another version of the server."
        raise InputError.at("database", what, "Stop every server, then run: manyveils serve migrate")
    if not compare_digest(stored.get("secret", ""), expected["secret"]):
        remedy = "Give the right --key-file; without it the keys in the database cannot be read."
        raise InputError.at("server key", "is not the one this database was begun with.", remedy)
