"""Why there is no plan: which threshold fails, what can be reached, and by which plan."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Protocol

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.codip.anonymizer import Anonymizer, Names
from manyveils.methods.codip.association import HAIR, Plan
from manyveils.methods.codip.frontier import MOST_PARTS, Frontier
from manyveils.methods.codip.parts import told, told_part
from manyveils.policy.guarantees import Closeness
from manyveils.promises.explain import whole_table_problems
from manyveils.promises.keeping import watch_counts
from manyveils.promises.work import Work


class _Limits(Protocol):
    @property
    def alpha(self) -> Fraction: ...
    @property
    def told_beta(self) -> str: ...


def refuse_parts(
    work: Work, parts: Plan, anonymizer: Anonymizer, discernibility: float | None, *, is_given: bool
) -> None:
    """Tables that cannot be anonymized as they are; if each holds as little as it can, no plan can help."""
    unfit = [part for part in parts if not anonymizer.fits(tuple(work.sensitive[member] for member in part))]
    problems: list[Problem] = []
    worst: dict[str, tuple[float, Problem]] = {}
    for part in unfit:
        names = tuple(work.sensitive[member] for member in part)
        promises = tuple(p for p in work.promises if set(p.protects) <= set(names))
        found = list(whole_table_problems(work, watch_counts(work, promises, names)))
        if found:
            problems += [_parted(work, problem, part) if is_given else problem for problem in found]
            continue
        reached = anonymizer.best_closeness(names, discernibility)
        problem = _unfit(work, names, ", ".join(told_part(work, part)), reached, discernibility)
        # The values of one attribute are told once, with the one that is hardest to keep.
        key = "+".join(dict.fromkeys(work.table.home(name) for name in names))
        worst[key] = max(worst.get(key, (-1.0, problem)), (reached or 0.0, problem), key=lambda pair: pair[0])
    problems += [problem for _, problem in worst.values()]
    if problems:
        raise InfeasibleError(dict.fromkeys(problems))


def _parted(work: Work, problem: Problem, part: tuple[int, ...]) -> Problem:
    return (
        Problem(problem.where, problem.what, "Put its attributes into different tables of plan.")
        if len(part) > 1
        else problem
    )


def _unfit(
    work: Work, names: Names, told_names: str, reached: float | None, discernibility: float | None
) -> Problem:
    where = f"{work.policy.name}: publish.discernibility"
    if discernibility is None:
        what = f"no table with {told_names} keeps every promise."
        return Problem(f"{work.policy.name}: guarantee", what, "Lower a threshold.")
    what = f"no table with {told_names} keeps every promise within {discernibility:,.0f}"
    is_close = any(
        isinstance(p.guarantee, Closeness) and set(p.protects) <= set(names) for p in work.promises
    )
    if reached is None or not is_close:
        return Problem(where, f"{what}.", "Raise it, or lower a threshold of the guarantee.")
    said = f"{what}; the best closeness within it is {reached:.4f}."
    return Problem(where, said, f"Raise it, or raise t to {_up(reached):g}.")


def refuse_loss(
    work: Work,
    said: str,
    plan: Plan,
    lost: float,
    best: tuple[Plan, float] | None,
    limits: _Limits,
    frontier: Frontier | None,
    how: str,
) -> InfeasibleError:
    """The plan that was found or given loses too much association; `best` is the best that can be reached, if known."""
    remedies = list(_remedies(lost, best, limits.alpha, frontier, how))
    if best is None:
        said += f" It is {told(work, plan)}."
    else:
        said += f" The best plan within {limits.told_beta} loses {best[1]:.4f}: {told(work, best[0])}."
    first, *rest = remedies
    remedy = f"{first}{''.join(f', or {each}' for each in rest)}."
    return InfeasibleError([Problem(f"{work.policy.name}: publish.alpha", said, remedy)])


def _remedies(
    lost: float, best: tuple[Plan, float] | None, alpha: Fraction, frontier: Frontier | None, how: str
) -> Iterator[str]:
    elsewhere = {"given": 'drop plan and use search = "optimal"', "optimal": ""}.get(
        how, 'use search = "optimal"'
    )
    if best is not None and best[1] <= alpha + HAIR and elsewhere:
        yield f"{elsewhere[0].upper()}{elsewhere[1:]}"
        yield f"raise alpha to {_up(lost):g}"
        return
    yield f"Raise alpha to {_up(lost):g}"
    if best is None and how == "greedy":
        yield 'try search = "patient"'
    if best is not None and elsewhere and best[1] < lost:
        yield f"{elsewhere} with alpha = {_up(best[1]):g}"
    place = None if frontier is None else frontier.least_exposed(alpha)
    if frontier is not None and place is not None:
        at = f"raise beta to {_up(float(frontier.exposure(place))):g}"
        yield f'{at} with search = "optimal"' if elsewhere else at


def refuse_exposure(
    work: Work, plan: Plan, exposure: float, told_beta: str, *, is_given: bool
) -> InfeasibleError:
    """The plan that was given, or what must stay together, exposes too much."""
    what = f"{told(work, plan)} exposes {exposure:.4f}, more than {told_beta}."
    remedy = f"Raise beta to {_up(exposure):g}, or " + (
        "divide the attributes further." if is_given else "protect fewer attributes as one (joint)."
    )
    return InfeasibleError([Problem(f"{work.policy.name}: publish.beta", what, remedy)])


def refuse_many(work: Work, n_parts: int) -> None:
    """The exact frontier doubles its work with every part."""
    if n_parts > MOST_PARTS:
        what = f"{n_parts} sensitive attributes, {MOST_PARTS} at most for the exact frontier; "
        what += "each value of a multi-valued attribute counts as one."
        remedy = 'Use search = "patient".'
        raise PolicyError([Problem(f"{work.policy.name}: publish.search", what, remedy)])


def _up(ratio: float) -> float:
    """A threshold with four decimals that the ratio stays within."""
    return min(ceil(ratio * 10_000) / 10_000, 1.0)
