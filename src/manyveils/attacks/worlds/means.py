"""The mean number of people of each kind in a block: counted over all its worlds, or fitted where they are too many.

Counting goes kind after kind, and remembers only how many people each row still lacks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.worlds.blocks import CHOICE, SCALING, Block, Effort

LEAST_ROUNDS, MOST_ROUNDS = 20, 500
CLOSE = 1e-7

State = tuple[int, ...]
Level = dict[State, int]


class TooManyStates(Exception):
    """Counting would have to remember more than was allowed."""


@dataclass(frozen=True)
class _Step:
    """A kind whose number is chosen: its rows, and how many people later kinds can still bring to each."""

    kind: int
    rows: State
    later: dict[int, int]
    low: int
    high: int
    ways: int


def mean_people(block: Block, limit: int, effort: Effort) -> Floats:
    """The mean number of people of each kind over all worlds of a block, which are counted exactly.

    `TooManyStates` if more than the limit would have to be remembered, or worked.
    """
    steps = list(_steps(block))
    levels: list[Level] = [{tuple(block.totals.tolist()): 1}]
    remembered = 1
    for step in steps:
        level: Level = {}
        for state, weight in levels[-1].items():
            for _, after, factor in _choices(state, step):
                level[after] = level.get(after, 0) + weight * factor
                # Going back takes as much again.
                effort.spend(2 * CHOICE)
            if remembered + len(level) > limit or effort.is_spent:
                raise TooManyStates
        remembered += len(level)
        levels.append(level)
    return _means(block, steps, levels)


def _means(block: Block, steps: list[_Step], levels: list[Level]) -> Floats:
    """Go back from the end, adding up how often each number of people was chosen."""
    final = levels[-1]
    total = sum(final.values())
    expected = np.zeros(block.size)
    onwards: Level = dict.fromkeys(final, 1)
    for step, level in reversed([*zip(steps, levels[:-1], strict=True)] if total else []):
        people, before = 0, {}
        for state, weight in level.items():
            ahead = 0
            for n, after, factor in _choices(state, step):
                reached = factor * onwards.get(after, 0)
                ahead += reached
                people += n * weight * reached
            before[state] = ahead
        expected[step.kind] = people / total
        onwards = before
    return expected


def _choices(state: State, step: _Step) -> Iterator[tuple[int, State, int]]:
    """Each number of people that may be of this kind, what is lacking then, and in how many ways they are chosen."""
    lacking = [state[row] for row in step.rows]
    low, high = step.low, min(step.high, *lacking)
    for row, lacks in zip(step.rows, lacking, strict=True):
        low = max(low, lacks - step.later[row])
    for n in range(low, high + 1):
        after = list(state)
        for row in step.rows:
            after[row] -= n
        yield n, tuple(after), comb(lacking[0], n) * step.ways**n


def _steps(block: Block) -> Iterator[_Step]:
    later = block.in_rows(block.high)
    for kind in _order(block).tolist():
        rows = tuple(block.rows[:, kind].tolist())
        high = int(block.high[kind])
        for row in rows:
            later[row] -= high
        ahead = {row: int(later[row]) for row in rows}
        yield _Step(kind, rows, ahead, int(block.low[kind]), high, int(block.ways[kind]))


def _order(block: Block) -> Ids:
    """Row by row, the one with fewest kinds left first, so that few rows are half full at a time."""
    left = np.ones(block.size, dtype=bool)
    begun = np.zeros(block.totals.size, dtype=bool)
    order: list[int] = []
    while left.any():
        n_left = block.in_rows(left)
        waiting = np.flatnonzero(n_left)
        row = min(waiting.tolist(), key=lambda row: (n_left[row] - 2 * begun[row], row))
        chosen = np.flatnonzero(left & (block.rows == row).any(axis=0))
        order += chosen.tolist()
        begun[block.rows[:, chosen].ravel()] = True
        left[chosen] = False
    return np.array(order, dtype=np.int64)


def fitted_people(block: Block, effort: Effort) -> Floats:
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
