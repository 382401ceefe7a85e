"""Who may talk to the studio: this machine's browser with the token, asking for this address, and nobody else."""

from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyveils.browsers import HEADERS

# The pages' front end compiles its templates and sets styles; nothing comes from or goes to another address.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'self'; "
    "object-src 'none'; frame-ancestors 'none'"
)
ALWAYS = {"Content-Security-Policy": POLICY, **HEADERS, "Cache-Control": "no-store"}
WRONG_HOST = "This is not the address of the studio. Open the one that it printed.\n"
WRONG_TOKEN = "The address lacks the studio's token. Open the whole address that it printed.\n"


class Guard:
    """Lets only those in who ask the right host and have the token: once in the address, from then on in a cookie."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self.app, self.token = app, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        # Cookies know no ports, so that two studios need two names.
        self.cookie = f"manyveils-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif not self._is_asked_for(Headers(scope=scope)):
            await self._refuse(WRONG_HOST, scope, receive, send)
        elif self._knows_token(scope):
            await self.app(scope, receive, _sealed(send))
        elif scope["type"] == "http" and self._is(self._in_address(scope)):
            await self._admit(scope, receive, send)
        else:
            await self._refuse(WRONG_TOKEN, scope, receive, send)

    def _is_asked_for(self, headers: Headers) -> bool:
        """Whether the request is for this address, and comes from no page of another one."""
        origin = headers.get("origin")
        return headers.get("host") in self.hosts and (
            origin is None or origin in {f"http://{host}" for host in self.hosts}
        )

    def _knows_token(self, scope: Scope) -> bool:
        try:
            cookies = SimpleCookie(Headers(scope=scope).get("cookie", ""))
        except CookieError:
            return False
        return self.cookie in cookies and self._is(cookies[self.cookie].value)

    def _is(self, told: str) -> bool:
        return compare_digest(told.encode(), self.token.encode())

    def _in_address(self, scope: Scope) -> str:
        return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the cookie, and lead to the address without the token, so that it is in no history."""
        response = RedirectResponse("/", 303)
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        await response(scope, receive, _sealed(send))

    async def _refuse(self, what: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(what, 403)(scope, receive, _sealed(send))


def _sealed(send: Send) -> Send:
    """Responses with the headers that all of them carry."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            for name, value in ALWAYS.items():
                headers[name] = value
        await send(message)

    return sealed
