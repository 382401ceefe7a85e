"""Worlds of a block, counted: kind after kind, remembering only how many people each row still lacks."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.worlds.blocks import Block
from manyveils.attacks.worlds.covers import Ids
from manyveils.attacks.worlds.effort import CHOICE, Effort

State = tuple[int, ...]
Level = dict[State, tuple[int, int]]


class TooManyStates(Exception):
    """Counting would have to remember more than was allowed."""


@dataclass(frozen=True, repr=False)
class Tally:
    """The mean number of people of each kind over all worlds, and how many numbers of people per kind are possible."""

    expected: NDArray[np.float64]
    n_worlds: int


@dataclass(frozen=True)
class _Step:
    """A kind whose number is chosen: its rows, and how many people later kinds can still bring to each."""

    kind: int
    rows: State
    later: dict[int, int]
    low: int
    high: int
    ways: int


def tally(block: Block, limit: int, effort: Effort) -> Tally:
    """Count the worlds of a block exactly; `TooManyStates` if more than the limit would have to be remembered, or worked."""
    steps = list(_steps(block))
    start = tuple(block.totals.tolist())
    levels: list[Level] = [{start: (1, 1)}]
    remembered = 1
    for step in steps:
        level: Level = {}
        for state, (weight, number) in levels[-1].items():
            for _, after, factor in _choices(state, step):
                had = level.get(after, (0, 0))
                level[after] = (had[0] + weight * factor, had[1] + number)
                # Going back takes as much again.
                effort.spend(2 * CHOICE)
            if remembered + len(level) > limit or effort.is_spent:
                raise TooManyStates
        remembered += len(level)
        levels.append(level)
    return _means(block, steps, levels)


def _means(block: Block, steps: list[_Step], levels: list[Level]) -> Tally:
    """Go back from the end, adding up how often each number of people was chosen."""
    final = levels[-1]
    total = sum(weight for weight, _ in final.values())
    expected = np.zeros(block.size)
    if not total:
        return Tally(expected, 0)
    onwards: dict[State, int] = dict.fromkeys(final, 1)
    for place in range(len(steps) - 1, -1, -1):
        step, people, before = steps[place], 0, {}
        for state, (weight, _) in levels[place].items():
            ahead = 0
            for n, after, factor in _choices(state, step):
                reached = factor * onwards.get(after, 0)
                ahead += reached
                people += n * weight * reached
            before[state] = ahead
        expected[step.kind] = people / total
        onwards = before
    return Tally(expected, sum(number for _, number in final.values()))


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
    order = _order(block)
    later = np.bincount(
        block.rows.ravel(), weights=np.tile(block.high, block.rows.shape[0]), minlength=block.totals.size
    ).astype(np.int64)
    for kind in order.tolist():
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
        members = block.rows[:, left]
        n_left = np.bincount(members.ravel(), minlength=block.totals.size)
        waiting = np.flatnonzero(n_left)
        row = min(waiting.tolist(), key=lambda each: (n_left[each] - 2 * begun[each], each))
        chosen = np.flatnonzero(left & (block.rows == row).any(axis=0))
        order += chosen.tolist()
        begun[block.rows[:, chosen].ravel()] = True
        left[chosen] = False
    return np.array(order, dtype=np.int64)
