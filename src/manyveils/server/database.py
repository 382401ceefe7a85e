"""The server's transactions, which are the same on SQLite and on PostgreSQL: one writes at a time."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from manyveils.errors import InputError
from manyveils.server.refusals import Unavailable
from manyveils.server.schema import meta, metadata

ONE_WRITES = sa.text(f"SELECT pg_advisory_xact_lock({0x6D61_6E79})")
ONE_WRITES_NOW = sa.text(f"SELECT pg_try_advisory_xact_lock({0x6D61_6E79})")
# Under which a transaction notes where it lets the log end.
ENDED = "ended"
# Under which it notes how the sum of the rows with seals changes.
CHANGED = "changed"
# Seconds that a transaction waits for its turn, and a connection for an answer.
PATIENCE = 10.0
WRITES: dict[str, Any] = {"writes": True}
AWAY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
POSTGRESQL = {"connect_timeout": int(PATIENCE), "options": f"-c lock_timeout={int(1000 * PATIENCE)}"}
PRAGMAS = (
    f"busy_timeout = {int(1000 * PATIENCE)}",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",
)


@contextmanager
def _reachable() -> Iterator[None]:
    """Say that the database is away, or busy for long, in words that tell nothing else."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        cause = getattr(error, "orig", None)
        # To SQLite, a fault in a statement is operational too.
        if isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode & 0xFF not in AWAY:
            raise
        raise _busy() from error


def _busy() -> Unavailable:
    return Unavailable.at("database", "is away or busy.", "Try again soon.", wait=5)


def _take_turn(connection: sa.Connection, wait: float) -> None:
    """Wait until nobody else writes, on any server of a PostgreSQL database."""
    if wait > 0:
        connection.execute(ONE_WRITES)
    elif not connection.execute(ONE_WRITES_NOW).scalar_one():
        raise _busy()


class Database:
    """One database and its transactions.

    One transaction writes at a time, on any server of the database: what they decide from what they read is still so
    when they end, and nothing that is counted or chained needs a lock of its own.
    """

    def __init__(self, url: str | sa.URL, *, existing: bool = False) -> None:
        self.engine = _engine(url)
        # Told where the log ends, once that is committed.
        self.ended: Callable[[Any], None] = lambda _: None
        # Called at the end of a transaction, before it is committed.
        self.settle: Callable[[sa.Connection], None] = lambda _: None
        # Waiting in line here is fairer and faster than in the database, and needs no connection.
        self._turn = Lock()
        try:
            self._refuse_missing() if existing else self._create()
        except (SQLAlchemyError, Unavailable) as error:
            what = f"cannot be opened ({type(error.__cause__ or error).__name__})."
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
        with _reachable(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self, wait: float = PATIENCE) -> Iterator[sa.Connection]:
        """A transaction that writes: committed whole at the end, or not at all; refused if its turn does not come."""
        if not self._turn.acquire(timeout=wait):
            raise _busy()
        try:
            with _reachable(), self.engine.connect() as connection:
                for noted in (ENDED, CHANGED):
                    connection.info.pop(noted, None)
                if self.is_sqlite:
                    driver: Any = connection.connection.driver_connection
                    driver.execute(f"PRAGMA busy_timeout = {int(1000 * wait)}")
                with connection.execution_options(**WRITES).begin():
                    if not self.is_sqlite:
                        _take_turn(connection, wait)
                    yield connection
                    self.settle(connection)
                end = connection.info.pop(ENDED, None)
            if end is not None:
                self.ended(end)
        finally:
            self._turn.release()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _refuse_missing(self) -> None:
        if not sa.inspect(self.engine).has_table(meta.name):
            raise InputError.at("database", "holds no server.", "Check --folder and --database.")

    def _create(self) -> None:
        with self.writing() as connection:
            # A database of another version is left as it is, to be refused or migrated.
            if not sa.inspect(connection).has_table(meta.name):
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
            pool_timeout=PATIENCE,
            connect_args={} if str(url).startswith("sqlite") else POSTGRESQL,
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
