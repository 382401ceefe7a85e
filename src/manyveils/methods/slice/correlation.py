"""How strongly attributes go together: mean-square contingency, after numbers are cut into classes."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.entries import Ids, tally
from manyveils.table import Column, Table

Matrix = NDArray[np.float64]
ROUNDS = 100


def contingency(one: Ids, other: Ids) -> float:
    """The mean-square contingency of two attributes, from 0 (independent) to 1 (one decides the other).

    >>> contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    n = one.size
    first, second = np.bincount(one), np.bincount(other)
    smaller = min(np.count_nonzero(first), np.count_nonzero(second))
    if smaller < 2:
        return 0.0
    cells, counts = tally(one * second.size + other, first.size * second.size)
    a, b = np.divmod(cells, second.size)
    # Summed over the cells that occur: the sum of squared deviations is this sum less one.
    total = float((counts / first[a] * counts / second[b]).sum())
    return float(min(max((total - 1.0) / (smaller - 1), 0.0), 1.0)) if n else 0.0


def correlations(table: Table, names: tuple[str, ...], *, discretize: str, bins: int) -> Matrix:
    """The contingency of every pair of attributes; of a multi-valued one, that of its strongest value."""
    classes = [
        [classed(table[column], discretize=discretize, bins=bins) for column in table.expand((name,))]
        for name in names
    ]
    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        matrix[i, j] = matrix[j, i] = max(
            contingency(one, other) for one in classes[i] for other in classes[j]
        )
    return matrix


def classed(column: Column, *, discretize: str, bins: int) -> Ids:
    """The class of every row: the value itself, or the interval a number falls into; missing is a class of its own."""
    if column.kind != "numeric" or column.n_values - column.has_missing <= bins:
        return column.codes.astype(np.int64)
    numbers = column.numbers[: column.n_values - column.has_missing]
    counts = column.counts[: numbers.size]
    cuts = (
        equal_width_cuts(numbers, bins)
        if discretize == "equal-width"
        else cluster_cuts(numbers, counts, bins)
    )
    class_of = np.append(np.searchsorted(cuts, numbers, side="right"), [bins] * column.has_missing).astype(
        np.int64
    )
    return class_of[column.codes]


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
