"""Slowing down: after some failures each further login waits longer, and of many refusals few are logged."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from sqlalchemy import Column, Connection, delete, func, insert, select

from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Person, TooMany
from manyveils.server.schema import arrivals, attempts

WINDOW = 15 * 60.0
FREE_PER_ACCOUNT = 5
FREE_PER_ADDRESS = 20
LONGEST = 15 * 60.0
# Clocks of servers that share a database may differ so much.
SKEW = 60.0
MOST_REFUSALS = 20
OMITTED = "further refusals omitted"
# So long an address is known as one from which an account logs in.
KNOWN = 30 * 24 * 3600.0


def admit(keeper: Keeper, name: str, address: str) -> int:
    """Count a try before its password is looked at, or refuse it; many at once cannot slip through.

    An account that does not exist is treated as any other. Where an account has logged in lately, others' tries from
    the same address do not delay it.
    """
    account, now = _account(keeper, name), keeper.now()
    with keeper.database.writing() as connection:
        _forget(connection, now)
        wait = _wait(connection, attempts.c.account, account, FREE_PER_ACCOUNT, now)
        if not _has_arrived(keeper, connection, name, address):
            wait = max(wait, _wait(connection, attempts.c.address, address, FREE_PER_ADDRESS, now))
        if wait <= 0:
            values = {"account": account, "address": address, "time": now}
            inserted = connection.execute(insert(attempts).values(values))
            return int(inserted.inserted_primary_key[0])  # type: ignore[index]
    seconds = ceil(wait)
    raise TooMany.at("login", "there were too many wrong tries.", f"Wait {seconds} seconds.", wait=seconds)


def note_refusal(
    keeper: Keeper,
    actor: Person | str,
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
        before = _count_refusal(
            keeper, connection, of or (actor if isinstance(actor, str) else actor.name), most
        )
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
    _forget(connection, now)
    query = select(func.count()).select_from(attempts).where(attempts.c.account == account)
    before = int(connection.execute(query).scalar_one())
    if before <= most:
        connection.execute(insert(attempts).values(account=account, address="-", time=now))
    return before


def forgive(keeper: Keeper, connection: Connection, number: int, name: str, address: str) -> None:
    """Forget the tries of an account that has logged in; those of the address stay, but for this one."""
    mine = attempts.c.account == _account(keeper, name)
    connection.execute(delete(attempts).where((attempts.c.id == number) | mine))
    place, now = _place(keeper, name, address), keeper.now()
    connection.execute(delete(arrivals).where((arrivals.c.place == place) | (arrivals.c.time < now - KNOWN)))
    connection.execute(insert(arrivals).values(place=place, time=now))


def _forget(connection: Connection, now: float) -> None:
    """Forget tries that are old, and those of a time to come, when a clock stood wrong."""
    connection.execute(
        delete(attempts).where((attempts.c.time < now - WINDOW) | (attempts.c.time > now + SKEW))
    )


def _has_arrived(keeper: Keeper, connection: Connection, name: str, address: str) -> bool:
    query = select(arrivals.c.time).where(arrivals.c.place == _place(keeper, name, address))
    time = connection.execute(query).scalar_one_or_none()
    return time is not None and time > keeper.now() - KNOWN


def _wait(connection: Connection, column: Column[str], value: str, free: int, now: float) -> float:
    """Seconds to wait: none for the first tries, then doubling from one second on."""
    query = select(func.count(), func.max(attempts.c.time)).where(column == value)
    failures, last = connection.execute(query).one()
    if failures < free:
        return 0.0
    return min(float(last + min(2.0 ** (failures - free), LONGEST) - now), LONGEST)


def _account(keeper: Keeper, name: str) -> str:
    """A keyed digest of what was typed as a name: it may be a password."""
    return keeper.secret.seal("account", name)


def _place(keeper: Keeper, name: str, address: str) -> str:
    return keeper.secret.seal("arrival", name, address)
