"""The JSON API under /api/v1: translates requests into calls of the server's functions, and nothing else."""

from fastapi import APIRouter

from manyveils.server.api import accounts, catalogue, grants, interpretation, jobs, log

PREFIX = "/api/v1"


def router() -> APIRouter:
    """All topics under one prefix."""
    whole = APIRouter(prefix=PREFIX)
    for topic in (accounts, catalogue, grants, interpretation, jobs, log):
        whole.include_router(topic.router)
    return whole
