"""A copy of a whole server in one file, of one moment, and a server made from it, on either kind of database.

The copy holds what the database and the folder of releases hold: keys only as they are encrypted with the server key,
which is not in it.
"""

import base64
import io
import json
import os
import tarfile
from collections.abc import Iterator
from hmac import compare_digest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, insert, select, text

from manyveils.errors import InputError
from manyveils.server.catalogue import home_of
from manyveils.server.chain import append, read_head
from manyveils.server.database import Database, sqlite_url
from manyveils.server.heads import Mark
from manyveils.server.instances import alone
from manyveils.server.keeper import SCHEMA, Keeper, fingerprint, make_folders, open_keeper
from manyveils.server.schema import attempts, meta, metadata, releases, servers, sessions
from manyveils.server.secret import read_secret
from manyveils.server.settings import Settings
from manyveils.server.upkeep import COMMAND
from manyveils.server.verifying import check_at_start

FORMAT = "manyveils-backup/1"
ABOUT = "backup.json"
AT_ONCE = 500
# What is of the moment only.
LEFT_OUT = (sessions, servers, attempts)
TABLES = [table for table in metadata.sorted_tables if table not in LEFT_OUT]


def back_up(keeper: Keeper, target: Path) -> int:
    """Write everything to a file that is not there yet, while servers run; gives the number of the log's last entry."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError.at(str(target), f"cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            with keeper.database.reading() as connection:
                head = read_head(connection)
                number = 0 if head is None else head.number
                _add(
                    archive,
                    ABOUT,
                    json.dumps({"format": FORMAT, "schema": SCHEMA, "entries": number}).encode(),
                )
                for table in TABLES:
                    _add(archive, f"tables/{table.name}.jsonl", b"".join(_lines(connection, table)))
                for number_of in connection.execute(select(releases.c.id)).scalars().all():
                    if home_of(keeper, number_of).is_dir():
                        archive.add(home_of(keeper, number_of), f"releases/{number_of}")
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    with keeper.database.writing() as connection:
        append(keeper, connection, COMMAND, "back up", "", {"entries": number})
    return number


def restore(settings: Settings, source: Path) -> Keeper:
    """Make a server from a copy, where there is none yet; it opens with the server key that the copy was made under."""
    try:
        with tarfile.open(source) as archive:
            about = json.loads(_read(archive, ABOUT))
            if about.get("format") != FORMAT or about.get("schema") != SCHEMA:
                what = "is a copy of another version."
                raise InputError.at(str(source), what, "Restore it with that version, then migrate.")
            make_folders(settings)
            _refuse_other_key(settings, _read(archive, "tables/meta.jsonl"))
            with alone(settings):
                _fill(settings, archive)
    except (OSError, tarfile.TarError, KeyError, ValueError) as error:
        raise InputError.at(
            str(source), f"cannot be read as a copy of a server ({type(error).__name__})."
        ) from None
    keeper = open_keeper(settings, existing=True)
    with keeper.database.reading() as connection:
        head = read_head(connection)
    if head is not None:
        # This is where this server begins; what it knew of another database does not matter any more.
        keeper.heads.restart(Mark(head.number, head.hash))
    warning = check_at_start(keeper)
    with keeper.database.writing() as connection:
        append(keeper, connection, COMMAND, "restore", "", {"entries": about["entries"], "warning": warning})
    return keeper


def _refuse_other_key(settings: Settings, written: bytes) -> None:
    """Refuse before anything is written if the server key is not the one that the copy was made under."""
    known = {row["name"]: row["value"] for row in map(json.loads, written.splitlines())}
    secret, _ = read_secret(settings, make=False)
    if not compare_digest(known["secret"], fingerprint(secret)):
        raise InputError.at(
            "server key", "is not the one that the copy was made under.", "Give the right one."
        )


def _fill(settings: Settings, archive: tarfile.TarFile) -> None:
    database = Database(settings.database or sqlite_url(settings.sqlite))
    try:
        with database.writing() as connection:
            if connection.execute(select(meta)).first() is not None:
                raise InputError.at("database", "holds a server already.", "Restore into an empty one.")
            for table in TABLES:
                _insert(connection, table, _read(archive, f"tables/{table.name}.jsonl"))
            _put_files(settings.folder, archive)
    finally:
        database.close()


def _put_files(folder: Path, archive: tarfile.TarFile) -> None:
    """Write the releases' files; names that lead elsewhere, links and devices are refused."""
    for member in archive.getmembers():
        parts = Path(member.name).parts
        if parts[0] != "releases" or member.isdir():
            continue
        if not member.isfile() or ".." in parts:
            raise InputError.at("copy", "has files that are not of a release.", "Take another copy.")
        path = folder.joinpath(*parts)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_read(archive, member.name))


def _insert(connection: Connection, table: Table, written: bytes) -> None:
    binary = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
    rows = [json.loads(line) for line in written.splitlines()]
    for row in rows:
        row |= {name: base64.b64decode(row[name]) for name in binary if row[name] is not None}
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(insert(table), rows[start : start + AT_ONCE])
    if rows and connection.dialect.name == "postgresql" and table.autoincrement_column is not None:
        _count_on(connection, table)


def _count_on(connection: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those that are there."""
    (column,) = table.primary_key
    last = connection.execute(select(func.max(column))).scalar_one()
    sequence = "SELECT setval(pg_get_serial_sequence(:table, :column), :last)"
    connection.execute(text(sequence), {"table": table.name, "column": column.name, "last": last})


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    for row in connection.execute(select(table).order_by(*table.primary_key)):
        plain = {name: _plain(value) for name, value in row._mapping.items()}
        yield json.dumps(plain, ensure_ascii=True).encode() + b"\n"


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    return b"" if file is None else file.read()
