"""People fall into blocks that have nothing to do with each other; each is worked out alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from manyveils.attacks.worlds.covers import Ids
from manyveils.attacks.worlds.kinds import Kinds

MOST_ROUNDS = 200


@dataclass(frozen=True, repr=False)
class Block:
    """Kinds that share published rows with each other and with no others.

    `kinds` are their places, `rows[j, i]` the row of column j in which kind i stands, numbered inside the block,
    `totals` the people in each row; every world has between `low` and `high` people of each kind.
    """

    kinds: Ids
    rows: NDArray[np.int64]
    totals: Ids
    low: Ids
    high: Ids
    ways: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many kinds there are."""
        return self.kinds.size

    @cached_property
    def matrix(self) -> coo_array:
        """Which kinds stand in which rows."""
        n_columns, n_kinds = self.rows.shape
        places = (self.rows.ravel(), np.tile(np.arange(n_kinds), n_columns))
        return coo_array((np.ones(self.rows.size), places), shape=(self.totals.size, n_kinds))


@dataclass(frozen=True, repr=False)
class Divided:
    """Blocks, and the number of people of every kind that all worlds agree on (-1 where they may differ)."""

    blocks: tuple[Block, ...]
    settled: Ids


def divided(kinds: Kinds) -> Divided:
    """Settle what rows alone decide, and divide what is left into blocks."""
    low, high = _between(kinds)
    settled = np.where(low == high, low, -1)
    open_ = np.flatnonzero(low < high)
    rows = np.stack([each[open_] for each in kinds.rows])
    taken = sum(
        np.bincount(each, weights=np.maximum(settled, 0), minlength=kinds.totals.size) for each in kinds.rows
    )
    totals = kinds.totals - np.asarray(taken).astype(np.int64)
    numbers = _numbers(rows, kinds.totals.size)
    order = np.argsort(numbers, kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    blocks = []
    for members in np.split(order, cuts) if open_.size else []:
        met, local = np.unique(rows[:, members], return_inverse=True)
        places = open_[members]
        local = local.reshape(rows.shape[0], members.size)
        blocks.append(Block(places, local, totals[met], low[places], high[places], kinds.ways[places]))
    return Divided(tuple(blocks), settled)


def _numbers(rows: NDArray[np.int64], n_rows: int) -> Ids:
    """The block of each kind."""
    n_columns, n_kinds = rows.shape
    places = (np.tile(np.arange(n_kinds), n_columns), n_kinds + rows.ravel())
    size = n_kinds + n_rows
    graph = coo_array((np.ones(rows.size, dtype=bool), places), shape=(size, size))
    return connected_components(graph, directed=False)[1][:n_kinds].astype(np.int64)


def _between(kinds: Kinds) -> tuple[Ids, Ids]:
    """The least and the most people of each kind, as far as single rows tell."""
    low = np.zeros(kinds.size, dtype=np.int64)
    high = np.min([kinds.totals[rows] for rows in kinds.rows], axis=0)
    for _ in range(MOST_ROUNDS):
        before = high.sum() - low.sum()
        for rows in kinds.rows:
            n = kinds.totals.size
            most = np.bincount(rows, weights=high, minlength=n)[rows] - high
            low = np.maximum(low, kinds.totals[rows] - most.astype(np.int64))
            least = np.bincount(rows, weights=low, minlength=n)[rows] - low
            high = np.minimum(high, kinds.totals[rows] - least.astype(np.int64))
        if high.sum() - low.sum() == before:
            break
    return low, high
