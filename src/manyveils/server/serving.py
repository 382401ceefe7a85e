"""Listening and serving with uvicorn."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI

from manyveils.errors import InputError
from manyveils.server.settings import Settings


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


class Server(uvicorn.Server):
    """An HTTP server that says when it is ready, which is when it also heeds requests to end."""

    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        if self.ready is not None:
            self.ready()


def serve(app: FastAPI, sockets: list[socket.socket], ready: Callable[[], None] | None = None) -> None:
    """Serve until interrupted; access is not logged here, because the server keeps its own log."""
    server = server_of(app)
    server.ready = ready
    with suppress(KeyboardInterrupt):
        server.run(sockets=sockets)


def server_of(app: FastAPI) -> Server:
    """The HTTP server in front of the application, which says nothing about itself."""
    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            # Anybody can send these headers; only a proxy's are true.
            proxy_headers=app.state.keeper.settings.behind_proxy,
            forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
            timeout_keep_alive=10,
            timeout_graceful_shutdown=10,
        )
    )
