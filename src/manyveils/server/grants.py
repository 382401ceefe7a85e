"""Grants: which researcher may be told how much of which release, a day and in all, and until when."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from manyveils.errors import InputError, Problem
from manyveils.server.catalogue import is_mine, owned
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.moments import Moment, moment
from manyveils.server.refusals import Person, TooMany, no_such, require
from manyveils.server.schema import answers, grants, releases, users
from manyveils.server.sealed import add_row, change_row, sound_row, sound_rows, sound_together, together

MOST = 1_000_000
# A grant without a limit in all has so many days' worth.
DAYS = 30
GOOD = together(
    grants,
    releases,
    users,
    where=(grants.c.user_id == bindparam("user"))
    & (grants.c.release_id == bindparam("release"))
    & (grants.c.expires > bindparam("now"))
    & (releases.c.id == grants.c.release_id)
    & releases.c.listed
    & (users.c.id == grants.c.user_id)
    & users.c.active,
)
USED = together(answers, where=answers.c.grant_id == bindparam("grant"))
# The year 9999 is the last that Python's calendar has.
LAST = 253402300799.0


@dataclass(frozen=True)
class Grant:
    """What one researcher may be told of one release, and how much of it is used."""

    id: int
    researcher: str
    release: str
    daily_limit: int
    total_limit: int
    expires: Moment
    used_today: int
    used_in_all: int
    expired: bool


def give_grant(
    keeper: Keeper,
    actor: Person,
    researcher: str,
    release: str,
    *,
    daily_limit: int,
    expires: float,
    total_limit: int | None = None,
) -> Grant:
    """Grant a researcher a release, or change the grant there is; for the release's owner.

    What was used stays used.
    """
    require(actor, "owner", scope="grant", release=release)
    total_limit = min(MOST, daily_limit * DAYS) if total_limit is None else total_limit
    InputError.refuse(_problems(keeper, daily_limit, total_limit, expires))
    with keeper.database.writing() as connection:
        user_id = _researcher(keeper, connection, researcher)
        owned(keeper, connection, actor, release, "grant")
        values = {"daily_limit": daily_limit, "total_limit": total_limit, "expires": expires}
        row = _stored(keeper, connection, user_id, release, values)
        details = {"release": release, **values, "expires": moment(expires)}
        append(keeper, connection, actor, "give grant", researcher, details)
        return _grant(keeper, connection, row)


def end_grant(keeper: Keeper, actor: Person, number: int) -> Grant:
    """Let a grant expire now; for the release's owner."""
    require(actor, "owner", scope="grant")
    with keeper.database.writing() as connection:
        row = sound_row(keeper, connection, grants, grants.c.id == number)
        if row is None:
            raise no_such("grant")
        owned(keeper, connection, actor, row.release_id, "grant")
        ended = _grant(keeper, connection, change_row(keeper, connection, grants, row, expires=keeper.now()))
        append(keeper, connection, actor, "end grant", ended.researcher, {"release": ended.release})
    return ended


def all_grants(keeper: Keeper, actor: Person) -> list[Grant]:
    """The grants of an owner's releases, their own for a researcher."""
    require(actor, "owner", "researcher", scope="read")
    query = (
        select(grants).join(users, users.c.id == grants.c.user_id).order_by(users.c.name, grants.c.release_id)
    )
    if actor.role != "owner":
        query = query.where(grants.c.user_id == actor.id)
    with keeper.database.reading() as connection:
        rows = sound_rows(keeper, connection, grants, query)
        if actor.role == "owner":
            theirs = {
                row.id
                for row in sound_rows(keeper, connection, releases)
                if is_mine(keeper, connection, actor, row)
            }
            rows = [row for row in rows if row.release_id in theirs]
        token = actor.token
        return [
            _grant(keeper, connection, row) for row in rows if token is None or token.is_for(row.release_id)
        ]


def good_grant(
    keeper: Keeper, connection: Connection, user_id: int, release: str
) -> tuple[Row[Any], Row[Any]] | None:
    """A researcher's grant for a listed release, and the release, if it has not expired and the account is open."""
    asked = {"user": user_id, "release": release, "now": keeper.now()}
    rows = sound_together(keeper, connection, GOOD, **asked)
    return None if rows is None else (rows[0], rows[1])


def charge(keeper: Keeper, connection: Connection, grant: Row[Any], cost: int) -> None:
    """Take an answer's cost off the limits, or refuse it and leave them as they are.

    Claim: no number of servers and requests together is ever given more than the limits.
    Why: one transaction at a time reads what is used and writes what is used then; and a row that is gone, or that the
    server did not write, has nothing left.
    Tested by: tests/server/test_limits.py
    """
    rows = sound_together(keeper, connection, USED, grant=grant.id)
    if rows is None:
        raise TooMany.at("daily limit", "what was used is not recorded.", "Ask an owner to look at the log.")
    row = rows[0]
    used = row.used if row.day == today(keeper) else 0
    if used + cost > grant.daily_limit:
        what = f"this answer takes {cost} of {grant.daily_limit} originals a day, and fewer are left."
        raise TooMany.at("daily limit", what, "Ask for less, or tomorrow (UTC).")
    if row.used_in_all + cost > grant.total_limit:
        what = f"this answer takes {cost} of {grant.total_limit} originals in all, and fewer are left."
        raise TooMany.at("limit in all", what, "Ask an owner.")
    values = {"day": today(keeper), "used": used + cost, "used_in_all": row.used_in_all + cost}
    change_row(keeper, connection, answers, row, **values)


def today(keeper: Keeper) -> str:
    """The day in UTC, when limits begin anew."""
    return datetime.fromtimestamp(keeper.now(), UTC).strftime("%Y-%m-%d")


def _problems(keeper: Keeper, daily_limit: int, total_limit: int, expires: float) -> Iterator[Problem]:
    for name, limit in (("daily_limit", daily_limit), ("total_limit", total_limit)):
        if not 1 <= limit <= MOST:
            yield Problem(name, f"must be from 1 to {MOST}.")
    if not keeper.now() < expires <= LAST:
        yield Problem("expires", "must be in the future.")


def _researcher(keeper: Keeper, connection: Connection, name: str) -> int:
    user = sound_row(keeper, connection, users, users.c.name == name)
    if user is None:
        raise no_such("account")
    if user.role != "researcher":
        raise InputError.at("researcher", "this account has another role.")
    return int(user.id)


def _stored(
    keeper: Keeper, connection: Connection, user_id: int, release: str, values: Mapping[str, Any]
) -> Row[Any]:
    row = sound_row(
        keeper, connection, grants, (grants.c.user_id == user_id) & (grants.c.release_id == release)
    )
    if row is not None:
        return change_row(keeper, connection, grants, row, **values)
    row = add_row(keeper, connection, grants, user_id=user_id, release_id=release, **values)
    unused = {"day": today(keeper), "used": 0, "used_in_all": 0}
    add_row(keeper, connection, answers, grant_id=row.id, **unused)
    return row


def _grant(keeper: Keeper, connection: Connection, row: Row[Any]) -> Grant:
    used = sound_row(keeper, connection, answers, answers.c.grant_id == row.id)
    user = sound_row(keeper, connection, users, users.c.id == row.user_id)
    is_today = used is not None and used.day == today(keeper)
    return Grant(
        id=row.id,
        researcher="" if user is None else user.name,
        release=row.release_id,
        daily_limit=row.daily_limit,
        total_limit=row.total_limit,
        expires=moment(row.expires),
        used_today=used.used if is_today else 0,
        used_in_all=0 if used is None else used.used_in_all,
        expired=row.expires <= keeper.now(),
    )
