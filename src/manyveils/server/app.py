"""The application: the API, the guard in front of it, and how refusals become responses."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from manyveils.errors import ManyveilsError, Problem
from manyveils.server import api, pages
from manyveils.server.api.access import note
from manyveils.server.headers import Guard, is_api
from manyveils.server.jobs import Worker
from manyveils.server.keeper import Keeper, open_keeper
from manyveils.server.refusals import Refusal
from manyveils.server.settings import Settings

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
    app.state.worker = Worker(keeper)
    app.include_router(api.router())
    app.include_router(pages.router())
    app.add_exception_handler(ManyveilsError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unserved)
    app.add_middleware(Guard, settings=settings)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    close_app(app)


def close_app(app: FastAPI) -> None:
    """Stop the worker and close the database."""
    app.state.worker.stop()
    app.state.keeper.close()


def _said(
    request: Request,
    status: int,
    kind: str,
    problems: Sequence[Problem],
    headers: dict[str, str] | None = None,
) -> Response:
    """A refusal as programs read it, or as a page for browsers."""
    if not is_api(request.url.path):
        return pages.refused(request, status, problems, headers)
    said = [{"where": p.where, "what": p.what, "remedy": p.remedy} for p in problems]
    return JSONResponse({"error": kind, "problems": said}, status, headers)


async def _refused(request: Request, error: Any) -> Response:
    await note(request, error)
    status = error.status if isinstance(error, Refusal) else 422
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, Refusal) and error.wait is not None:
        headers["Retry-After"] = str(error.wait)
    return _said(request, status, type(error).__name__, error.problems, headers)


async def _invalid(request: Request, error: Any) -> Response:
    """Say what is wrong with a request without repeating what was sent."""
    problems = [
        Problem(_printable(".".join(str(part) for part in each["loc"])), f"{each['msg']}.")
        for each in error.errors()
    ]
    return _said(request, 422, "InputError", problems)


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:200]


async def _unserved(request: Request, error: Any) -> Response:
    what = WORDS.get(error.status_code, "the request cannot be read.")
    return _said(request, error.status_code, "Refusal", [Problem("request", what)], error.headers)
