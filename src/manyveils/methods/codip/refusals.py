"""Why there is no plan: which threshold fails, what can be reached, and by which plan."""

from collections.abc import Iterator
from math import ceil

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.codip.association import TOLERANCE, Members, Plan
from manyveils.methods.codip.frontier import MOST_PARTS, Frontier
from manyveils.methods.codip.plans import Outcome, Search, smallest_parts, told, told_part
from manyveils.policy.guarantees import Closeness
from manyveils.promises.explain import whole_table_problems
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work


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
    if problems:
        raise InfeasibleError(dict.fromkeys(problems))


def _unfit(search: Search, part: Members) -> tuple[float, Problem]:
    """The closeness that a table can reach within the limit, and why that is not enough."""
    policy, limit, names = search.work.policy, search.limits.discernibility, set(search.names(part))
    what = f"no table with {told_part(search.work, part)} keeps every promise"
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
    return InfeasibleError([Problem(f"{work.policy.name}: publish.alpha", what, remedy)])


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
    return InfeasibleError([Problem(f"{search.work.policy.name}: publish.beta", what, remedy)])


def refuse_many(work: Work) -> None:
    """The exact frontier doubles its work with every part."""
    n_parts = len(smallest_parts(work))
    if n_parts > MOST_PARTS:
        what = f"{n_parts} sensitive attributes, {MOST_PARTS} at most for the exact frontier; "
        what += "each value of a multi-valued attribute counts as one."
        remedy = 'Use search = "patient".'
        raise PolicyError([Problem(f"{work.policy.name}: publish.search", what, remedy)])


def _up(ratio: float) -> float:
    """The ratio rounded up to four decimals: a threshold that it stays within."""
    return min(ceil(ratio * 10_000) / 10_000, 1.0)
