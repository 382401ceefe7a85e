"""Sign-in at a provider (OpenID Connect): who it says somebody is, the server looks up among its own accounts.

Authlib does the protocol: discovery, state, nonce, PKCE, and the check of what the provider signs.
"""

from functools import cache
from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import Response

from manyveils.errors import InputError
from manyveils.server import logins
from manyveils.server.accounts import NOBODY, enter
from manyveils.server.api.access import Address, KeeperOf
from manyveils.server.keeper import Keeper
from manyveils.server.pages.routing import PageRoute, show
from manyveils.server.refusals import Person, Unauthenticated, Unavailable, no_such
from manyveils.server.schema import users
from manyveils.server.sealed import sound_row
from manyveils.server.settings import Provider, is_loopback
from manyveils.server.throttle import note_refusal

router = APIRouter(route_class=PageRoute, include_in_schema=False)
DISCOVERY = "/.well-known/openid-configuration"
# Seconds that somebody may take at the provider.
PATIENCE = 600
COOKIE = "manyveils-signin"


def add_sign_in(app: FastAPI, keeper: Keeper) -> None:
    """Let people sign in at the provider of the settings, if there is one."""
    provider = keeper.settings.provider
    if provider is None:
        return
    if not provider.issuer.startswith("https://") and not is_loopback(_host(provider.issuer)):
        raise InputError.at("--oidc-issuer", "must start with https://.")
    app.state.provider = _client(provider)
    app.include_router(router)
    # Holds what a sign-in that has begun must come back with, and nothing afterwards.
    app.add_middleware(
        SessionMiddleware,
        secret_key=keeper.secret.seal("sign-in"),
        session_cookie=COOKIE,
        max_age=PATIENCE,
        same_site="lax",
        https_only=logins.is_secure(keeper, "http"),
    )


@router.get("/signin")
async def begin(request: Request) -> Response:
    """Send the browser to the provider."""
    provider = _provider(request)
    try:
        response: Response = await provider.authorize_redirect(request, str(request.url_for("signed_in")))
    except Exception as error:
        raise _away(error) from None
    return response


@router.get("/signin/back", name="signed_in")
async def back(request: Request, keeper: KeeperOf, address: Address) -> Response:
    """Begin a session for the account that the provider's word belongs to."""
    from authlib.integrations.base_client import OAuthError
    from joserfc.errors import JoseError
    from starlette.concurrency import run_in_threadpool

    try:
        token = await _provider(request).authorize_access_token(request)
    except (OAuthError, JoseError):
        raise Unauthenticated.at("sign-in", "was refused, or took too long.", "Begin again.") from None
    except Exception as error:
        raise _away(error) from None
    session = await run_in_threadpool(_session, keeper, dict(token.get("userinfo") or {}), address)
    # A redirect would still count as coming from the provider's site, and bring no strict cookie.
    response = show(request, "signed_in.html")
    logins.set_cookie(response, keeper, session, request.url.scheme)
    return response


def _session(keeper: Keeper, claims: dict[str, Any], address: str) -> logins.Session:
    name = _external(keeper, claims)
    number = token_urlsafe(32)
    with keeper.database.writing() as connection:
        known = (users.c.external == name) & users.c.active & users.c.confirmed
        user = None if name is None else sound_row(keeper, connection, users, known)
        if user is not None:
            begin_session = logins.session_under(keeper, number)
            person: Person = enter(keeper, connection, user, address, then=begin_session, action="sign in")
    if user is None:
        note_refusal(keeper, NOBODY, "sign in refused", NOBODY, {"address": address}, of=f"address {address}")
        raise Unauthenticated.at("sign-in", "belongs to no open account here.", "Ask an owner for one.")
    return logins.session_of(keeper, person, number)


def _external(keeper: Keeper, claims: dict[str, Any]) -> str | None:
    """Who somebody is for the provider; an address only if the provider has verified it."""
    claim = "sub" if keeper.settings.provider is None else keeper.settings.provider.claim
    value = claims.get(claim)
    if claim == "email" and claims.get("email_verified") is not True:
        return None
    return value if isinstance(value, str) and value else None


def _provider(request: Request) -> Any:
    provider = getattr(request.app.state, "provider", None)
    if provider is None:
        raise no_such("page")
    return provider


def _away(_error: Exception) -> Unavailable:
    return Unavailable.at("sign-in", "the provider does not answer as it should.", "Try again soon.", wait=30)


def _host(address: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(address).hostname or ""


@cache
def _client(provider: Provider) -> Any:
    from authlib.integrations.starlette_client import OAuth

    return OAuth().register(
        "provider",
        client_id=provider.client,
        client_secret=provider.secret,
        server_metadata_url=provider.issuer.rstrip("/") + DISCOVERY,
        client_kwargs={"scope": "openid email", "code_challenge_method": "S256", "timeout": 10},
    )
