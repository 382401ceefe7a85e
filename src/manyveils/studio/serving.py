"""The application and how it is served: on this machine's own address, until it is interrupted."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe

from manyveils.errors import InputError
from manyveils.studio.workbench import Workbench, open_workbench

LOOPBACK = "127.0.0.1"
MISSING = "the studio needs NiceGUI."


@dataclass
class Studio:
    """What one studio has open; every page of it shows the same."""

    token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    bench: Workbench | None = None

    def open(self, place: Path) -> None:
        """Open a table or a policy in place of what is open; a release that is being written is waited for."""
        before = self.bench
        if before is not None and before.publishing is not None and before.publishing.is_running:
            raise InputError("A release is being written; wait for it, or cancel it.")
        self.bench = open_workbench(place)
        if before is not None:
            before.stop()


def refuse_absence() -> None:
    """Say which extra is missing, if one is."""
    from importlib.util import find_spec

    if find_spec("nicegui") is None:
        raise InputError.at("studio", MISSING, "pip install 'manyveils[studio]'.")


@contextmanager
def listen(port: int) -> Iterator[socket.socket]:
    """Take a port of this machine, before anything else is done; 0 for any free one."""
    try:
        taken = socket.create_server((LOOPBACK, port))
    except OSError as error:
        remedy = "Choose another --port; 0 takes any free one."
        raise InputError.at(
            f"{LOOPBACK}:{port}", f"cannot be listened on: {error.strerror}.", remedy
        ) from None
    with taken:
        yield taken


def address_of(studio: Studio, taken: socket.socket) -> str:
    """The address that opens the studio."""
    return f"http://{LOOPBACK}:{taken.getsockname()[1]}/?token={studio.token}"


def serve(studio: Studio, taken: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until interrupted; what is under way is then cancelled."""
    import uvicorn
    from fastapi import FastAPI
    from nicegui import app as pages_app
    from nicegui import ui

    from manyveils.studio.guard import Guard
    from manyveils.studio.pages import register

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    register(studio)
    ui.run_with(
        app, title="manyveils studio", dark=None, tailwind=False, show_welcome_message=False, language="en-US"
    )
    pages_app.on_startup(ready)
    guarded = Guard(app, port=taken.getsockname()[1], token=studio.token)
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[taken])
    finally:
        if studio.bench is not None:
            studio.bench.stop()
