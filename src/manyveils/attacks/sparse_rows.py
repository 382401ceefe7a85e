"""Rows of beliefs that hold only what is believed at all, so that they grow with the values that occur together.

They are sparse matrices with a row per case and a column per value, values in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from manyveils.attacks.people import Floats, Ids


@dataclass(frozen=True, repr=False)
class Rows:
    """The beliefs of some cases: of each the values that are believed, in order, and how much."""

    matrix: csr_array

    @classmethod
    def of(cls, matrix: "csr_array | Floats") -> "Rows":
        """The rows of a matrix."""
        rows = csr_array(matrix)
        rows.sum_duplicates()
        return cls(rows)

    @classmethod
    def from_cells(cls, cases: Ids, values: Ids, beliefs: Floats, shape: tuple[int, int]) -> "Rows":
        """Rows by their cells; the beliefs of equal cells are added up."""
        return cls.of(csr_array((beliefs, (cases, values)), shape=shape))

    @property
    def n(self) -> int:
        """How many cases there are."""
        return int(self.matrix.shape[0])

    @property
    def n_values(self) -> int:
        """How many values there are to believe."""
        return int(self.matrix.shape[1])

    @property
    def beliefs(self) -> Floats:
        """Every belief that is held, row by row."""
        return np.asarray(self.matrix.data, dtype=np.float64)

    @property
    def values(self) -> Ids:
        """The value of each."""
        return self.matrix.indices.astype(np.int64)

    @cached_property
    def lengths(self) -> Ids:
        """How many values are believed in each case."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def cases(self) -> Ids:
        """The case of each belief."""
        return np.repeat(np.arange(self.n), self.lengths)

    @cached_property
    def _cells(self) -> Ids:
        return self.cases * self.n_values + self.matrix.indices

    def at(self, cases: Ids, values: Ids) -> Floats:
        """The belief in one value of one case each."""
        wanted = cases * self.n_values + values
        if not self._cells.size:
            return np.zeros(wanted.shape)
        nearest = np.minimum(np.searchsorted(self._cells, wanted), self._cells.size - 1)
        return np.where(self._cells[nearest] == wanted, self.beliefs[nearest], 0.0)

    def taken(self, cases: Ids) -> "Rows":
        """The rows of some cases, in their order."""
        return self if np.array_equal(cases, np.arange(self.n)) else Rows(self.matrix[cases])

    def believing(self, beliefs: Floats) -> "Rows":
        """The same values, believed otherwise."""
        parts = beliefs, self.matrix.indices, self.matrix.indptr
        return Rows(csr_array(parts, shape=self.matrix.shape))

    def totals(self) -> Floats:
        """The sum of each row."""
        return np.bincount(self.cases, weights=self.beliefs, minlength=self.n).astype(np.float64)

    def greatest(self) -> Floats:
        """The strongest belief of each row."""
        greatest = np.zeros(self.n)
        full = self.lengths > 0
        if full.any():
            greatest[full] = np.maximum.reduceat(self.beliefs, self.matrix.indptr[:-1][full])
        return greatest

    def leading(self, n: int) -> Floats:
        """The n strongest beliefs of each row, strongest first."""
        order, rank = self._ranked
        top = np.zeros((self.n, n))
        shown = rank < n
        top[self.cases[shown], rank[shown]] = self.beliefs[order[shown]]
        return top

    @cached_property
    def _ranked(self) -> tuple[Ids, Ids]:
        """The beliefs of each row from the strongest to the weakest, and which of its row each is."""
        order = np.lexsort((-self.beliefs, self.cases))
        return order, np.arange(order.size) - np.repeat(
            self.matrix.indptr[:-1].astype(np.int64), self.lengths
        )

    def n_at_least(self, cases: Ids, least: Floats) -> Ids:
        """How many values are believed at least so much, in one case each; nothing is a belief in everything else."""
        beliefs = self.beliefs[self._ranked[0]]
        starts = self.matrix.indptr[cases].astype(np.int64)
        low, high = starts.copy(), self.matrix.indptr[cases + 1].astype(np.int64)
        while (low < high).any():
            middle = (low + high) // 2
            is_more = (low < high) & (beliefs[np.minimum(middle, beliefs.size - 1)] >= least)
            low, high = np.where(is_more, middle + 1, low), np.where(is_more, high, np.minimum(middle, high))
        return np.where(least <= 0, self.n_values, low - starts)

    def among(self, n_values: int) -> "Rows":
        """The beliefs in the first values alone."""
        return Rows(self.matrix[:, :n_values])

    def placed(self, place_of: Ids, n_values: int) -> "Rows":
        """The same beliefs in other values: `place_of` says which stands for each."""
        if n_values == self.n_values and np.array_equal(place_of, np.arange(n_values)):
            return self
        # Adding up changes what it is given.
        parts = self.beliefs.copy(), place_of[self.matrix.indices], self.matrix.indptr.copy()
        return Rows.of(csr_array(parts, shape=(self.n, n_values)))

    def shares(self) -> "Rows":
        """The same rows, each summing to one but those of nothing."""
        totals = self.totals()
        return self.believing(self.beliefs / np.where(totals > 0, totals, 1.0)[self.cases])

    def or_else(self, instead: "Rows") -> "Rows":
        """The rows, and where they hold nothing those given instead; or the only one given."""
        is_something = self.totals() > 0
        if is_something.all():
            return self
        own = np.arange(self.n)
        return stacked([self, instead]).taken(np.where(is_something, own, self.n + own % max(instead.n, 1)))

    def dense(self) -> Floats:
        """All beliefs, of nothing too."""
        return np.asarray(self.matrix.toarray(), dtype=np.float64)


def stacked(blocks: Sequence[Rows]) -> Rows:
    """The rows of several blocks, one below the other."""
    if len(blocks) == 1:
        return blocks[0]
    return Rows(csr_array(vstack([block.matrix for block in blocks], format="csr")))


def normalized(rows: Rows, instead: Rows) -> Rows:
    """Rows that sum to one; a row of nothing becomes the one given instead, or the only one."""
    return rows.shares().or_else(instead)
