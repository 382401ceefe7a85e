"""The server's tables, and transactions on them that are the same on SQLite and on PostgreSQL."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import PlainSerializer, WithJsonSchema
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from manyveils.errors import InputError

# A time as the log writes it; the API leaves a fraction of zero out.
Moment = Annotated[
    str,
    PlainSerializer(lambda text: text.replace(".000000Z", "Z"), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


def moment(seconds: float) -> str:
    """A time as text.

    >>> moment(0)
    '1970-01-01T00:00:00.000000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


metadata = sa.MetaData()
ROLES = "role IN ('owner', 'researcher', 'auditor')"
STATES = "state IN ('queued', 'running', 'done', 'failed')"


def _table(name: str, *columns: Any, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
users = _table(
    "users",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(64), unique=True, nullable=False),
    sa.Column("role", sa.String(16), sa.CheckConstraint(ROLES), nullable=False),
    sa.Column("password", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
tokens = _table(
    "tokens",
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("revoked", sa.Boolean, nullable=False),
)
sessions = _table(
    "sessions",
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("seen", sa.Double, nullable=False),
)
attempts = _table(
    "attempts",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("account", sa.String(64), nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("time", sa.Double, nullable=False),
    sa.Index("attempts_by_account", "account", "time"),
    sa.Index("attempts_by_address", "address", "time"),
)
releases = _table(
    "releases",
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("folder", sa.Text, nullable=False),
    sa.Column("manifest", sa.Text, nullable=False),
    sa.Column("key", sa.LargeBinary),
    sa.Column("listed", sa.Boolean, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
grants = _table(
    "grants",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("release_id", sa.ForeignKey("releases.id"), nullable=False),
    sa.Column("daily_limit", sa.Integer, sa.CheckConstraint("daily_limit > 0"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.UniqueConstraint("user_id", "release_id"),
)
answers = _table(
    "answers",
    sa.Column("grant_id", sa.ForeignKey("grants.id"), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("used", sa.Integer, sa.CheckConstraint("used >= 0"), nullable=False),
)
jobs = _table(
    "jobs",
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("format", sa.String(8), nullable=False),
    sa.Column("instance", sa.String(32), nullable=False),
    sa.Column("asked_by", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("state", sa.String(8), sa.CheckConstraint(STATES), nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("share", sa.Double, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("audit", sa.Text),
    sa.Column("release_id", sa.ForeignKey("releases.id")),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
)
log = _table(
    "log",
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("subject", sa.String(64), nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    # A hidden row number would be another way to replace a row.
    sqlite_with_rowid=False,
)
# One row: where the log ends. Whoever appends holds it, so entries come one after the other.
chain = _table(
    "chain",
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
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
    definition: Any = sa.DDL(statement)  # type: ignore[no-untyped-call]
    sa.event.listen(log, "after_create", definition.execute_if(dialect=dialect))


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

    def __init__(self, url: str | sa.URL, *, existing: bool = False) -> None:
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

    def rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        """The rows of one query."""
        with self.reading() as connection:
            return connection.execute(query).all()

    def row(self, query: sa.Select[Any]) -> Any:
        """The row of a query that has one; None if it has none."""
        with self.reading() as connection:
            return connection.execute(query).one_or_none()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads, and sees one moment."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes: committed whole at the end, or not at all."""
        with (
            self._turn,
            self.engine.connect() as connection,
            connection.execution_options(**WRITES).begin(),
        ):
            yield connection

    def lock(self, connection: sa.Connection, number: int) -> None:
        """Let one transaction at a time past this point, on any server of the database."""
        if not self.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _refuse_missing(self) -> None:
        if not sa.inspect(self.engine).has_table(meta.name):
            raise InputError.at("database", "holds no server.", "Check --folder and --database.")

    def _create(self) -> None:
        with self.writing() as connection:
            self.lock(connection, SCHEMA_LOCK)
            metadata.create_all(connection)


def sqlite_url(path: Path) -> sa.URL:
    """The address of a SQLite file, whatever characters its path has."""
    return sa.URL.create("sqlite", database=str(path))


def _engine(url: str | sa.URL) -> sa.Engine:
    if isinstance(url, str) and url.startswith("postgresql://"):
        url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if isinstance(url, str) and not url.startswith(("sqlite:///", "postgresql+psycopg://")):
        raise InputError.at("database", "must start with sqlite:/// or postgresql+psycopg://.")
    try:
        # Parameters may be secret, and would otherwise be told in errors.
        engine = sa.create_engine(
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
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Transactions are begun below, not by the driver.
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
