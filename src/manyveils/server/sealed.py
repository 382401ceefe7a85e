"""Rows that only the server can have written: each carries a seal, and the log's end holds a sum of them all.

A row that was inserted or changed from outside has no good seal, and is as if it were not there.
One that was taken away, or put back as it once was, makes the sum false: that shows at the next start and in `verify-log`.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hmac import compare_digest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Double,
    Row,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from manyveils.server.chain import add_to_sum, sum_of
from manyveils.server.schema import SUMMED
from manyveils.server.secret import Secret

if TYPE_CHECKING:
    from manyveils.server.keeper import Keeper

logger = logging.getLogger("manyveils.server")


def add_row(keeper: "Keeper", connection: Connection, table: Table, **values: Any) -> Row[Any]:
    """Insert a row with its seal; gives it."""
    key = connection.execute(insert(table).values(**values, seal="")).inserted_primary_key
    here = _is(table, key or ())
    row = connection.execute(select(table).where(here)).one()
    seal = _seal(keeper.secret, table, row._mapping)
    connection.execute(update(table).where(here).values(seal=seal))
    _count(keeper, connection, table, _share(keeper.secret, table, seal))
    return connection.execute(select(table).where(here)).one()


def change_row(
    keeper: "Keeper", connection: Connection, table: Table, row: Row[Any], **values: Any
) -> Row[Any]:
    """Change a sound row, and seal it anew; gives it."""
    seal = _seal(keeper.secret, table, {**row._mapping, **values})
    change = _change(table, (*values, "seal"))
    _count(
        keeper, connection, table, _share(keeper.secret, table, seal) - _share(keeper.secret, table, row.seal)
    )
    told = {f"key_{n}": value for n, value in enumerate(_key(table, row))}
    return connection.execute(
        change, {**told, **{f"new_{name}": value for name, value in values.items()}, "new_seal": seal}
    ).one()


@cache
def _change(table: Table, names: tuple[str, ...]) -> Update:
    """A statement that changes some values of one row and gives it; made once, since most of the work is making it."""
    here = _is(table, [bindparam(f"key_{n}") for n in range(len(table.primary_key))])
    return (
        update(table)
        .where(here)
        .values({name: bindparam(f"new_{name}") for name in names})
        .returning(*table.columns)
    )


def remove_row(keeper: "Keeper", connection: Connection, table: Table, row: Row[Any]) -> None:
    """Delete a sound row."""
    connection.execute(delete(table).where(_is(table, _key(table, row))))
    _count(keeper, connection, table, -_share(keeper.secret, table, row.seal))


def sound_rows(
    keeper: "Keeper", connection: Connection, table: Table, query: Select[Any] | None = None
) -> list[Row[Any]]:
    """The whole rows of a table that a query finds, without those that this server did not write."""
    rows = connection.execute(select(table) if query is None else query).all()
    sound = [row for row in rows if is_sound(keeper.secret, table, row)]
    if len(sound) < len(rows):
        logger.error("%d rows of %s were not written by this server", len(rows) - len(sound), table.name)
    return sound


def sound_row(keeper: "Keeper", connection: Connection, table: Table, where: ColumnElement[bool]) -> Any:
    """The row of a table for which something holds, if this server wrote it; None otherwise."""
    rows = sound_rows(keeper, connection, table, select(table).where(where))
    return rows[0] if rows else None


@dataclass(frozen=True)
class Together:
    """Rows of several tables that are looked for together; kept, since making the query takes longer than asking it."""

    tables: Sequence[Table]
    query: Select[Any]


def together(*tables: Table, where: ColumnElement[bool]) -> Together:
    """Look for rows of several tables for which something holds; what changes from time to time are `bindparam`s."""
    return Together(tables, select(*(column for table in tables for column in table.columns)).where(where))


def sound_together(keeper: "Keeper", connection: Connection, sought: Together, **values: Any) -> Any:
    """The rows of several tables that are looked for together, if this server wrote all; None otherwise."""
    told = connection.execute(sought.query, values).first()
    if told is None:
        return None
    rest, rows, tables = iter(told), [], sought.tables
    for table in tables:
        mapping = {column.name: next(rest) for column in table.columns}
        rows.append(SimpleNamespace(**mapping, _mapping=mapping))
    sound = all(is_sound(keeper.secret, table, row) for table, row in zip(tables, rows, strict=True))
    return rows if sound else None


def is_sound(secret: Secret, table: Table, row: Any) -> bool:
    """Whether the server wrote a row as it stands.

    Claim: nobody without the server key can make a row that is taken for the server's.
    Why: the seal is a keyed digest of the table's name and of every value of the row.
    Tested by: tests/server/test_sealed.py
    """
    return compare_digest(row.seal.encode(), _seal(secret, table, row._mapping).encode())


def seal_all(keeper: "Keeper", connection: Connection, table: Table) -> None:
    """Seal every row of a table as it stands, when the key changes or the table does."""
    for row in connection.execute(select(table)).all():
        here = _is(table, _key(table, row))
        connection.execute(update(table).where(here).values(seal=_seal(keeper.secret, table, row._mapping)))


def sum_of_rows(keeper: "Keeper", connection: Connection) -> str:
    """The sum over all rows that are there."""
    shares = (
        _share(keeper.secret, table, seal)
        for table in SUMMED
        for seal in connection.execute(select(table.c.seal)).scalars()
    )
    return sum_of(shares)


def unsound(keeper: "Keeper", connection: Connection) -> dict[str, int]:
    """How many rows of which tables this server did not write."""
    counts = {
        table.name: sum(not is_sound(keeper.secret, table, row) for row in connection.execute(select(table)))
        for table in SUMMED
    }
    return {name: count for name, count in counts.items() if count}


def _count(keeper: "Keeper", connection: Connection, table: Table, difference: int) -> None:
    if table in SUMMED:
        add_to_sum(connection, difference)


def _seal(secret: Secret, table: Table, row: Mapping[Any, Any]) -> str:
    values = [_plain(column, row[column.name]) for column in table.columns if column.name != "seal"]
    return secret.seal("row", table.name, json.dumps(values, ensure_ascii=True, separators=(",", ":")))


def _share(secret: Secret, table: Table, seal: str) -> int:
    """What a row adds to the sum; of no use to anyone who knows the seals alone."""
    return int(secret.seal("share", table.name, seal), 16)


def _plain(column: Column[Any], value: Any) -> Any:
    """A value as it is sealed, the same before it is written and after it was read."""
    if isinstance(value, bytes):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    return float(value) if isinstance(column.type, Double) and value is not None else value


def _key(table: Table, row: Row[Any]) -> list[Any]:
    return [row._mapping[column.name] for column in table.primary_key]


def _is(table: Table, key: Iterable[Any]) -> ColumnElement[bool]:
    return and_(*(column == value for column, value in zip(table.primary_key, key, strict=True)))
