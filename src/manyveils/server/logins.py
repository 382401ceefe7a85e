"""Logins: tokens for programs and sessions for browsers; the server keeps only the SHA-256 of either.

A signed cookie names a session, and logging out ends it.
"""

import hashlib
from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, insert, select, update

from manyveils.server.accounts import log_in
from manyveils.server.chain import append
from manyveils.server.database import Moment, moment, sessions, tokens, users
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Forbidden, Person
from manyveils.server.settings import is_loopback

if TYPE_CHECKING:
    from itsdangerous import Signer
    from starlette.responses import Response

PREFIX = "mvt_"
PLAIN, SECURE = "manyveils", "__Host-manyveils"
# A session that is in use is noted as such once a minute.
RESOLUTION = 60.0


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
    row = keeper.database.row(query)
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


@dataclass(frozen=True, repr=False)
class Session:
    """A login in a browser: who, the cookie's content, and the token that forms must carry."""

    person: Person
    cookie: str
    csrf: str


def open_session(keeper: Keeper, name: str, password: str, address: str) -> Session:
    """Log in and begin a session; its number is always a new one."""
    number, now = token_urlsafe(32), keeper.now()

    def begin(connection: Connection, person: Person) -> None:
        connection.execute(delete(sessions).where(sessions.c.expires < now))
        times = {"expires": now + 3600.0 * keeper.settings.session_hours, "seen": now}
        connection.execute(insert(sessions).values(digest=digest(number), user_id=person.id, **times))

    person = log_in(keeper, name, password, address, then=begin)
    return Session(person, _signer(keeper).sign(number).decode(), _csrf(keeper, number))


def find_session(keeper: Keeper, cookie: str | None) -> Session | None:
    """The session a cookie belongs to, if it is signed by this server, not ended and not forgotten."""
    number = _unsigned(keeper, cookie)
    if number is None:
        return None
    now = keeper.now()
    query = (
        select(users.c.id, users.c.name, users.c.role, sessions.c.seen)
        .join(sessions, sessions.c.user_id == users.c.id)
        .where(sessions.c.digest == digest(number), sessions.c.expires > now, users.c.active)
        .where(sessions.c.seen > now - 60.0 * keeper.settings.idle_minutes)
    )
    row = keeper.database.row(query)
    if row is None:
        return None
    if row.seen < now - RESOLUTION:
        with keeper.database.writing() as connection:
            connection.execute(update(sessions).where(sessions.c.digest == digest(number)).values(seen=now))
    return Session(Person(row.id, row.name, row.role), cookie or "", _csrf(keeper, number))


def close_session(keeper: Keeper, session: Session) -> None:
    """Log out: the cookie is worth nothing from now on, wherever it is."""
    number = _unsigned(keeper, session.cookie) or ""
    with keeper.database.writing() as connection:
        connection.execute(delete(sessions).where(sessions.c.digest == digest(number)))
        append(keeper, connection, session.person.name, "log out", session.person.name)


def require_csrf(session: Session, token: str | None) -> None:
    """Refuse a request that changes something and does not carry the session's token."""
    if not token or not compare_digest(session.csrf.encode(), token.encode("utf-8", "surrogatepass")):
        raise Forbidden.at("csrf", "the form's token is missing or old.", "Load the page again.")


def set_cookie(response: "Response", keeper: Keeper, session: Session, scheme: str) -> None:
    """Give the browser its cookie: not for scripts, not for other sites, and only over TLS off this machine."""
    hours = keeper.settings.session_hours
    response.set_cookie(value=session.cookie, max_age=3600 * hours, **_cookie(keeper, scheme))


def clear_cookie(response: "Response", keeper: Keeper, scheme: str) -> None:
    """Take the cookie back."""
    response.delete_cookie(**_cookie(keeper, scheme))


def _cookie(keeper: Keeper, scheme: str) -> dict[str, Any]:
    secure = is_secure(keeper, scheme)
    rules = {"path": "/", "secure": secure, "httponly": True, "samesite": "strict"}
    return {"key": cookie_name(keeper, scheme), **rules}


def is_secure(keeper: Keeper, scheme: str) -> bool:
    """Whether cookies are for TLS alone: always, unless the server speaks plainly on this machine only."""
    settings = keeper.settings
    return scheme == "https" or settings.behind_proxy or not is_loopback(settings.host)


def cookie_name(keeper: Keeper, scheme: str) -> str:
    """The name of the cookie."""
    return SECURE if is_secure(keeper, scheme) else PLAIN


def _signer(keeper: Keeper) -> "Signer":
    from itsdangerous import Signer

    return Signer(keeper.secret.cookies, salt="session", digest_method=hashlib.sha256, key_derivation="hmac")


def _unsigned(keeper: Keeper, cookie: str | None) -> str | None:
    from itsdangerous import BadSignature

    if not cookie:
        return None
    try:
        return _signer(keeper).unsign(cookie.encode("utf-8", "surrogatepass")).decode()
    except (BadSignature, UnicodeDecodeError):
        return None


def _csrf(keeper: Keeper, number: str) -> str:
    return keeper.secret.seal("csrf", number)
