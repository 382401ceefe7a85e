"""Which attributes share a column: their correlation, and clusters of them around medoids (PAM)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from manyveils.errors import PolicyError, Problem
from manyveils.kernels.clusters import nearest_runs
from manyveils.methods import Options, united
from manyveils.promises.entries import Ids, tally
from manyveils.promises.work import Work
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally as people

Columns = tuple[tuple[str, ...], ...]
Matrix = NDArray[np.float64]
Names = tuple[str, ...]


def contingency(first: Ids, second: Ids, weights: Ids | None = None) -> float:
    """The mean-square contingency of two attributes, from 0 (independent) to 1 (one decides the other).

    Every pair stands for one person unless weights say for how many.

    >>> contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    n_first, n_second = int(first.max(initial=-1)) + 1, int(second.max(initial=-1)) + 1
    cells, counts = tally(first * n_second + second, n_first * n_second, weights)
    a, b = np.divmod(cells, n_second)
    rows, columns = people(a, counts, n_first), people(b, counts, n_second)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return 0.0
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
    """Cut points halfway between neighbouring centres of the best one-dimensional k-means.

    >>> cluster_cuts(np.array([1.0, 2.0, 9.0, 10.0]), np.array([5, 5, 5, 5]), 2)
    array([5.5])
    """
    numbers, counts = numbers[counts > 0], counts[counts > 0]
    # Between -1 and 1 no square is too large; a shift to the mean keeps what sums of squares lose by rounding small.
    scale = float(np.abs(numbers).max(initial=0)) or 1.0
    scaled = numbers / scale
    mean = (counts * scaled).sum() / counts.sum()
    starts = nearest_runs(scaled - mean, counts.astype(np.float64), min(bins, numbers.size))
    weights, sums = (np.add.reduceat(held, starts) for held in (counts, counts * scaled))
    centres = sums / weights * scale
    return (centres[1:] + centres[:-1]) / 2


def medoid_clusters(distance: Matrix, n_clusters: int) -> list[list[int]]:
    """Partition points into clusters so that the sum of distances to their medoids cannot fall by one exchange.

    >>> medoid_clusters(np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0.0]]), 2)
    [[0, 1], [2]]
    """
    medoids = _build(distance, n_clusters)
    while True:
        exchanges = [
            sorted({*medoids} - {out} | {into})
            for out in medoids
            for into in range(len(distance))
            if into not in medoids
        ]
        best = min(exchanges, key=lambda exchanged: _cost(distance, exchanged), default=medoids)
        if _cost(distance, best) >= _cost(distance, medoids) - 1e-12:
            break
        medoids = best
    nearest = np.argmin(distance[:, medoids], axis=1)
    # A medoid belongs to itself even where another one is as near.
    nearest[medoids] = np.arange(len(medoids))
    return [np.flatnonzero(nearest == cluster).tolist() for cluster in range(len(medoids))]


def _build(distance: Matrix, n_clusters: int) -> list[int]:
    """Choose medoids one by one, each the point that lowers the cost most."""
    medoids: list[int] = []
    for _ in range(n_clusters):
        rest = [point for point in range(len(distance)) if point not in medoids]
        medoids.append(min(rest, key=lambda point: _cost(distance, [*medoids, point])))
    return sorted(medoids)


def _cost(distance: Matrix, medoids: list[int]) -> float:
    return float(distance[:, medoids].min(axis=1).sum())


def silhouette(distance: Matrix, clusters: list[list[int]]) -> float:
    """The mean over points of how much nearer they are to their own cluster than to the next; 0 for singletons."""
    return float(np.mean([_score(distance, clusters, own, point) for own in clusters for point in own]))


def _score(distance: Matrix, clusters: list[list[int]], own: list[int], point: int) -> float:
    if len(own) == 1:
        return 0.0
    inside = float(distance[point, [member for member in own if member != point]].mean())
    rest = (cluster for cluster in clusters if cluster is not own)
    outside = min((float(distance[point, cluster].mean()) for cluster in rest), default=0.0)
    widest = max(inside, outside)
    return (outside - inside) / widest if widest > 0 else 0.0


def best_clusters(distance: Matrix) -> list[list[int]]:
    """The clusters, two or more, with the best silhouette."""
    n = len(distance)
    if n < 3:
        return [[point] for point in range(n)]
    candidates = [medoid_clusters(distance, n_clusters) for n_clusters in range(2, n)]
    return max(candidates, key=lambda clusters: silhouette(distance, clusters))


