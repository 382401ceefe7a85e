"""Why there is no plan: which threshold fails, what can be reached, and by which plan."""

from fractions import Fraction
from math import ceil

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.methods.codip.anonymizer import Anonymizer, Names
from manyveils.methods.codip.association import HAIR, Plan
from manyveils.methods.codip.frontier import MOST_PARTS, Frontier
from manyveils.methods.codip.parts import told, told_part
from manyveils.methods.explain import whole_table_problems
from manyveils.methods.keeping import watch
from manyveils.methods.work import Work


def refuse_parts(work: Work, parts: Plan, anonymizer: Anonymizer, discernibility: float | None) -> None:
    """Tables that cannot be anonymized even by themselves: no plan can help."""
    problems: list[Problem] = []
    for part in parts:
        names = tuple(work.sensitive[member] for member in part)
        if anonymizer.fits(names):
            continue
        promises = tuple(p for p in work.promises if set(p.protects) <= set(names))
        found = list(whole_table_problems(work, watch(promises, work.table, names)))
        problems += found or [
            _unfit(work, names, ", ".join(told_part(work, part)), anonymizer, discernibility)
        ]
    if problems:
        raise InfeasibleError(dict.fromkeys(problems))


def _unfit(
    work: Work, names: Names, told_names: str, anonymizer: Anonymizer, discernibility: float | None
) -> Problem:
    where = f"{work.policy.name}: publish.discernibility"
    reached = anonymizer.best_closeness(names, discernibility)
    if discernibility is None:
        what = f"no table with {told_names} keeps every promise."
        return Problem(f"{work.policy.name}: guarantee", what, "Lower a threshold.")
    if reached is None:
        what = f"no table with {told_names} has classes of the size asked and a discernibility of at most {discernibility:,.0f}."
        return Problem(where, what, "Raise it, or lower k.")
    what = f"no table with {told_names} keeps every promise within {discernibility:,.0f}; the best closeness within it is {reached:.4f}."
    remedy = f"Raise it, or raise t to {ceil(reached * 10_000) / 10_000:g}."
    return Problem(where, what, remedy)


def refuse_loss(
    work: Work, said: str, best: Plan, reached: float, alpha: Fraction, frontier: Frontier | None
) -> InfeasibleError:
    """The plan that was found loses too much association; `best` is the best that can be reached."""
    where = f"{work.policy.name}: publish.alpha"
    said += f" The best plan loses {reached:.4f}: {told(work, best)}."
    if reached <= alpha + HAIR:
        return InfeasibleError([Problem(where, said, 'Use search = "optimal".')])
    place = None if frontier is None else frontier.least_exposed(alpha)
    remedy = f"Raise alpha to {_up(reached):g}"
    if frontier is not None and place is not None:
        remedy += f', or beta to {_up(float(frontier.exposure(place))):g} with search = "optimal"'
    return InfeasibleError([Problem(where, said, f"{remedy}.")])


def refuse_exposure(work: Work, plan: Plan, exposure: float, beta: float) -> InfeasibleError:
    """The plan that was given, or what must stay together, exposes too much."""
    what = f"{told(work, plan)} exposes {exposure:.4f}, more than beta = {beta:g}."
    remedy = f"Raise beta to {_up(exposure):g}, or divide the attributes further."
    return InfeasibleError([Problem(f"{work.policy.name}: publish.beta", what, remedy)])


def refuse_many(work: Work, n_parts: int) -> None:
    """The exact frontier doubles its work with every part."""
    if n_parts > MOST_PARTS:
        what = f"{n_parts} sensitive attributes, {MOST_PARTS} at most for the exact frontier."
        remedy = 'Use search = "patient".'
        raise PolicyError([Problem(f"{work.policy.name}: publish.search", what, remedy)])


def _up(ratio: float) -> float:
    """A threshold with four decimals that the ratio stays within."""
    return min(ceil(ratio * 10_000) / 10_000, 1.0)
