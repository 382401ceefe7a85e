"""The log, for auditors and owners."""

from typing import Annotated

from fastapi import APIRouter, Query

from manyveils.server import chain
from manyveils.server.api.access import KeeperOf, Someone, refusals
from manyveils.server.chain import Entry, Verdict

router = APIRouter(prefix="/log", tags=["log"])
After = Annotated[int, Query(ge=0, le=2**53)]
Most = Annotated[int, Query(ge=1, le=1000)]


@router.get("", responses=refusals(401, 403, 422))
def entries(person: Someone, keeper: KeeperOf, after: After = 0, most: Most = 100) -> list[Entry]:
    """Entries with numbers above one, oldest first."""
    return chain.entries(keeper, person, after=after, most=most)


@router.get("/verify", responses=refusals(401, 403))
def verify(person: Someone, keeper: KeeperOf) -> Verdict:
    """Walk the log and name the first number that does not fit."""
    return chain.checked_log(keeper, person)
