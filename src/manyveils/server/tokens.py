"""Bearer tokens for programs; the server keeps only their SHA-256."""

import hashlib
from dataclasses import dataclass
from secrets import token_urlsafe

from sqlalchemy import Connection, delete, insert, select, update

from manyveils.server.accounts import log_in
from manyveils.server.chain import append
from manyveils.server.database import tokens, users
from manyveils.server.keeper import Keeper, Moment, moment
from manyveils.server.people import Person

PREFIX = "mvt_"


@dataclass(frozen=True, repr=False)
class Token:
    """A token, shown this once, and until when it is good."""

    token: str
    expires: Moment


def issue_token(keeper: Keeper, name: str, password: str, address: str, hours: int | None = None) -> Token:
    """Log in and get a token."""
    token = PREFIX + token_urlsafe(32)
    expires = keeper.now() + 3600.0 * min(hours or keeper.settings.token_hours, 24 * 90)

    def begin(connection: Connection, person: Person) -> None:
        connection.execute(delete(tokens).where(tokens.c.expires < keeper.now()))
        connection.execute(
            insert(tokens).values(digest=digest(token), user_id=person.id, expires=expires, revoked=False)
        )
        append(keeper, connection, person.name, "issue token", person.name, {"expires": moment(expires)})

    log_in(keeper, name, password, address, then=begin)
    return Token(token, moment(expires))


def find_token(keeper: Keeper, token: str) -> Person | None:
    """Whoever a token belongs to, if it is good."""
    query = (
        select(users.c.id, users.c.name, users.c.role)
        .join(tokens, tokens.c.user_id == users.c.id)
        .where(tokens.c.digest == digest(token), tokens.c.expires > keeper.now())
        .where(~tokens.c.revoked, users.c.active)
    )
    with keeper.database.reading() as connection:
        row = connection.execute(query).one_or_none()
    return Person(row.id, row.name, row.role) if row else None


def revoke_token(keeper: Keeper, actor: Person, token: str) -> None:
    """End a token before its time."""
    with keeper.database.writing() as connection:
        connection.execute(
            update(tokens)
            .where(tokens.c.digest == digest(token), tokens.c.user_id == actor.id)
            .values(revoked=True)
        )
        append(keeper, connection, actor.name, "revoke token", actor.name)


def digest(text: str) -> str:
    """The SHA-256 of a random text, under which it is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
