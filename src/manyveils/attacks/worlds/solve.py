"""How many people of each kind there are: exactly where that can be worked out, within bounds or estimated elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from manyveils.attacks.people import Bools, Floats
from manyveils.attacks.worlds.blocks import Block, Effort, divided
from manyveils.attacks.worlds.kinds import Kinds
from manyveils.attacks.worlds.means import TooManyStates, fitted_people, mean_people
from manyveils.attacks.worlds.possible import Undecided, possible_at_most, possible_exactly

How = Literal["exact", "bounds", "estimate"]
ORDER: tuple[How, ...] = ("exact", "bounds", "estimate")


@dataclass(frozen=True)
class Limits:
    """How much work is allowed: kinds of people in all, states to remember while counting, and in one block the kinds
    that are counted, solved exactly and bounded; and the effort for each question, in units of about a second.
    """

    kinds: int = 1_000_000
    states: int = 20_000
    counted: int = 400
    exact: int = 3_000
    linear: int = 20_000
    effort: float = 10.0


@dataclass(frozen=True, repr=False)
class Solution:
    """The mean number of people of each kind of a block, or of all kinds, and whether someone may be of it at all.

    `beliefs` says whether the means are exact, `certainty` whether what is possible is.
    """

    expected: Floats
    possible: Bools
    beliefs: How
    certainty: How


def worst(ways: Iterable[How]) -> How:
    """The least exact of several ways."""
    return max(ways, key=ORDER.index, default="exact")


def solved(kinds: Kinds, limits: Limits, *, is_simple: bool) -> Solution:
    """Work out every block in the best way there is effort for; one after the other, small ones first.

    With one view whose columns share nothing (`is_simple`) proportions are exact and every kind is possible.
    """
    (blocks, settled), effort = divided(kinds), Effort(limits.effort)
    expected, possible = np.maximum(settled, 0).astype(np.float64), settled > 0
    results: list[Solution] = []
    for block in sorted(blocks, key=lambda block: block.size):
        with effort.share(min(2 / (len(blocks) - len(results)), 1)) as own:
            results.append(_fitted(block, "exact", own) if is_simple else _solved_block(block, limits, own))
        expected[block.kinds], possible[block.kinds] = results[-1].expected, results[-1].possible
    ways = worst(result.beliefs for result in results), worst(result.certainty for result in results)
    return Solution(expected, possible, *ways)


def _fitted(block: Block, how: How, effort: Effort) -> Solution:
    return Solution(fitted_people(block, effort), np.ones(block.size, dtype=bool), how, how)


def _solved_block(block: Block, limits: Limits, effort: Effort) -> Solution:
    means = _counted(block, limits, effort)
    if means is not None:
        return Solution(means, means > 0, "exact", "exact")
    result = _fitted(block, "estimate", effort)
    if block.size <= limits.exact:
        try:
            # Half of the effort is left for bounds.
            with effort.share(0.5) as half:
                return replace(result, possible=possible_exactly(block, half), certainty="exact")
        except Undecided:
            pass
    if block.size <= limits.linear and not effort.is_spent:
        return replace(result, possible=possible_at_most(block, effort), certainty="bounds")
    return result


def _counted(block: Block, limits: Limits, effort: Effort) -> Floats | None:
    """The mean over the worlds of a small block, counted; a third of the effort is ventured on it."""
    if block.size > limits.counted:
        return None
    try:
        with effort.share(1 / 3) as own:
            return mean_people(block, limits.states, own)
    except TooManyStates:
        return None
