"""Sessions for browsers: a signed cookie names one, the server keeps only its SHA-256, and logging out ends it."""

from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, insert, select, update

from manyveils.server.accounts import log_in
from manyveils.server.chain import append
from manyveils.server.database import sessions, users
from manyveils.server.keeper import Keeper
from manyveils.server.people import Person
from manyveils.server.refusals import Forbidden
from manyveils.server.tokens import digest

if TYPE_CHECKING:
    from itsdangerous import Signer
    from starlette.responses import Response

PLAIN, SECURE = "manyveils", "__Host-manyveils"
# A session that is in use is noted as such once a minute.
RESOLUTION = 60.0


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
    with keeper.database.reading() as connection:
        row = connection.execute(query).one_or_none()
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
    return scheme == "https" or settings.behind_proxy or not settings.is_loopback


def cookie_name(keeper: Keeper, scheme: str) -> str:
    """The name of the cookie."""
    return SECURE if is_secure(keeper, scheme) else PLAIN


def _signer(keeper: Keeper) -> "Signer":
    import hashlib

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
