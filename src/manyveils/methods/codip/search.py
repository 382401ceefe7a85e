"""Find a plan: by merging (CODIP*), from the frontier, or as given; if there is none, say which threshold fails and why."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.codip.association import (
    MOST_PARTS,
    TOLERANCE,
    Association,
    Fits,
    Frontier,
    Members,
    Plan,
    frontier_of,
    sums_between,
)
from manyveils.methods.codip.plans import Merge, Outcome, Search, smallest_parts, told, told_part
from manyveils.policy.guarantees import Closeness
from manyveils.promises.entries import Ids
from manyveils.promises.explain import whole_table_problems
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work

# The frontier of so few parts costs next to nothing, and is worked out for comparison.
FEW_PARTS = 12


def refuse_parts(search: Search, parts: Plan, *, is_given: bool) -> None:
    """Tables that cannot be anonymized as they are; if each holds as little as it can, no plan can help."""
    work = search.work
    problems: list[Problem] = []
    worst: dict[str, tuple[float, Problem]] = {}
    for part in parts:
        if search.fits(part):
            continue
        names = search.names(part)
        promises = tuple(promise for promise in work.promises if set(promise.protects) <= set(names))
        broken = list(whole_table_problems(work, watch_counts(work, promises, names)))
        if is_given and len(part) > 1:
            remedy = "Put its attributes into different tables of plan."
            broken = [Problem(problem.where, problem.what, remedy) for problem in broken]
        problems += broken
        if not broken:
            reached, problem = _unfit(search, part)
            # The values of one attribute are told once, with the one that is hardest to keep.
            key = "+".join(dict.fromkeys(work.table.home(name) for name in names))
            if reached > worst.get(key, (-1.0,))[0]:
                worst[key] = reached, problem
    problems += [problem for _, problem in worst.values()]
    InfeasibleError.refuse(dict.fromkeys(problems))


def _unfit(search: Search, part: Members) -> tuple[float, Problem]:
    """The closeness that a table can reach within the limit, and why that is not enough."""
    policy, limit, names = search.work.policy, search.limits.discernibility, set(search.names(part))
    holding = f" with {told_part(search.work, part)}" if part else ""
    what = f"no table{holding} keeps every promise"
    if limit is None:
        return 0.0, Problem(f"{policy.name}: guarantee", f"{what}.", "Lower a threshold.")
    where, what = f"{policy.name}: publish.discernibility", f"{what} within {limit:,.0f}"
    reached = search.anonymizer.best_closeness(search.names(part), limit)
    is_close = any(
        isinstance(promise.guarantee, Closeness) and set(promise.protects) <= names
        for promise in search.work.promises
    )
    if reached is None or not is_close:
        remedy = "Raise it, or lower a threshold of the guarantee."
        return reached or 0.0, Problem(where, f"{what}.", remedy)
    what += f"; the best closeness within it is {reached:.4f}."
    return reached, Problem(where, what, f"Raise it, or raise t to {_up(reached):g}.")


def refuse_loss(search: Search, outcome: Outcome) -> InfeasibleError:
    """The plan loses too much: say how much, why no more was merged, and what the best plan would lose."""
    work, association, limits = search.work, search.association, search.limits
    lost = float(association.loss(outcome.plan))
    what = f"the plan {'given' if outcome.how == 'given' else 'found'} loses {lost:.4f} of the association, "
    what += f"more than alpha = {float(limits.alpha):g}{_refused_merge(search, outcome)}."
    frontier, parts = None, smallest_parts(work)
    if outcome.how == "optimal":
        frontier = outcome.frontier
    elif len(parts) <= MOST_PARTS and search.anonymizer.looks_up:
        frontier = search.frontier(parts)
    best = None if frontier is None else frontier.best_within(limits.beta)
    if frontier is None or best is None:
        best_loss = None
        what += f" It is {told(work, outcome.plan)}."
    else:
        best_loss = float(frontier.loss(best))
        what += f" The best plan within {limits.told_beta} loses {best_loss:.4f}: "
        what += f"{told(work, frontier.plan(best))}."
    remedy = ", or ".join(_remedies(search, outcome.how, lost, best_loss, frontier))
    remedy = f"{remedy[0].upper()}{remedy[1:]}."
    return InfeasibleError.at(f"{work.policy.name}: publish.alpha", what, remedy)


def _refused_merge(search: Search, outcome: Outcome) -> str:
    """The first merge that was refused after the last one that was made."""
    last_made = max((number for number, merge in enumerate(outcome.merges) if not merge.refused), default=-1)
    if last_made + 1 >= len(outcome.merges):
        return ""
    stop = outcome.merges[last_made + 1]
    exposure = float(search.association.exposure(stop.plan))
    told_limit = f"(exposure {exposure:.4f}, {search.limits.told_beta})"
    return f"; the next merge, {{{told_part(search.work, stop.members)}}}, {stop.refused} {told_limit}"


def _remedies(
    search: Search, how: str, lost: float, best_loss: float | None, frontier: Frontier | None
) -> Iterator[str]:
    alpha = search.limits.alpha
    optimal = {"given": 'drop plan and use search = "optimal"', "optimal": ""}.get(
        how, 'use search = "optimal"'
    )
    if best_loss is not None and best_loss <= alpha + TOLERANCE and optimal:
        yield optimal
        yield f"raise alpha to {_up(lost):g}"
        return
    yield f"raise alpha to {_up(lost):g}"
    if best_loss is None and how == "greedy":
        yield 'try search = "patient"'
    if best_loss is not None and optimal and best_loss < lost:
        yield f"{optimal} with alpha = {_up(best_loss):g}"
    least = None if frontier is None else frontier.least_exposed(alpha)
    if frontier is not None and least is not None:
        with_search = ' with search = "optimal"' if optimal else ""
        yield f"raise beta to {_up(float(frontier.exposure(least))):g}{with_search}"


def refuse_exposure(search: Search, plan: Plan, exposure: float, *, is_given: bool) -> InfeasibleError:
    """The plan that was given, or what must stay together, exposes too much."""
    what = f"{told(search.work, plan)} exposes {exposure:.4f}, more than {search.limits.told_beta}."
    instead = "divide the attributes further." if is_given else "protect fewer attributes as one (joint)."
    remedy = f"Raise beta to {_up(exposure):g}, or {instead}"
    return InfeasibleError.at(f"{search.work.policy.name}: publish.beta", what, remedy)


def refuse_many(work: Work) -> None:
    """The exact frontier doubles its work with every part."""
    n_parts = len(smallest_parts(work))
    if n_parts > MOST_PARTS:
        what = f"{n_parts} sensitive attributes, {MOST_PARTS} at most for the exact frontier; "
        what += "each value of a multi-valued attribute counts as one."
        raise PolicyError.at(f"{work.policy.name}: publish.search", what, 'Use search = "patient".')


def _up(ratio: float) -> float:
    """The ratio rounded up to four decimals: a threshold that it stays within."""
    return min(ceil(ratio * 10_000) / 10_000, 1.0)


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
    inside = np.diag(between) // 2
    sizes = np.array([len(part) for part in plan])
    n_members = sizes[:, np.newaxis] + sizes
    # Whole numbers below 2^53, so equal means are equal numbers.
    means = (inside[:, np.newaxis] + inside + between) / (n_members * (n_members - 1) // 2)
    means[np.tril_indices(len(plan))] = -1.0
    first = int(np.argmax(means))
    yield first // len(plan), first % len(plan)
    # Most searches go no further.
    pairs = np.argsort(-means, axis=None, kind="stable")[: len(plan) * (len(plan) - 1) // 2]
    for pair in pairs[1:].tolist():
        yield pair // len(plan), pair % len(plan)


def _united(between: Ids, first: int, second: int) -> Ids:
    """The sums after the second table joined the first: a merge changes one row and one column."""
    united = between.copy()
    united[first] += united[second]
    united[:, first] += united[:, second]
    return united
