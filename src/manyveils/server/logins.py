"""Sessions of browsers: a signed cookie names one, of which the server keeps the SHA-256, and logging out ends it."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete

from manyveils.server.accounts import log_in
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Forbidden, Person, Unavailable
from manyveils.server.schema import sessions
from manyveils.server.sealed import add_row, change_row, sound_row
from manyveils.server.settings import is_loopback
from manyveils.server.tokens import digest, person_of

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


def open_session(keeper: Keeper, name: str, password: str, address: str, code: str = "") -> Session:
    """Log in and begin a session; its number is always a new one."""
    number = token_urlsafe(32)
    person = log_in(keeper, name, password, address, code=code, then=session_under(keeper, number))
    return session_of(keeper, person, number)


def session_under(keeper: Keeper, number: str) -> Callable[[Connection, Person], None]:
    """What begins a session with this number once somebody is let in."""
    now = keeper.now()

    def begin(connection: Connection, person: Person) -> None:
        connection.execute(delete(sessions).where(sessions.c.expires < now))
        times = {"expires": now + 3600.0 * keeper.settings.session_hours, "seen": now}
        add_row(keeper, connection, sessions, digest=digest(number), user_id=person.id, **times)

    return begin


def session_of(keeper: Keeper, person: Person, number: str) -> Session:
    """A session that was begun, with its cookie."""
    return Session(person, _signer(keeper).sign(number).decode(), _csrf(keeper, number))


def find_session(keeper: Keeper, cookie: str | None) -> Session | None:
    """The session a cookie belongs to, if it is signed by this server, not ended and not forgotten."""
    number = _unsigned(keeper, cookie)
    if number is None:
        return None
    now = keeper.now()
    is_good = (sessions.c.expires > now) & (sessions.c.seen > now - 60.0 * keeper.settings.idle_minutes)
    with keeper.database.reading() as connection:
        row = sound_row(keeper, connection, sessions, (sessions.c.digest == digest(number)) & is_good)
        person = None if row is None else person_of(keeper, connection, row.user_id)
    if person is None:
        return None
    if row.seen < now - RESOLUTION:
        _note_use(keeper, row.digest, now)
    return Session(person, cookie or "", _csrf(keeper, number))


def _note_use(keeper: Keeper, number: str, now: float) -> None:
    """Note that a session is in use, unless others are writing: then the next request does."""
    with suppress(Unavailable), keeper.database.writing(wait=0.0) as connection:
        row = sound_row(keeper, connection, sessions, sessions.c.digest == number)
        if row is not None:
            change_row(keeper, connection, sessions, row, seen=now)


def close_session(keeper: Keeper, session: Session) -> None:
    """Log out: the cookie is worth nothing from now on, wherever it is."""
    number = _unsigned(keeper, session.cookie) or ""
    with keeper.database.writing() as connection:
        connection.execute(delete(sessions).where(sessions.c.digest == digest(number)))
        append(keeper, connection, session.person, "log out", session.person.name)


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
