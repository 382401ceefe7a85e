"""Listening and serving with uvicorn."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI

from manyveils.errors import InputError, Problem
from manyveils.server.settings import Settings


@contextmanager
def listen(settings: Settings) -> Iterator[tuple[list[socket.socket], str]]:
    """Take the port before anything else is done; gives the socket and the server's address."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        taken = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise InputError(
            [Problem(f"{settings.host}:{settings.port}", f"cannot be listened on: {error.strerror}.")]
        ) from None
    with taken:
        host = f"[{settings.host}]" if family == socket.AF_INET6 else settings.host
        yield [taken], f"http://{host}:{taken.getsockname()[1]}"


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
            timeout_keep_alive=10,
            timeout_graceful_shutdown=10,
        )
    )
