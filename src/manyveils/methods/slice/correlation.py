"""How strongly attributes go together: mean-square contingency, after numbers are cut into classes."""

from collections.abc import Callable
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.entries import Ids, tally
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally as people

Matrix = NDArray[np.float64]
Names = tuple[str, ...]
ROUNDS = 100


def contingency(first: Ids, second: Ids, weights: Ids | None = None) -> float:
    """The mean-square contingency of two attributes, from 0 (independent) to 1 (one decides the other).

    Every pair stands for one person unless weights say for how many.

    >>> contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    n_first, n_second = int(first.max(initial=-1)) + 1, int(second.max(initial=-1)) + 1
    rows, columns = people(first, weights, n_first), people(second, weights, n_second)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return 0.0
    cells, counts = tally(first * n_second + second, n_first * n_second, weights)
    a, b = np.divmod(cells, n_second)
    # Summed over the cells that occur: the sum of squared deviations is this sum less one.
    total = float((counts / rows[a] * counts / columns[b]).sum())
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

    `counts` gives a table in which two attributes can be counted together, where `table` itself cannot.
    """
    class_of = {
        name: class_of_values(table[name], discretize=discretize, bins=bins) for name in table.expand(names)
    }
    of_row = cache(lambda name: class_of[name][table[name].codes])

    def classes(name: str, counted: Table) -> Ids:
        return of_row(name) if counted is table else class_of[name][counted[name].codes]

    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        first, second = table.expand((names[i],)), table.expand((names[j],))
        counted = table if counts is None else counts((*first, *second))
        matrix[i, j] = matrix[j, i] = max(
            contingency(classes(a, counted), classes(b, counted), counted.weights)
            for a, b in product(first, second)
        )
    return matrix


def class_of_values(attribute: Attribute, *, discretize: str, bins: int) -> Ids:
    """The class of every value: the value itself, or the interval a number falls into; missing is a class of its own."""
    n_numbers = attribute.n_values - attribute.has_missing
    if attribute.kind != "numeric" or n_numbers <= bins:
        return np.arange(attribute.n_values)
    numbers = attribute.numbers[:n_numbers]
    if discretize == "equal-width":
        cuts = np.linspace(numbers[0], numbers[-1], bins + 1)[1:-1]
    else:
        cuts = cluster_cuts(numbers, attribute.counts[:n_numbers], bins)
    classes = np.searchsorted(cuts, numbers, side="right")
    return np.append(classes, [bins] * attribute.has_missing).astype(np.int64)


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