class SliceOptions(Options):
    """Keys of [publish] for `method = "slice"`."""

    columns: Annotated[int, Field(ge=1)] | list[list[str]] | Literal["auto"] = "auto"
    discretize: Literal["equal-width", "cluster"] = "equal-width"
    bins: int = Field(10, ge=2)
    column_k: int = Field(1, ge=1)
    joint: bool = False
    overlap: list[str] = []
    partition: Literal["mondrian", "median", "random", "membership"] = "mondrian"
    bucket: int = Field(100, ge=1)


@dataclass(frozen=True)
class Layout:
    """The columns, and the correlations they were chosen by."""

    columns: Columns
    names: tuple[str, ...]
    correlation: Matrix

    @property
    def correlation_notes(self) -> dict[str, dict[str, float]]:
        """The correlations by the names of attributes."""
        return {
            name: {other: round(float(x), 4) for other, x in zip(self.names, row, strict=True)}
            for name, row in zip(self.names, self.correlation, strict=True)
        }


def lay_out(work: Work, options: SliceOptions) -> Layout:
    """Choose columns by correlation, or check those that were given; decided from counts of pairs of attributes."""
    names, columns = work.policy.published, options.columns
    problems = (*_overlap_problems(work, options.overlap), *_column_problems(work, columns, options.overlap))
    where = f"{work.policy.name}: publish"
    PolicyError.refuse(Problem(f"{where}.{key}", what, remedy) for key, what, remedy in problems)
    matrix = correlations(
        work.table, names, discretize=options.discretize, bins=options.bins, counts=work.counts
    )
    if not isinstance(columns, list):
        joint = [*work.policy.guarantee.joint, *([work.policy.sensitive] if options.joint else [])]
        groups = united(_clustered(work, names, 1.0 - matrix, columns), joint)
        columns = [[name for name in names if name in group] for group in groups]
        columns = _overlapped(columns, names, matrix, options.overlap)
    return Layout(tuple(work.table.expand(column) for column in columns), names, matrix)


def _clustered(
    work: Work, names: Names, distance: Matrix, n_columns: int | Literal["auto"]
) -> Iterator[set[str]]:
    """Clusters of attributes; what does not change for somebody with several rows has a column of its own, and with names.

    Beside quasi-identifiers, whoever knows several of her rows, in one release or in several, would see it in several
    places.
    """
    is_followed = work.table.persons is not None or work.room > 1
    constant = {*work.policy.constant} & {*work.policy.sensitive} if is_followed else set()
    if n_columns == 1 or constant == {*names}:
        constant = set()
    rest = np.array([number for number, name in enumerate(names) if name not in constant])
    distance = distance[np.ix_(rest, rest)]
    n_left = n_columns if n_columns == "auto" else min(n_columns - bool(constant), len(rest))
    clusters = best_clusters(distance) if n_left == "auto" else medoid_clusters(distance, n_left)
    yield from ({names[rest[number]] for number in cluster} for cluster in clusters)
    yield from [constant] if constant else []


def _column_problems(
    work: Work, columns: int | str | list[list[str]], overlap: list[str]
) -> Iterator[tuple[str, str, str]]:
    """Every published attribute stands in one column, or in several if it is listed in overlap."""
    published = work.policy.published
    if isinstance(columns, int) and columns > len(published):
        what = f"{columns} columns for {len(published)} attributes."
        yield "columns", what, f"Ask for {len(published)} at most."
    if not isinstance(columns, list):
        return
    listed = [name for column in columns for name in column]
    for name in listed:
        if name not in published:
            yield "columns", f"{name!r} is not a published attribute.", ""
    for name in published:
        if name not in listed:
            yield "columns", f"{name!r} is in no column.", "Add it."
    for name in sorted(set(listed)):
        if listed.count(name) > 1 and name not in overlap:
            yield "columns", f"{name!r} is in several columns.", "List it in overlap if that is meant."


def _overlap_problems(work: Work, overlap: list[str]) -> Iterator[tuple[str, str, str]]:
    """Only what an adversary knows anyway may stand twice: anything else would link the rows of two columns."""
    remedy = "Drop it from overlap: in two columns it would link their rows one by one."
    for name in overlap:
        if name not in work.policy.quasi:
            what = f"{name!r} is not a quasi-identifier, so it may stand in one column only."
            yield "overlap", what, remedy


def _overlapped(
    columns: list[list[str]], names: tuple[str, ...], matrix: Matrix, overlap: list[str]
) -> list[list[str]]:
    """Put each overlapping attribute also into the other column it goes with best."""
    widened = [list(column) for column in columns]
    for name in overlap:
        row = dict(zip(names, matrix[names.index(name)], strict=True))
        others = [number for number, column in enumerate(columns) if name not in column]
        if others:
            means = [float(np.mean([row[member] for member in columns[number]])) for number in others]
            widened[others[means.index(max(means))]].append(name)
    return widened
