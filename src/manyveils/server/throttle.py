"""Slowing down: after some failures each further login waits longer, and of many refusals few are logged."""

import hashlib
from collections.abc import Mapping
from math import ceil
from typing import Any

from sqlalchemy import Column, Connection, delete, func, insert, select

from manyveils.server.chain import append
from manyveils.server.database import attempts
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import TooMany

WINDOW = 15 * 60.0
FREE_PER_ACCOUNT = 5
FREE_PER_ADDRESS = 20
LONGEST = 15 * 60.0
MOST_REFUSALS = 20
OMITTED = "further refusals omitted"
LOCK = 2
REFUSAL_LOCK = 5


def admit(keeper: Keeper, name: str, address: str) -> int:
    """Count a try before its password is looked at, or refuse it; many at once cannot slip through.

    An account that does not exist is treated as any other.
    """
    account, now = _digest(name), keeper.now()
    with keeper.database.writing() as connection:
        keeper.database.lock(connection, LOCK)
        connection.execute(delete(attempts).where(attempts.c.time < now - WINDOW))
        wait = max(
            _wait(connection, attempts.c.account, account, FREE_PER_ACCOUNT, now),
            _wait(connection, attempts.c.address, address, FREE_PER_ADDRESS, now),
        )
        if wait <= 0:
            values = {"account": account, "address": address, "time": now}
            inserted = connection.execute(insert(attempts).values(values))
            return int(inserted.inserted_primary_key[0])  # type: ignore[index]
    seconds = ceil(wait)
    raise TooMany.at("login", "there were too many wrong tries.", f"Wait {seconds} seconds.", wait=seconds)


def note_refusal(
    keeper: Keeper,
    actor: str,
    action: str,
    subject: str,
    details: Mapping[str, Any],
    *,
    of: str | None = None,
    most: int = MOST_REFUSALS,
) -> bool:
    """Log a refusal, unless the same person was refused too often lately; that there were more is logged once.

    Gives whether it was logged.
    """
    with keeper.database.writing() as connection:
        before = _count_refusal(keeper, connection, of or actor, most)
        if before < most:
            append(keeper, connection, actor, action, subject, details)
        elif before == most:
            append(keeper, connection, actor, OMITTED, subject, {"minutes": int(WINDOW // 60)})
    return before < most


def _count_refusal(keeper: Keeper, connection: Connection, who: str, most: int) -> int:
    """Count a refusal of somebody, and give how many there were in the last quarter of an hour before it.

    No more than one above `most` is counted, so that many take no room.
    """
    account, now = keeper.secret.seal("refused", who), keeper.now()
    keeper.database.lock(connection, REFUSAL_LOCK)
    connection.execute(delete(attempts).where(attempts.c.time < now - WINDOW))
    query = select(func.count()).select_from(attempts).where(attempts.c.account == account)
    before = int(connection.execute(query).scalar_one())
    if before <= most:
        connection.execute(insert(attempts).values(account=account, address="-", time=now))
    return before


def forgive(connection: Connection, number: int, name: str) -> None:
    """Forget the tries of an account that has logged in; those of the address stay, but for this one."""
    connection.execute(
        delete(attempts).where((attempts.c.id == number) | (attempts.c.account == _digest(name)))
    )


def _wait(connection: Connection, column: Column[str], value: str, free: int, now: float) -> float:
    """Seconds to wait: none for the first tries, then doubling from one second on."""
    query = select(func.count(), func.max(attempts.c.time)).where(column == value)
    failures, last = connection.execute(query).one()
    if failures < free:
        return 0.0
    return float(last + min(2.0 ** (failures - free), LONGEST) - now)


def _digest(name: str) -> str:
    # What is typed as a name may be a password.
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
