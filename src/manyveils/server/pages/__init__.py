"""The pages: small, rendered on the server, and usable without scripts."""

from fastapi import APIRouter

from manyveils.server.pages import files, log, owners, visitors
from manyveils.server.pages.routing import PageRoute, refused

__all__ = ["refused", "router"]


def router() -> APIRouter:
    """All pages; they are not part of the API's description."""
    whole = APIRouter(route_class=PageRoute, include_in_schema=False)
    for part in (visitors.router, owners.router, log.router, files.router):
        whole.include_router(part)
    return whole
