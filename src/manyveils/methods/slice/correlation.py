"""How strongly attributes go together: mean-square contingency, after numbers are cut into classes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.entries import Ids, tally
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally as people

Matrix = NDArray[np.float64]
Names = tuple[str, ...]
ROUNDS = 100


def contingency(one: Ids, other: Ids, weights: Ids | None = None) -> float:
    """The mean-square contingency of two attributes, from 0 (independent) to 1 (one decides the other).

    Every pair stands for one person unless weights say for how many.

    >>> contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    n_one, n_other = int(one.max(initial=-1)) + 1, int(other.max(initial=-1)) + 1
    first, second = people(one, weights, n_one), people(other, weights, n_other)
    smaller = min(np.count_nonzero(first), np.count_nonzero(second))
    if smaller < 2:
        return 0.0
    cells, counts = tally(one * n_other + other, n_one * n_other, weights)
    a, b = np.divmod(cells, n_other)
    # Summed over the cells that occur: the sum of squared deviations is this sum less one.
    total = float((counts / first[a] * counts / second[b]).sum())
    return float(min(max((total - 1.0) / (smaller - 1), 0.0), 1.0))


def correlations(
    table: Table,
    names: Names,
    *,
    discretize: str,
    bins: int,
    counts: Callable[[Names], Table] | None = None,
) -> Matrix:
    """The contingency of every pair of attributes; of a multi-valued one, that of its strongest value.

    `counts` gives a table in which the columns of a pair can be counted together, where `table` itself is none.
    """
    classes = _Classes(table, discretize, bins)
    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        columns = table.expand((names[i],)), table.expand((names[j],))
        both = table if counts is None else counts((*columns[0], *columns[1]))
        matrix[i, j] = matrix[j, i] = max(
            contingency(classes.of(one, both), classes.of(other, both), both.weights)
            for one, other in product(*columns)
        )
    return matrix


@dataclass(frozen=True, repr=False)
class _Classes:
    """The classes of a table's columns, in any table of the same people; those of the table itself are kept."""

    table: Table
    discretize: str
    bins: int
    _class_of: dict[str, Ids] = field(default_factory=dict)
    _rows: dict[str, Ids] = field(default_factory=dict)

    def of(self, name: str, counted: Table) -> Ids:
        """The class of every row of a table in which a column is counted."""
        if counted is not self.table:
            return self._dictionary(name)[counted[name].codes]
        if name not in self._rows:
            self._rows[name] = self._dictionary(name)[counted[name].codes]
        return self._rows[name]

    def _dictionary(self, name: str) -> Ids:
        if name not in self._class_of:
            self._class_of[name] = class_of_values(
                self.table[name], discretize=self.discretize, bins=self.bins
            )
        return self._class_of[name]


def class_of_values(column: Attribute, *, discretize: str, bins: int) -> Ids:
    """The class of every value: the value itself, or the interval a number falls into; missing is a class of its own."""
    if column.kind != "numeric" or column.n_values - column.has_missing <= bins:
        return np.arange(column.n_values)
    numbers = column.numbers[: column.n_values - column.has_missing]
    counts = column.counts[: numbers.size]
    cuts = (
        equal_width_cuts(numbers, bins)
        if discretize == "equal-width"
        else cluster_cuts(numbers, counts, bins)
    )
    found = np.searchsorted(cuts, numbers, side="right")
    return np.append(found, [bins] * column.has_missing).astype(np.int64)


def equal_width_cuts(numbers: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Cut points that divide the span of sorted numbers into equal parts."""
    return np.linspace(numbers[0], numbers[-1], bins + 1)[1:-1]


def cluster_cuts(numbers: NDArray[np.float64], counts: Ids, bins: int) -> NDArray[np.float64]:
    """Cut points halfway between neighbouring centres of one-dimensional k-means, started at the first values.

    >>> cluster_cuts(np.array([1.0, 2.0, 9.0, 10.0]), np.array([5, 5, 5, 5]), 2)
    array([5.5])
    """
    centres = numbers[:bins].astype(np.float64)
    for _ in range(ROUNDS):
        cuts = (centres[1:] + centres[:-1]) / 2
        nearest = np.searchsorted(cuts, numbers, side="left")
        weights = np.bincount(nearest, weights=counts, minlength=bins)
        sums = np.bincount(nearest, weights=counts * numbers, minlength=bins)
        moved = np.sort(np.where(weights > 0, sums / np.maximum(weights, 1), centres))
        if np.array_equal(moved, centres):
            break
        centres = moved
    return (centres[1:] + centres[:-1]) / 2
