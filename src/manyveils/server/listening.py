"""Taking the port, and serving on it: who is slow to ask is not waited for."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from manyveils.errors import InputError
from manyveils.server.apart import prepare
from manyveils.server.headers import PATIENCE
from manyveils.server.settings import Settings


class Impatient(H11Protocol):
    """HTTP for those who send the head of a request in good time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a piece; a head that is not whole yet has no more time for that."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request, of which a part may be here already."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._late is None:
            self._late = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Server(uvicorn.Server):
    """An HTTP server that says when it is ready, which is when it also heeds requests to end."""

    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        if self.ready is not None:
            self.ready()


@contextmanager
def listen(settings: Settings) -> Iterator[tuple[list[socket.socket], str]]:
    """Take the port before anything else is done; gives the socket and the server's address."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        taken = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise InputError.at(where, f"cannot be listened on: {error.strerror}.") from None
    with taken:
        yield [taken], f"http://{reached_at(settings.host)}:{taken.getsockname()[1]}"


def reached_at(host: str) -> str:
    """A host as it stands in an address; of one that means every address of this machine, the one that is here.

    >>> reached_at("0.0.0.0"), reached_at("::"), reached_at("::1"), reached_at("veils.example.org")
    ('127.0.0.1', '[::1]', '[::1]', 'veils.example.org')
    """
    address = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{address}]" if ":" in address else address


def serve(app: FastAPI, sockets: list[socket.socket], ready: Callable[[], None] | None = None) -> None:
    """Serve until interrupted."""
    server = server_of(app)
    server.ready = ready
    with incoming(app.state.keeper.settings), suppress(KeyboardInterrupt):
        server.run(sockets=sockets)


@contextmanager
def incoming(settings: Settings) -> Iterator[None]:
    """Let this process keep what comes in where the server's other data are."""
    # Its sockets stay in the system's folder: their paths must be short.
    prepare()
    before, tempfile.tempdir = tempfile.tempdir, str(settings.temporary)
    try:
        yield
    finally:
        tempfile.tempdir = before


def server_of(app: FastAPI) -> Server:
    """The HTTP server in front of the application, which says nothing about itself."""
    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        # Anybody can send these headers; only a proxy's are true.
        proxy_headers=app.state.keeper.settings.behind_proxy,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=10,
    )
    return Server(config)


# More are told to come back.
MOST_CONNECTIONS = 1000
