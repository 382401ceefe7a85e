"""Bearer tokens for programs: each for some actions, perhaps for some releases, listed and revocable.

The server keeps only the SHA-256 of a token; every entry of the log that was made with one has its number.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex, token_urlsafe
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from manyveils.errors import InputError
from manyveils.server.accounts import log_in
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.moments import Moment, moment
from manyveils.server.refusals import SCOPES, Pass, Person, Scope, no_such
from manyveils.server.schema import tokens, users
from manyveils.server.sealed import (
    add_row,
    change_row,
    remove_row,
    sound_row,
    sound_rows,
    sound_together,
    together,
)

PREFIX = "mvt_"
MOST_HOURS = 24 * 90
MOST_LABEL = 100
# Accounts are administered with a token only where that is asked for.
GOOD = together(
    tokens,
    users,
    where=(tokens.c.digest == bindparam("digest"))
    & (tokens.c.expires > bindparam("now"))
    & ~tokens.c.revoked
    & (users.c.id == tokens.c.user_id)
    & users.c.active
    & users.c.confirmed,
)
USUAL: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope != "administer")


@dataclass(frozen=True)
class Wish:
    """What a token is to be for."""

    hours: int | None = None
    scopes: Sequence[Scope] = USUAL
    releases: Sequence[str] | None = None
    label: str = ""


@dataclass(frozen=True, repr=False)
class Token:
    """A token, shown this once, its number, and until when it is good."""

    token: str
    id: str
    scopes: tuple[str, ...]
    releases: tuple[str, ...] | None
    expires: Moment


@dataclass(frozen=True)
class Issued:
    """A token as it is listed: whose, what for, and until when; never the token itself."""

    id: str
    account: str
    label: str
    scopes: tuple[str, ...]
    releases: tuple[str, ...] | None
    created: Moment
    expires: Moment


def issue_token(
    keeper: Keeper, name: str, password: str, address: str, wish: Wish | None = None, *, code: str = ""
) -> Token:
    """Log in and get a token."""
    wish = wish or Wish()
    token, number = PREFIX + token_urlsafe(32), token_hex(8)
    expires = keeper.now() + 3600.0 * min(wish.hours or keeper.settings.token_hours, MOST_HOURS)
    if not wish.scopes or len(wish.label) > MOST_LABEL:
        raise InputError.at("scopes", "there must be one at least, and a short label.")
    scopes = tuple(sorted(set(wish.scopes)))
    only = None if wish.releases is None else tuple(sorted(set(wish.releases)))
    values = {"id": number, "digest": digest(token), "label": wish.label, "scopes": " ".join(scopes)}
    more = {"only": None if only is None else json.dumps(only), "created": keeper.now(), "expires": expires}

    def begin(connection: Connection, person: Person) -> None:
        old = select(tokens).where(tokens.c.expires < keeper.now())
        for row in sound_rows(keeper, connection, tokens, old):
            remove_row(keeper, connection, tokens, row)
        add_row(keeper, connection, tokens, **values, **more, user_id=person.id, revoked=False)
        told = {"issued": number, "scopes": list(scopes), "releases": only, "expires": moment(expires)}
        append(keeper, connection, person, "issue token", person.name, told)

    log_in(keeper, name, password, address, code=code, then=begin)
    return Token(token, number, scopes, only, moment(expires))


def find_token(keeper: Keeper, token: str) -> Person | None:
    """Whoever a token belongs to, if it is good, and what it lets do."""
    with keeper.database.reading() as connection:
        rows = sound_together(keeper, connection, GOOD, digest=digest(token), now=keeper.now())
    return None if rows is None else Person(rows[1].id, rows[1].name, rows[1].role, _pass(rows[0]))


def person_of(keeper: Keeper, connection: Connection, user_id: int) -> Person | None:
    """The person of an account that is open."""
    is_open = (users.c.id == user_id) & users.c.active & users.c.confirmed
    user = sound_row(keeper, connection, users, is_open)
    return None if user is None else Person(user.id, user.name, user.role)


def all_tokens(keeper: Keeper, actor: Person) -> list[Issued]:
    """The good tokens of one's own; for an owner those of everybody."""
    is_good = (tokens.c.expires > keeper.now()) & ~tokens.c.revoked
    query = select(tokens).where(is_good).order_by(tokens.c.created, tokens.c.id)
    if not _administers(actor):
        query = query.where(tokens.c.user_id == actor.id)
    with keeper.database.reading() as connection:
        names = {user.id: user.name for user in sound_rows(keeper, connection, users)}
        return [
            _issued(row, names.get(row.user_id, "")) for row in sound_rows(keeper, connection, tokens, query)
        ]


def revoke_token(keeper: Keeper, actor: Person, number: str) -> None:
    """End a token before its time: one's own, or for an owner anybody's."""
    with keeper.database.writing() as connection:
        row = sound_row(keeper, connection, tokens, (tokens.c.id == number) & ~tokens.c.revoked)
        if row is None or not (row.user_id == actor.id or _administers(actor)):
            raise no_such("token")
        change_row(keeper, connection, tokens, row, revoked=True)
        append(keeper, connection, actor, "revoke token", actor.name, {"revoked": number})


def digest(text: str) -> str:
    """The SHA-256 of a random text, under which it is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _administers(actor: Person) -> bool:
    return actor.role == "owner" and (actor.token is None or "administer" in actor.token.scopes)


def _pass(row: Row[Any]) -> Pass:
    only = None if row.only is None else frozenset(json.loads(row.only))
    return Pass(row.id, frozenset(row.scopes.split()), only)


def _issued(row: Row[Any], account: str) -> Issued:
    only = None if row.only is None else tuple(json.loads(row.only))
    scopes = tuple(row.scopes.split())
    return Issued(row.id, account, row.label, scopes, only, moment(row.created), moment(row.expires))
