"""What every response carries, how much a request may bring, and what happens when something unforeseen does."""

import json
import logging
from asyncio import Semaphore, wait_for
from html import escape
from pathlib import Path
from traceback import extract_tb
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyveils.browsers import HEADERS
from manyveils.server.refusals import Unavailable
from manyveils.server.settings import Settings, is_loopback

logger = logging.getLogger("manyveils.server")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ALWAYS = {"Content-Security-Policy": POLICY, **HEADERS}
UPLOADS = ("/api/v1/jobs", "/jobs")
# Room for the boundaries and headers between the parts of a form.
AROUND = 100_000
DRAINED = 10_000_000
SAFE = {"GET", "HEAD", "OPTIONS"}
# Requests that change something at once, of the threads that there are.
AT_ONCE = 24
# Seconds until the next piece of a request must have come.
PATIENCE = 20.0


# For browsers, where there may be nothing left to make a page with.
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>This was refused · manyveils</title>
<link rel="stylesheet" href="/static/style.css"></head>
<body><main><h1>This was refused</h1><section class="problem"><strong>request</strong>: {what}</section>
<p><a href="/">To the releases</a></p></main></body></html>
"""


class Exceeded(Exception):
    """A request brings more than it may."""


class Late(Exception):
    """A request is not sent to its end."""


class Guard:
    """Adds the headers, stops bodies that are too long or too late, and turns faults into responses that tell nothing.

    Requests that change something wait for their turn here, where waiting takes no thread: whatever holds the database,
    there is always somebody to read.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self._turns = Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = Exchange(scope, receive, send, self._limit(scope))
        try:
            if not self._is_known(exchange.host):
                await exchange.misdirect()
            elif "\x00" in scope["path"]:
                # No database takes it, and no name has it.
                await exchange.miss()
            elif scope["method"] in SAFE or is_upload(scope):
                await self.app(scope, exchange.receive, exchange.send)
            else:
                await exchange.collect()
                async with self._turns:
                    await self.app(scope, exchange.receive, exchange.send)
        except Exceeded:
            await exchange.refuse()
        except Late:
            await exchange.give_up()
        except Unavailable:
            await exchange.put_off()
        except Exception as error:
            logger.error("%s", _place(error))
            await exchange.fail()

    def _is_known(self, host: str) -> bool:
        """Whether a request is for a name of this server; every name is, unless some are given."""
        names = self.settings.names
        return not names or host in names or is_loopback(host)

    def _limit(self, scope: Scope) -> int:
        return self.settings.upload_limit + AROUND if is_upload(scope) else self.settings.body_limit


def is_upload(scope: Scope) -> bool:
    """Whether a request may bring a whole table."""
    return scope["method"] == "POST" and scope["path"] in UPLOADS


def is_api(path: str) -> bool:
    """Whether a program is asking; whoever asks for another path is taken for a browser.

    >>> is_api("/api/v1/me"), is_api("/apiary")
    (True, False)
    """
    return path == "/api" or path.startswith("/api/")


class Exchange:
    """One request and its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self._scope, self._receive, self._send, self._limit = scope, receive, send, limit
        self._headers = Headers(scope=scope)
        self._read = 0
        self._started = self._exceeded = self._ended = False
        self._kept: list[Message] = []

    @property
    def host(self) -> str:
        """The name that the request is for, without a port."""
        return (urlsplit(f"//{self._headers.get('host', '')}").hostname or "").rstrip(".")

    async def collect(self) -> None:
        """Take in the whole body, which is short, before anything waits for it."""
        while not self._ended:
            self._kept.append(await self.receive())

    async def receive(self) -> Message:
        """The next piece of the body, unless it makes too much or comes too late."""
        if self._kept and self._ended:
            return self._kept.pop(0)
        message = await self._next()
        if max(self._read, self._announced) > self._limit:
            self._exceeded = True
            raise Exceeded
        return message

    async def _next(self) -> Message:
        # After the body there is only the end of the connection to wait for.
        try:
            message = await wait_for(self._receive(), None if self._ended else PATIENCE)
        except TimeoutError:
            raise Late from None
        self._read += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        return message

    @property
    def _announced(self) -> int:
        length = self._headers.get("content-length", "")
        return int(length) if length.isascii() and length.isdigit() else 0

    async def send(self, message: Message) -> None:
        """A piece of the response; the first one gets the headers."""
        if self._exceeded and not self._started:
            # Whatever the application made of the broken body is not what happened.
            raise Exceeded
        if message["type"] == "http.response.start":
            self._started = True
            self._add_headers(MutableHeaders(raw=message["headers"]))
        await self._send(message)

    def _add_headers(self, headers: MutableHeaders) -> None:
        for name, value in ALWAYS.items():
            headers.setdefault(name, value)
        if "authorization" in self._headers or "cookie" in self._headers or "set-cookie" in headers:
            headers.setdefault("Cache-Control", "no-store")
        if self._scope["scheme"] == "https":
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")

    async def refuse(self) -> None:
        """Say that the request brings too much."""
        await self._drain()
        self._exceeded = False
        await self._say(413, "TooLarge", f"has more than {self._limit} bytes.")

    async def _drain(self) -> None:
        """Read on for a while; who is cut off in the middle of sending may never see the answer."""
        most = self._limit + DRAINED
        while not self._ended and max(self._read, self._announced) <= most:
            await self._next()

    async def miss(self) -> None:
        """Say that there is nothing here."""
        await self._say(404, "Refusal", "there is nothing here.")

    async def misdirect(self) -> None:
        """Say that this server has another name."""
        await self._say(421, "Refusal", "is for another server.")

    async def give_up(self) -> None:
        """Say that the request took too long to come."""
        self._exceeded = False
        await self._say(408, "Refusal", "took too long to be sent.")

    async def put_off(self) -> None:
        """Say that the database is away."""
        await self._say(503, "Unavailable", "cannot be served now; try again soon.")

    async def fail(self) -> None:
        """Say that something unforeseen happened, and nothing about it."""
        self._exceeded = False
        await self._say(500, "Fault", "this is a fault of the server; its log says where.")

    async def _say(self, status: int, kind: str, what: str) -> None:
        if self._started:
            return
        if is_api(self._scope["path"]):
            problem = {"where": "request", "what": what, "remedy": ""}
            written, body = b"application/json", json.dumps({"error": kind, "problems": [problem]}).encode()
        else:
            written, body = b"text/html; charset=utf-8", PAGE.format(what=escape(what)).encode()
        headers: list[Any] = [(b"content-type", written), (b"connection", b"close")]
        headers += [(b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _place(error: Exception) -> str:
    """Where something unforeseen happened; its message is left out, because it may quote secrets."""
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)[-4:]]
    return f"{type(error).__name__} at {' > '.join(frames)}"
