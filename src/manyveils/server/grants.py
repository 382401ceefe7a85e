"""Grants: which researcher may have how many meanings of which release a day, and until when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, insert, select, text, update

from manyveils.errors import InputError, Problem
from manyveils.server.chain import append
from manyveils.server.database import Moment, answers, grants, moment, releases, users
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Person, no_such, require

MOST = 1_000_000
LOCK = 4
# The year 9999 is the last that Python's calendar has.
LAST = 253402300799.0


@dataclass(frozen=True)
class Grant:
    """What one researcher may ask about one release, and how much of it is used today."""

    id: int
    researcher: str
    release: str
    daily_limit: int
    expires: Moment
    used_today: int
    expired: bool


def give_grant(
    keeper: Keeper, actor: Person, researcher: str, release: str, *, daily_limit: int, expires: float
) -> Grant:
    """Grant a researcher a release, or change the grant there is; for owners.

    What was used today stays used.
    """
    require(actor, "owner")
    InputError.refuse(_problems(keeper, daily_limit, expires))
    with keeper.database.writing() as connection:
        keeper.database.lock(connection, LOCK)
        user_id = _researcher(connection, researcher)
        if connection.execute(select(releases.c.id).where(releases.c.id == release)).first() is None:
            raise no_such("release")
        values = {"daily_limit": daily_limit, "expires": expires}
        number = _stored(connection, user_id, release, values)
        details = {"release": release, "daily_limit": daily_limit, "expires": moment(expires)}
        append(keeper, connection, actor.name, "give grant", researcher, details)
        return _one(keeper, connection, number)


def end_grant(keeper: Keeper, actor: Person, number: int) -> Grant:
    """Let a grant expire now; for owners."""
    require(actor, "owner")
    with keeper.database.writing() as connection:
        done = connection.execute(update(grants).where(grants.c.id == number).values(expires=keeper.now()))
        if done.rowcount != 1:
            raise no_such("grant")
        ended = _one(keeper, connection, number)
        append(keeper, connection, actor.name, "end grant", ended.researcher, {"release": ended.release})
    return ended


def all_grants(keeper: Keeper, actor: Person) -> list[Grant]:
    """Every grant for an owner, their own for a researcher."""
    require(actor, "owner", "researcher")
    query = _query(keeper).order_by(users.c.name, grants.c.release_id)
    if actor.role != "owner":
        query = query.where(grants.c.user_id == actor.id)
    return [_grant(keeper, row) for row in keeper.database.rows(query)]


def good_grant(keeper: Keeper, connection: Connection, user_id: int, release: str) -> tuple[int, int] | None:
    """The number and the limit of a researcher's grant for a listed release, if it has not expired."""
    query = (
        select(grants.c.id, grants.c.daily_limit)
        .join(releases, releases.c.id == grants.c.release_id)
        .join(users, users.c.id == grants.c.user_id)
        .where(grants.c.user_id == user_id, grants.c.release_id == release)
        .where(grants.c.expires > keeper.now(), releases.c.listed, users.c.active)
    )
    grant = connection.execute(query).one_or_none()
    return None if grant is None else (grant.id, grant.daily_limit)


def charge(keeper: Keeper, connection: Connection, grant: int, cost: int) -> bool:
    """Take an answer's cost off today's limit, or leave it as it is and say no.

    Claim: no number of servers and requests together is ever given more than the limit.
    Why: one statement compares and counts, and the database lets only one at a time change the row.
    Tested by: tests/server/test_limits.py
    """
    day = today(keeper)
    connection.execute(
        text("INSERT INTO answers (grant_id, day, used) VALUES (:grant, :day, 0) ON CONFLICT DO NOTHING"),
        {"grant": grant, "day": day},
    )
    limit = select(grants.c.daily_limit).where(grants.c.id == grant).scalar_subquery()
    taken = connection.execute(
        update(answers)
        .where(answers.c.grant_id == grant, answers.c.day == day, answers.c.used + cost <= limit)
        .values(used=answers.c.used + cost)
    )
    return bool(taken.rowcount == 1)


def today(keeper: Keeper) -> str:
    """The day in UTC, when limits begin anew."""
    return datetime.fromtimestamp(keeper.now(), UTC).strftime("%Y-%m-%d")


def _problems(keeper: Keeper, daily_limit: int, expires: float) -> Iterator[Problem]:
    if not 1 <= daily_limit <= MOST:
        yield Problem("daily_limit", f"must be from 1 to {MOST}.")
    if not keeper.now() < expires <= LAST:
        yield Problem("expires", "must be in the future.")


def _researcher(connection: Connection, name: str) -> int:
    user = connection.execute(select(users.c.id, users.c.role).where(users.c.name == name)).one_or_none()
    if user is None:
        raise no_such("account")
    if user.role != "researcher":
        raise InputError.at("researcher", "this account has another role.")
    return int(user.id)


def _stored(connection: Connection, user_id: int, release: str, values: dict[str, Any]) -> int:
    key = and_(grants.c.user_id == user_id, grants.c.release_id == release)
    number = connection.execute(select(grants.c.id).where(key)).scalar_one_or_none()
    if number is None:
        inserted = connection.execute(insert(grants).values(user_id=user_id, release_id=release, **values))
        return int(inserted.inserted_primary_key[0])  # type: ignore[index]
    connection.execute(update(grants).where(grants.c.id == number).values(values))
    return int(number)


def _query(keeper: Keeper) -> Any:
    used = and_(answers.c.grant_id == grants.c.id, answers.c.day == today(keeper))
    return (
        select(grants, users.c.name, answers.c.used)
        .join(users, users.c.id == grants.c.user_id)
        .outerjoin(answers, used)
    )


def _one(keeper: Keeper, connection: Connection, number: int) -> Grant:
    return _grant(keeper, connection.execute(_query(keeper).where(grants.c.id == number)).one())


def _grant(keeper: Keeper, row: Row[Any]) -> Grant:
    expires, is_expired = moment(row.expires), row.expires <= keeper.now()
    return Grant(row.id, row.name, row.release_id, row.daily_limit, expires, row.used or 0, is_expired)
