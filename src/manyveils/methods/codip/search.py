"""Find a plan: by merging the attributes that share most (CODIP*), by working out the frontier, or as it was given."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from manyveils.methods.codip.association import TOLERANCE, Association, Fits, Members, Plan, sums_between
from manyveils.methods.codip.frontier import Frontier, frontier_of
from manyveils.methods.codip.plans import Merge, Outcome, Search, smallest_parts
from manyveils.methods.codip.refusals import refuse_exposure, refuse_loss, refuse_parts
from manyveils.promises.entries import Ids

# The frontier of so few parts costs next to nothing, and is worked out for comparison.
FEW_PARTS = 12


def find(search: Search, how: str, given: Plan | None) -> Outcome:
    """A plan within all limits; an error that says what can be reached if there is none."""
    parts = smallest_parts(search.work) if given is None else given
    refuse_parts(search, parts, is_given=given is not None)
    exposure = search.association.exposure(parts)
    if exposure > search.limits.beta + TOLERANCE:
        raise refuse_exposure(search, parts, float(exposure), is_given=given is not None)
    if given is not None:
        outcome = Outcome(given, "given", frontier=_for_comparison(search))
    elif how == "optimal":
        frontier = search.frontier(parts)
        best = frontier.best_within(search.limits.beta)
        # The parts themselves fit and are within beta.
        assert best is not None
        outcome = Outcome(frontier.plan(best), how, frontier=frontier)
    else:
        plan, merges = merged_plan(
            search.association, parts, search.fits, search.limits.beta, patient=how == "patient"
        )
        outcome = Outcome(plan, how, merges, _for_comparison(search))
    if search.association.loss(outcome.plan) > search.limits.alpha + TOLERANCE:
        raise refuse_loss(search, outcome)
    return outcome


def _for_comparison(search: Search) -> Frontier | None:
    parts = smallest_parts(search.work)
    return frontier_of(search.association, parts) if len(parts) <= FEW_PARTS else None


def merged_plan(
    association: Association, parts: Plan, fits: Fits, beta: Fraction, *, patient: bool
) -> tuple[Plan, tuple[Merge, ...]]:
    """Merge from `parts` on; greedily up to the first refusal, or patiently until every merge is refused."""
    plan = tuple(sorted(parts))
    # What tables share with each other; on the diagonal every pair inside a table is counted twice.
    between = sums_between(association.shared, plan)
    tried: list[Merge] = []
    while len(plan) > 1:
        for first, second in _pairs(plan, between):
            members = tuple(sorted((*plan[first], *plan[second])))
            rest = (part for number, part in enumerate(plan) if number not in (first, second))
            merge = _tried(association, members, tuple(sorted((*rest, members))), fits, beta)
            tried.append(merge)
            if not merge.refused or not patient:
                break
        if tried[-1].refused:
            break
        between = _united(between, first, second)
        united = [members if number == first else part for number, part in enumerate(plan)]
        order = sorted(set(range(len(plan))) - {second}, key=united.__getitem__)
        plan, between = tuple(united[number] for number in order), between[np.ix_(order, order)]
    return plan, tuple(tried)


def _tried(association: Association, members: Members, plan: Plan, fits: Fits, beta: Fraction) -> Merge:
    if association.exposure(plan) > beta + TOLERANCE:
        return Merge(members, plan, "exposes too much")
    return Merge(members, plan, "" if fits(members) else "cannot be anonymized")


def _pairs(plan: Plan, between: Ids) -> Iterator[tuple[int, int]]:
    """Pairs of tables, those first whose union shares most on average; of equals the first."""
    first, second = np.triu_indices(len(plan), k=1)
    inside = np.diag(between) // 2
    sizes = np.array([len(part) for part in plan])
    n_members = sizes[first] + sizes[second]
    # Whole numbers below 2^53, so equal means are equal numbers.
    means = (inside[first] + inside[second] + between[first, second]) / (n_members * (n_members - 1) // 2)
    for pair in np.argsort(-means, kind="stable"):
        yield int(first[pair]), int(second[pair])


def _united(between: Ids, first: int, second: int) -> Ids:
    """The sums after the second table joined the first: a merge changes one row and one column."""
    united = between.copy()
    united[first] += united[second]
    united[:, first] += united[:, second]
    return united
