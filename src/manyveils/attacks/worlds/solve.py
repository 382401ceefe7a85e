"""How many people of each kind there are: exactly where that can be worked out, within bounds or estimated elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.worlds.blocks import Block, divided
from manyveils.attacks.worlds.covers import Ids
from manyveils.attacks.worlds.effort import Effort
from manyveils.attacks.worlds.exact import Undecided, Worlds
from manyveils.attacks.worlds.fit import fitted_block
from manyveils.attacks.worlds.kinds import Kinds
from manyveils.attacks.worlds.linear import Relaxed
from manyveils.attacks.worlds.tally import Tally, TooManyStates, tally

How = Literal["exact", "bounds", "estimate"]
ORDER: tuple[How, ...] = ("exact", "bounds", "estimate")


@dataclass(frozen=True)
class Limits:
    """How much work is allowed: kinds of people in all, states to remember while counting, and in one block the kinds
    that are counted, solved exactly and bounded; and the effort for each question, in units of about a second.
    """

    kinds: int = 1_000_000
    states: int = 20_000
    tallied: int = 400
    exact: int = 3_000
    linear: int = 20_000
    effort: float = 10.0


@dataclass(frozen=True, repr=False)
class SolvedBlock:
    """A block with the mean number of people of each kind, and whether someone may be of it at all.

    `beliefs` says whether the means are exact, `certainty` whether what is possible is.
    """

    block: Block
    expected: NDArray[np.float64]
    possible: NDArray[np.bool_]
    beliefs: How
    certainty: How
    n_worlds: int | None = None


@dataclass(frozen=True, repr=False)
class Solution:
    """The kinds of people that some views allow, and how many there are of each."""

    kinds: Kinds
    blocks: tuple[SolvedBlock, ...]
    expected: NDArray[np.float64]
    possible: NDArray[np.bool_]
    settled: Ids
    beliefs: How
    certainty: How
    n_worlds: int | None

    @cached_property
    def _block_of(self) -> Ids:
        """The block of each kind, -1 for those that are settled."""
        found = np.full(self.kinds.size, -1, dtype=np.int64)
        for place, one in enumerate(self.blocks):
            found[one.block.kinds] = place
        return found

    def between(self, group: Ids, effort: Effort) -> tuple[int, int]:
        """The least and the most people that a group of kinds has in any world; bounds where not exact."""
        settled = self.settled[group]
        least = most = int(settled[settled > 0].sum())
        homes = self._block_of[group]
        for place in np.unique(homes[homes >= 0]).tolist():
            one = self.blocks[place]
            inside = np.flatnonzero(np.isin(one.block.kinds, group[homes == place]))
            low, high = _between_in(one, inside, effort)
            least, most = least + low, most + high
        return least, most


def worst(found: Sequence[How]) -> How:
    """The least exact of several ways."""
    return max(found, key=ORDER.index, default="exact")


def solved(kinds: Kinds, limits: Limits, *, is_simple: bool) -> Solution:
    """Work out every block in the best way there is effort for; one after the other, small ones first.

    With one view whose columns share nothing (`is_simple`) proportions are exact and every kind is possible.
    """
    parts, effort = divided(kinds), Effort(limits.effort)
    blocks: list[SolvedBlock] = []
    for block in sorted(parts.blocks, key=lambda each: each.size):
        with effort.share(min(2 / (len(parts.blocks) - len(blocks)), 1)) as own:
            blocks.append(_simple(block, own) if is_simple else _solved_block(block, limits, own))
    expected = np.maximum(parts.settled, 0).astype(np.float64)
    possible = parts.settled > 0
    for one in blocks:
        expected[one.block.kinds], possible[one.block.kinds] = one.expected, one.possible
    numbers = [one.n_worlds for one in blocks]
    return Solution(
        kinds,
        tuple(blocks),
        expected,
        possible,
        parts.settled,
        worst([one.beliefs for one in blocks]),
        worst([one.certainty for one in blocks]),
        None if None in numbers else prod(number for number in numbers if number is not None),
    )


def _simple(block: Block, effort: Effort) -> SolvedBlock:
    return SolvedBlock(block, fitted_block(block, effort), np.ones(block.size, dtype=bool), "exact", "exact")


def _solved_block(block: Block, limits: Limits, effort: Effort) -> SolvedBlock:
    counted = _counted(block, limits, effort)
    if counted is not None:
        means = counted.expected
        return SolvedBlock(block, means, means > 0, "exact", "exact", counted.n_worlds)
    means = fitted_block(block, effort)
    anything = np.ones(block.size, dtype=bool)
    found = SolvedBlock(block, means, anything, "estimate", "estimate")
    singles = [np.array([kind]) for kind in range(block.size)]
    if block.size <= limits.exact:
        try:
            # Half of the effort is left for bounds.
            with effort.share(0.5) as half:
                return replace(found, possible=Worlds(block, half).ever(singles), certainty="exact")
        except Undecided:
            pass
    if block.size <= limits.linear and not effort.is_spent:
        return replace(found, possible=Relaxed(block, effort).ever(singles), certainty="bounds")
    return found


def _counted(block: Block, limits: Limits, effort: Effort) -> Tally | None:
    """The worlds of a small block, counted; a third of the effort is ventured on it."""
    if block.size > limits.tallied:
        return None
    try:
        with effort.share(1 / 3) as own:
            return tally(block, limits.states, own)
    except TooManyStates:
        return None


def _between_in(one: SolvedBlock, inside: Ids, effort: Effort) -> tuple[int, int]:
    if one.certainty == "exact":
        try:
            return Worlds(one.block, effort).between(inside)
        except Undecided:
            pass
    if one.certainty != "estimate":
        return Relaxed(one.block, effort).between(inside)
    return int(one.block.low[inside].sum()), int(one.block.high[inside].sum())
