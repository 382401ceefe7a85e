"""Who is asking, and how refusals are told."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from manyveils.errors import ManyveilsError
from manyveils.server.api.models import Refused
from manyveils.server.headers import is_upload
from manyveils.server.keeper import Keeper
from manyveils.server.logins import Session, cookie_name, find_session, require_csrf
from manyveils.server.refusals import Person, Refusal, Unauthenticated, require
from manyveils.server.throttle import note_refusal
from manyveils.server.tokens import find_token

SAFE = {"GET", "HEAD", "OPTIONS"}
MOST_SUBJECT = 64
CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
bearer = HTTPBearer(auto_error=False, description="A token from POST /api/v1/token.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


def keeper_of(request: Request) -> Keeper:
    """The keeper of the application that handles a request."""
    keeper: Keeper = request.app.state.keeper
    return keeper


KeeperOf = Annotated[Keeper, Depends(keeper_of)]


def address_of(request: Request) -> str:
    """The address that tries are counted under; of IPv6 the network, since one caller has all of it."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return host


Address = Annotated[str, Depends(address_of)]


async def session_of(request: Request, keeper: KeeperOf) -> Session | None:
    """The browser's session; if the request changes something, only with the session's CSRF token."""
    cookie = request.cookies.get(cookie_name(keeper, request.url.scheme))
    session = await run_in_threadpool(find_session, keeper, cookie)
    if session is not None:
        request.state.session, request.state.person = session, session.person
        if is_upload(request.scope):
            # The form's token stands in the form, which is long; nobody else's is read for it.
            require(session.person, "owner", scope="publish")
        if request.method not in SAFE:
            require_csrf(session, await _csrf_of(request))
    return session


async def _csrf_of(request: Request) -> str | None:
    token = request.headers.get(CSRF_HEADER)
    if token is None and request.headers.get("content-type", "").startswith(FORMS):
        field = (await request.form(max_files=4, max_fields=50)).get(CSRF_FIELD)
        token = field if isinstance(field, str) else None
    return token


async def anyone(request: Request, credentials: Bearer, keeper: KeeperOf) -> Person | None:
    """Whoever is asking, by token or by cookie; None for a visitor who has not logged in. A bad token is refused."""
    if credentials is not None:
        person = await run_in_threadpool(find_token, keeper, credentials.credentials)
        if person is None:
            raise Unauthenticated.at("token", "is wrong, revoked or expired.", "Get another.")
        request.state.person = person
        return person
    session = await session_of(request, keeper)
    return session.person if session else None


async def someone(person: Annotated[Person | None, Depends(anyone)]) -> Person:
    """Whoever is asking, who must have logged in."""
    if person is None:
        raise Unauthenticated.at("login", "is needed.", "Send a token, or log in.")
    return person


async def note(request: Request, error: ManyveilsError) -> None:
    """Log why a request was refused, unless it is logged already or need not be."""
    person: Person | None = getattr(request.state, "person", None)
    if person is None or not isinstance(error, Refusal) or error.noted:
        return
    details = {"method": request.method, "refused": error.status}
    await run_in_threadpool(
        note_refusal, keeper_of(request), person, "refused", request.url.path[:MOST_SUBJECT], details
    )


Anyone = Annotated[Person | None, Depends(anyone)]
Someone = Annotated[Person, Depends(someone)]

WORDS = {
    400: "The request cannot be read.",
    401: "A good token or login is needed.",
    403: "Whoever is asking may not do this.",
    404: "There is no such thing, or not for whoever is asking.",
    409: "Not as things stand.",
    413: "The request brings more than the server takes.",
    422: "What was sent is wrong; the problems say how.",
    429: "Too often: later, or no more today.",
    503: "The database is away or busy, or too many jobs wait.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals an operation may answer with, for the description of the API."""
    return {status: {"model": Refused, "description": WORDS[status]} for status in (*statuses, 503)}
