"""How many people of each kind there are: exactly where that can be worked out, within bounds or estimated elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.worlds.blocks import Block, divided
from manyveils.attacks.worlds.counting import TooManyStates, mean_people
from manyveils.attacks.worlds.effort import SCALING, Effort
from manyveils.attacks.worlds.exact import Undecided, Worlds
from manyveils.attacks.worlds.kinds import Kinds
from manyveils.attacks.worlds.linear import Relaxed

How = Literal["exact", "bounds", "estimate"]
ORDER: tuple[How, ...] = ("exact", "bounds", "estimate")
LEAST_ROUNDS, MOST_ROUNDS = 20, 500
CLOSE = 1e-7


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
class SolvedBlock:
    """A block with the mean number of people of each kind, and whether someone may be of it at all.

    `beliefs` says whether the means are exact, `certainty` whether what is possible is.
    """

    block: Block
    expected: Floats
    possible: Bools
    beliefs: How
    certainty: How

    def between(self, inside: Ids, effort: Effort) -> tuple[int, int]:
        """The least and the most people that some kinds of the block have in any world; bounds where not exact."""
        if self.certainty == "exact":
            try:
                return Worlds(self.block, effort).between(inside)
            except Undecided:
                pass
        if self.certainty != "estimate":
            return Relaxed(self.block, effort).between(inside)
        return int(self.block.low[inside].sum()), int(self.block.high[inside].sum())


@dataclass(frozen=True, repr=False)
class Solution:
    """The kinds of people that some views allow, and how many there are of each."""

    kinds: Kinds
    blocks: tuple[SolvedBlock, ...]
    expected: Floats
    possible: Bools
    settled: Ids

    @property
    def beliefs(self) -> How:
        """Whether the means are exact."""
        return worst([solved.beliefs for solved in self.blocks])

    @property
    def certainty(self) -> How:
        """Whether what is possible is known exactly."""
        return worst([solved.certainty for solved in self.blocks])

    @cached_property
    def _block_of(self) -> Ids:
        """The block of each kind, -1 for those that are settled."""
        block_of = np.full(self.kinds.size, -1, dtype=np.int64)
        for number, solved in enumerate(self.blocks):
            block_of[solved.block.kinds] = number
        return block_of

    def between(self, group: Ids, effort: Effort) -> tuple[int, int]:
        """The least and the most people that a group of kinds has in any world; bounds where not exact."""
        settled = self.settled[group]
        least = most = int(settled[settled > 0].sum())
        block_of = self._block_of[group]
        for number in np.unique(block_of[block_of >= 0]).tolist():
            solved = self.blocks[number]
            inside = np.flatnonzero(np.isin(solved.block.kinds, group[block_of == number]))
            low, high = solved.between(inside, effort)
            least, most = least + low, most + high
        return least, most


def worst(ways: Sequence[How]) -> How:
    """The least exact of several ways."""
    return max(ways, key=ORDER.index, default="exact")


def solved(kinds: Kinds, limits: Limits, *, is_simple: bool) -> Solution:
    """Work out every block in the best way there is effort for; one after the other, small ones first.

    With one view whose columns share nothing (`is_simple`) proportions are exact and every kind is possible.
    """
    (blocks, settled), effort = divided(kinds), Effort(limits.effort)
    results: list[SolvedBlock] = []
    for block in sorted(blocks, key=lambda block: block.size):
        with effort.share(min(2 / (len(blocks) - len(results)), 1)) as own:
            results.append(_simple(block, own) if is_simple else _solved_block(block, limits, own))
    expected = np.maximum(settled, 0).astype(np.float64)
    possible = settled > 0
    for result in results:
        expected[result.block.kinds], possible[result.block.kinds] = result.expected, result.possible
    return Solution(kinds, tuple(results), expected, possible, settled)


def _simple(block: Block, effort: Effort) -> SolvedBlock:
    return SolvedBlock(block, _fitted(block, effort), np.ones(block.size, dtype=bool), "exact", "exact")


def _solved_block(block: Block, limits: Limits, effort: Effort) -> SolvedBlock:
    means = _counted(block, limits, effort)
    if means is not None:
        return SolvedBlock(block, means, means > 0, "exact", "exact")
    result = replace(_simple(block, effort), beliefs="estimate", certainty="estimate")
    if block.size <= limits.exact:
        try:
            # Half of the effort is left for bounds.
            with effort.share(0.5) as half:
                return replace(result, possible=Worlds(block, half).possible(), certainty="exact")
        except Undecided:
            pass
    if block.size <= limits.linear and not effort.is_spent:
        return replace(result, possible=Relaxed(block, effort).possible(), certainty="bounds")
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


def _fitted(block: Block, effort: Effort) -> Floats:
    """The numbers of people per kind that are likeliest among very many worlds: iterative proportional fitting.

    Every row in turn is scaled to the people that stand in it, over and over. Where the views hang together as a tree,
    or there is one view only, this is the exact mean; elsewhere it is the estimate of least assumption, good for many
    people and rough for few. It is kept between the least and the most people of each kind.
    """
    people, totals = block.ways.astype(np.float64), block.totals
    for turn in range(MOST_ROUNDS):
        furthest = 0.0
        for rows in block.rows:
            reached = np.bincount(rows, weights=people, minlength=totals.size)
            factor = np.divide(totals, reached, out=np.zeros(totals.size), where=reached > 0)[rows]
            people = people * factor
            furthest = max(furthest, float(np.abs(factor - 1)[people > CLOSE].max(initial=0)))
        effort.spend(SCALING * (block.rows.size + totals.size))
        if furthest < CLOSE or (turn >= LEAST_ROUNDS and effort.is_spent):
            break
    return np.clip(people, block.low, block.high)
