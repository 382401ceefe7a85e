"""Grants: all for owners, their own for researchers."""

from typing import Annotated

from fastapi import APIRouter, Path

from manyveils.server import grants
from manyveils.server.api.access import KeeperOf, Someone, refusals
from manyveils.server.api.models import NewGrant
from manyveils.server.grants import Grant

router = APIRouter(tags=["grants"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("/grants", responses=refusals(401, 403))
def all_grants(person: Someone, keeper: KeeperOf) -> list[Grant]:
    """Every grant for owners, their own for researchers."""
    return grants.all_grants(keeper, person)


@router.put("/grants", responses=refusals(400, 401, 403, 404, 413, 422))
def give_grant(grant: NewGrant, person: Someone, keeper: KeeperOf) -> Grant:
    """Grant a researcher a release, or change the grant; for owners."""
    limit, expires = grant.daily_limit, grant.expires.timestamp()
    return grants.give_grant(
        keeper, person, grant.researcher, grant.release, daily_limit=limit, expires=expires
    )


@router.delete("/grants/{number}", responses=refusals(401, 403, 404, 422))
def end_grant(number: Number, person: Someone, keeper: KeeperOf) -> Grant:
    """Let a grant expire now; for owners."""
    return grants.end_grant(keeper, person, number)
