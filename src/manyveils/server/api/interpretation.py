"""Values, rules and small tables read with a release's key."""

from fastapi import APIRouter

from manyveils.keys import Meaning
from manyveils.server import interpretation
from manyveils.server.api.access import KeeperOf, Someone, refusals
from manyveils.server.api.models import IdInPath, RuleAsked, RuleSaid, TableAsked, TableSaid, ValueAsked

router = APIRouter(prefix="/releases/{release}/interpret", tags=["interpretation"])
REFUSALS = refusals(400, 401, 403, 404, 409, 413, 422, 429)


@router.post("/value", responses=REFUSALS)
def value(release: IdInPath, asked: ValueAsked, person: Someone, keeper: KeeperOf) -> Meaning:
    """What a published value means; for owners, and for researchers with a grant."""
    return interpretation.read_value(keeper, person, release, asked.attribute, asked.published).meanings[0]


@router.post("/rule", responses=REFUSALS)
def rule(release: IdInPath, asked: RuleAsked, person: Someone, keeper: KeeperOf) -> RuleSaid:
    """A rule with meanings in place of codes and grades; each different meaning counts."""
    answer = interpretation.read_rule(keeper, person, release, asked.rule)
    return RuleSaid(rule=answer.read, meanings=answer.cost)


@router.post("/table", responses=REFUSALS)
def table(release: IdInPath, asked: TableAsked, person: Someone, keeper: KeeperOf) -> TableSaid:
    """A table of at most 1,000 cells, cell by cell; each different meaning counts."""
    answer = interpretation.read_table(keeper, person, release, asked.names, asked.rows)
    return TableSaid(names=asked.names, rows=answer.read, meanings=answer.cost)
