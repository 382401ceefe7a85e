"""People fall into blocks that have nothing to do with each other; each is worked out alone, with limited effort.

Work is counted in steps of the solvers and never by the clock, so that the same question always gets the same work on
any machine; one unit takes about a second.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.worlds.kinds import Kinds

LEAST_ROUNDS, MOST_ROUNDS = 10, 200
# So many kinds in columns are looked at before bounds are taken as they are.
MOST_LOOKED_AT = 300_000_000
CHOICE = 3e-6
CELL = 5e-6
PIVOT = 2e-7
SCALING = 2e-8
CALL = 2e-4


class Effort:
    """Units of work that are left; whoever works says how many it took."""

    def __init__(self, left: float) -> None:
        self.left = left

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def spend(self, units: float) -> None:
        """Take units away; the last work may take more than was left."""
        self.left -= units

    @contextmanager
    def share(self, part: float) -> Iterator["Effort"]:
        """A part of what is left, for one task; what the task does not need stays.

        >>> whole = Effort(10.0)
        >>> with whole.share(0.5) as half:
        ...     half.spend(2.0)
        >>> whole.left
        8.0
        """
        given = max(self.left, 0.0) * part
        task = Effort(given)
        try:
            yield task
        finally:
            self.spend(given - task.left)


@dataclass(frozen=True, repr=False)
class Block:
    """Kinds that share published rows with each other and with no others.

    `kinds` are their numbers, `rows[j, i]` the row of column j in which kind i stands, numbered inside the block, and -1
    where it stands in none; in the first column every kind stands in one. `totals` are the people in each row; every
    world has between `low` and `high` people of each kind.
    """

    kinds: Ids
    rows: NDArray[np.int64]
    totals: Ids
    low: Ids
    high: Ids
    ways: Floats

    @property
    def size(self) -> int:
        """How many kinds there are."""
        return self.kinds.size

    @cached_property
    def matrix(self) -> coo_array:
        """Which kinds stand in which rows."""
        columns, kinds = np.nonzero(self.rows >= 0)
        entries = (self.rows[columns, kinds], kinds)
        return coo_array((np.ones(kinds.size), entries), shape=(self.totals.size, self.size))

    def in_rows(self, people: NDArray[Any]) -> Ids:
        """The sum in each row of a number of people per kind, over all columns."""
        return _in_rows(self.rows, people, self.totals.size)


def _in_rows(rows: NDArray[np.int64], people: NDArray[Any], n_rows: int) -> Ids:
    """The sum in each row of a number of people per kind; `rows` are those of one column, or of several."""
    weights = np.broadcast_to(people, rows.shape).ravel()
    return np.bincount(rows.ravel() + 1, weights=weights, minlength=n_rows + 1)[1:].astype(np.int64)


def divided(kinds: Kinds) -> tuple[list[Block], Ids]:
    """Settle what rows alone decide, and divide what is left into blocks.

    Beside the blocks, it is the number of people of every kind that all worlds agree on; -1 where they may differ.
    """
    low, high = _between(kinds)
    settled = np.where(low == high, low, -1)
    open_ = np.flatnonzero(low < high)
    totals = kinds.totals - _in_rows(np.stack(kinds.rows), np.maximum(settled, 0), kinds.totals.size)
    rows = np.stack(kinds.rows)[:, open_]
    numbers = _numbers(rows, kinds.totals.size)
    order = np.argsort(numbers, kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    blocks = []
    for members in np.split(order, cuts) if open_.size else []:
        met, local = np.unique(rows[:, members], return_inverse=True)
        local, own = local.reshape(rows.shape[0], members.size), open_[members]
        if met[0] < 0:
            met, local = met[1:], local - 1
        blocks.append(Block(own, local, totals[met], low[own], high[own], kinds.ways[own]))
    return blocks, settled


def _numbers(rows: NDArray[np.int64], n_rows: int) -> Ids:
    """The block of each kind."""
    n_kinds = rows.shape[1]
    columns, kinds = np.nonzero(rows >= 0)
    size = n_kinds + n_rows
    edges = (kinds, n_kinds + rows[columns, kinds])
    graph = coo_array((np.ones(kinds.size, dtype=bool), edges), shape=(size, size))
    return connected_components(graph, directed=False)[1][:n_kinds].astype(np.int64)


def _between(kinds: Kinds) -> tuple[Ids, Ids]:
    """The least and the most people of each kind, as far as single rows tell."""
    low, n = np.zeros(kinds.size, dtype=np.int64), kinds.totals.size
    high = kinds.totals[kinds.rows[0]]
    columns = [(np.flatnonzero(rows >= 0), rows[rows >= 0]) for rows in kinds.rows]
    for who, rows in columns:
        high[who] = np.minimum(high[who], kinds.totals[rows])
    n_rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_LOOKED_AT // max(kinds.size * len(columns), 1)))
    for _ in range(n_rounds):
        before = high.sum() - low.sum()
        for who, rows in columns:
            totals = kinds.totals[rows]
            low[who] = np.maximum(low[who], totals - _in_rows(rows, high[who], n)[rows] + high[who])
            high[who] = np.minimum(high[who], totals - _in_rows(rows, low[who], n)[rows] + low[who])
        # Where no world agrees with all rows, bounds would go on passing each other.
        if high.sum() - low.sum() == before or (low > high).any():
            break
    return np.minimum(low, high), high
