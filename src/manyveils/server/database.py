"""The server's tables, and transactions on them that are the same on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import (
    DDL,
    URL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
    text,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from manyveils.errors import InputError

metadata = MetaData()
STATES = "state IN ('queued', 'running', 'done', 'failed')"

meta = Table(
    "meta", metadata, Column("name", String(32), primary_key=True), Column("value", Text, nullable=False)
)
users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), unique=True, nullable=False),
    Column("role", String(16), CheckConstraint("role IN ('owner', 'researcher', 'auditor')"), nullable=False),
    Column("password", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("created", Double, nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("expires", Double, nullable=False),
    Column("revoked", Boolean, nullable=False),
)
sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("expires", Double, nullable=False),
    Column("seen", Double, nullable=False),
)
attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account", String(64), nullable=False),
    Column("address", String(64), nullable=False),
    Column("time", Double, nullable=False),
    Index("attempts_by_account", "account", "time"),
    Index("attempts_by_address", "address", "time"),
)
releases = Table(
    "releases",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("title", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("manifest", Text, nullable=False),
    Column("key", LargeBinary),
    Column("listed", Boolean, nullable=False),
    Column("created", Double, nullable=False),
)
grants = Table(
    "grants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("release_id", ForeignKey("releases.id"), nullable=False),
    Column("daily_limit", Integer, CheckConstraint("daily_limit > 0"), nullable=False),
    Column("expires", Double, nullable=False),
    UniqueConstraint("user_id", "release_id"),
)
answers = Table(
    "answers",
    metadata,
    Column("grant_id", ForeignKey("grants.id"), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("used", Integer, CheckConstraint("used >= 0"), nullable=False),
)
jobs = Table(
    "jobs",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("title", Text, nullable=False),
    Column("format", String(8), nullable=False),
    Column("instance", String(32), nullable=False),
    Column("asked_by", ForeignKey("users.id"), nullable=False),
    Column("state", String(8), CheckConstraint(STATES), nullable=False),
    Column("stage", Text, nullable=False),
    Column("share", Double, nullable=False),
    Column("error", Text),
    Column("audit", Text),
    Column("release_id", ForeignKey("releases.id")),
    Column("created", Double, nullable=False),
    Column("ended", Double),
)
log = Table(
    "log",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", String(32), nullable=False),
    Column("actor", String(64), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("details", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    # A hidden row number would be another way to replace a row.
    sqlite_with_rowid=False,
)
# One row: where the log ends. Whoever appends holds it, so entries come one after the other.
chain = Table(
    "chain",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("seal", String(64), nullable=False),
)
# The database itself refuses every change of what is in the log: rows can be added, never altered or removed.
REFUSE_IN_SQLITE = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log {when}
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""
FUNCTION_IN_POSTGRESQL = """
CREATE OR REPLACE FUNCTION log_is_append_only() RETURNS trigger AS
$$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$ LANGUAGE plpgsql
"""
REFUSE_IN_POSTGRESQL = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log
FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only()
"""
# REPLACE deletes without the triggers of DELETE; so a number that is there is refused before.
IS_THERE = "WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number)"


def _guard_log() -> None:
    """Create triggers with the log that refuse every change."""
    for what, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", IS_THERE)):
        _after_log("sqlite", REFUSE_IN_SQLITE.format(what=what, when=when))
    _after_log("postgresql", FUNCTION_IN_POSTGRESQL)
    for what in ("UPDATE", "DELETE", "TRUNCATE"):
        _after_log("postgresql", REFUSE_IN_POSTGRESQL.format(what=what))


def _after_log(dialect: str, statement: str) -> None:
    definition: Any = DDL(statement)  # type: ignore[no-untyped-call]
    event.listen(log, "after_create", definition.execute_if(dialect=dialect))


_guard_log()

SCHEMA_LOCK = 0x6D61_6E79
WRITES: dict[str, Any] = {"writes": True}
PRAGMAS = (
    "busy_timeout = 20000",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",
)


class Database:
    """One database and its transactions."""

    def __init__(self, url: str | URL, *, existing: bool = False) -> None:
        self.engine = _engine(url)
        # SQLite lets one write at a time; waiting in line here is fairer and faster than in its busy loop.
        self._turn: AbstractContextManager[Any] = Lock() if self.is_sqlite else nullcontext()
        try:
            self._refuse_missing() if existing else self._create()
        except SQLAlchemyError as error:
            what = f"cannot be opened ({type(error).__name__})."
            raise InputError.at("database", what, "Check its address and rights.") from None

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that reads several times and sees one moment."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: committed whole at the end, or not at all."""
        with (
            self._turn,
            self.engine.connect() as connection,
            connection.execution_options(**WRITES).begin(),
        ):
            yield connection

    def lock(self, connection: Connection, number: int) -> None:
        """Let one transaction at a time past this point, on any server of the database."""
        if not self.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _refuse_missing(self) -> None:
        if not inspect(self.engine).has_table(meta.name):
            raise InputError.at("database", "holds no server.", "Check --folder and --database.")

    def _create(self) -> None:
        with self.writing() as connection:
            self.lock(connection, SCHEMA_LOCK)
            metadata.create_all(connection)


def sqlite_url(path: Path) -> URL:
    """The address of a SQLite file, whatever characters its path has."""
    return URL.create("sqlite", database=str(path))


def _engine(url: str | URL) -> Engine:
    if isinstance(url, str) and url.startswith("postgresql://"):
        url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if isinstance(url, str) and not url.startswith(("sqlite:///", "postgresql+psycopg://")):
        raise InputError.at("database", "must start with sqlite:/// or postgresql+psycopg://.")
    try:
        # Parameters may be secret, and would otherwise be told in errors.
        engine = create_engine(
            url,
            hide_parameters=True,
            pool_size=10,
            max_overflow=10,
            # A server may have closed a connection meanwhile; a file does not.
            pool_pre_ping=not str(url).startswith("sqlite"),
        )
    except (ArgumentError, ValueError):
        raise InputError.at("database", "is not an address of a database.") from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Transactions are begun below, not by the driver.
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
