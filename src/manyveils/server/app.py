"""The application: the API, the guard in front of it, and how refusals become responses."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from manyveils.errors import ManyveilsError, Problem
from manyveils.server import observing
from manyveils.server.api import routes as api
from manyveils.server.api.access import note
from manyveils.server.export import Export
from manyveils.server.headers import Guard, is_api
from manyveils.server.keeper import Keeper, open_keeper
from manyveils.server.pages import routes as pages
from manyveils.server.pages.routing import show
from manyveils.server.pages.signin import add_sign_in
from manyveils.server.refusals import Refusal
from manyveils.server.settings import Settings
from manyveils.server.verifying import check_at_start
from manyveils.server.worker import Worker

WORDS = {404: "there is nothing here.", 405: "this cannot be done here."}


def create_app(settings: Settings, keeper: Keeper | None = None) -> FastAPI:
    """Make the application over a server's folder; stopping it stops its worker and closes the database."""
    from manyveils import __version__

    keeper = keeper or open_keeper(settings)
    app = FastAPI(
        title="manyveils",
        version=__version__,
        summary="A trusted server that keeps the keys of releases.",
        openapi_url="/api/v1/openapi.json",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.keeper = keeper
    app.state.warning = check_at_start(keeper)
    app.state.export = Export(keeper, settings.export) if settings.export else None
    app.state.worker = Worker(keeper)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.include_router(observing.router)
    add_sign_in(app, keeper)
    app.add_exception_handler(ManyveilsError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unserved)
    app.add_middleware(Guard, settings=settings)
    app.state.numbers = observing.numbers()
    app.add_middleware(observing.Observer, settings=settings, counted=app.state.numbers)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    close_app(app)


def close_app(app: FastAPI) -> None:
    """Stop the worker and close the database."""
    app.state.worker.stop()
    if app.state.export is not None:
        app.state.export.stop()
    app.state.keeper.close()


def _response(
    request: Request, status: int, kind: str, problems: Sequence[Problem], headers: dict[str, str]
) -> Response:
    """A refusal as programs read it, or as a page for browsers."""
    if not is_api(request.url.path):
        response = show(request, "refused.html", status=status, problems=problems)
        response.headers.update(headers)
        return response
    return JSONResponse(
        {
            "error": kind,
            "problems": [
                dict(zip(("where", "what", "remedy"), problem.words, strict=True)) for problem in problems
            ],
        },
        status,
        headers,
    )


async def _refused(request: Request, error: Any) -> Response:
    """Refuse a request; a visitor whom the server does not know is sent to the login."""
    await note(request, error)
    status, wait = (error.status, error.wait) if isinstance(error, Refusal) else (422, None)
    headers = {} if wait is None else {"Retry-After": str(wait)}
    if status == 401 and is_api(request.url.path):
        headers["WWW-Authenticate"] = "Bearer"
    elif status == 401 and request.method in ("GET", "HEAD"):
        return RedirectResponse("/login", 303)
    return _response(request, status, type(error).__name__, error.problems, headers)


async def _invalid(request: Request, error: Any) -> Response:
    """Say what is wrong with a request without repeating what was sent."""
    problems = [
        Problem(_printable(".".join(str(part) for part in fault["loc"])), f"{fault['msg']}.")
        for fault in error.errors()
    ]
    return _response(request, 422, "InputError", problems, {})


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:200]


async def _unserved(request: Request, error: Any) -> Response:
    what = WORDS.get(error.status_code, "the request cannot be read.")
    headers = dict(error.headers or {})
    return _response(request, error.status_code, "Refusal", [Problem("request", what)], headers)
