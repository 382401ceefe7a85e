"""The pages: small, rendered on the server, and usable without scripts."""

from fastapi import APIRouter

from manyveils.server.pages import owners, visitors
from manyveils.server.pages.routing import pages, show

__all__ = ["router", "show"]


def router() -> APIRouter:
    """All pages; they are not part of the API's description."""
    whole = pages()
    whole.include_router(visitors.router)
    whole.include_router(owners.router)
    return whole
