"""CODIP*: merge the attributes that share most, as long as the plan stays within its limits."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from manyveils.methods.codip.association import HAIR, Association, Members, Plan

Fits = Callable[[Members], bool]
EXPOSES, DOES_NOT_FIT = "exposes too much", "cannot be anonymized"


@dataclass(frozen=True)
class Merge:
    """One merge that was tried: the attributes it puts together, the plan it gives, and why it was refused, if it was."""

    members: Members
    plan: Plan
    refused: str = ""


def merged_plan(
    association: Association, parts: Plan, fits: Fits, beta: Fraction, *, patient: bool
) -> tuple[Plan, tuple[Merge, ...]]:
    """Merge from `parts` on; greedily up to the first refusal, or patiently until every merge is refused."""
    plan, tried = tuple(sorted(parts)), []
    while len(plan) > 1:
        for one, other in _by_average(association, plan):
            members = tuple(sorted((*one, *other)))
            after = tuple(sorted({*plan, members} - {one, other}))
            merge = Merge(members, after, _refusal(association, members, after, fits, beta))
            tried.append(merge)
            if not merge.refused or not patient:
                break
        if merge.refused:
            break
        plan = merge.plan
    return plan, tuple(tried)


def _by_average(association: Association, plan: Plan) -> list[tuple[Members, Members]]:
    """The pairs of parts, those first whose union shares most on average."""
    return sorted(combinations(plan, 2), key=lambda pair: -association.average((*pair[0], *pair[1])))


def _refusal(association: Association, members: Members, after: Plan, fits: Fits, beta: Fraction) -> str:
    if association.exposure(after) > beta + HAIR:
        return EXPOSES
    return "" if fits(members) else DOES_NOT_FIT
