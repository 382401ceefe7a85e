"""The log, on a page."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from manyveils.server import chain
from manyveils.server.api.access import KeeperOf
from manyveils.server.pages.routing import PersonHere, call, pages, show

router = pages()
LINES = 100
Before = Annotated[int | None, Query(ge=1, le=2**53)]


@router.get("/log")
async def log(request: Request, keeper: KeeperOf, person: PersonHere, before: Before = None) -> Response:
    """The last entries, newest first, and those before them."""
    found = await call(chain.latest, keeper, person, before=before, most=LINES)
    return show(request, "log.html", entries=found, verdict=None)


@router.post("/log/verify")
async def verify(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Walk the chain and say whether it is whole."""
    verdict = await call(chain.checked_log, keeper, person)
    found = await call(chain.latest, keeper, person, most=LINES)
    return show(request, "log.html", entries=found, verdict=verdict)
