"""Experiment 1: which attributes share a column."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

from benchmarks.reproductions import occ, pictures
from benchmarks.reproductions.table import braced, markdown
from manyveils.methods.slice.layout import Matrix, correlations, medoid_clusters
from manyveils.table import hold

BINS = 10
Columns = tuple[tuple[str, ...], ...]

PAPER: dict[tuple[str, int], Columns] = {
    ("OCC-7", 5): (
        ("age", "marital-status", "sex"),
        ("workclass",),
        ("education",),
        ("race",),
        ("occupation",),
    ),
    ("OCC-15", 5): (
        ("age", "workclass", "education", "education-num", "capital-gain", "hours", "salary"),
        ("marital-status", "occupation", "relationship", "sex"),
        ("race", "native-country"),
        ("final-weight",),
        ("capital-loss",),
    ),
}


@dataclass(frozen=True)
class Clusters:
    """The columns found for one table, one way to class numbers and one number of columns."""

    table: str
    discretize: str
    columns: Columns


def correlation(frame: pl.DataFrame, *, discretize: str = "equal-width") -> Matrix:
    """The mean-square contingency of every pair of attributes."""
    names = tuple(frame.columns)
    table, _ = hold(frame, occ.policy(names, {"k": 1}, {"method": "slice"}))
    return correlations(table, names, discretize=discretize, bins=BINS)


def columns_of(frame: pl.DataFrame, n_columns: int, *, discretize: str = "equal-width") -> Columns:
    """The columns that clustering around medoids finds."""
    clusters = medoid_clusters(1.0 - correlation(frame, discretize=discretize), n_columns)
    return tuple(tuple(frame.columns[place] for place in cluster) for cluster in clusters)


def columns_apart(frame: pl.DataFrame, n_columns: int) -> Columns:
    """The columns of the quasi-identifiers, and the sensitive attribute as a column of its own."""
    return (*columns_of(frame.drop(occ.SENSITIVE), n_columns - 1), (occ.SENSITIVE,))


def by_the_letter(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with the classes of algorithm 1.2 in place of numbers."""
    numbers = [name for name in frame.columns if name in occ.NUMERIC]
    return frame.with_columns(_classes(frame[name].cast(pl.Float64)).alias(name) for name in numbers)


def _classes(column: pl.Series) -> pl.Series:
    """The classes of k-means that starts at the first different values, in the order of the file, until it rests."""
    numbers = column.to_numpy()
    centres = np.sort(column.unique(maintain_order=True).head(BINS).to_numpy())
    while True:
        classes = np.searchsorted((centres[1:] + centres[:-1]) / 2, numbers)
        counts = np.bincount(classes, minlength=centres.size)
        sums = np.bincount(classes, weights=numbers, minlength=centres.size)
        moved = np.sort(np.where(counts > 0, sums / np.maximum(counts, 1), centres))
        if np.array_equal(moved, centres):
            return pl.Series(classes).cast(pl.String)
        centres = moved


def run(frame: pl.DataFrame) -> list[Clusters]:
    """Both tables in two and five columns, numbers classed in every way; and with the sensitive attribute apart."""
    found = []
    for (table, names), n_columns in product(occ.TABLES.items(), (2, 5)):
        rows = frame.select(names)
        found += [
            Clusters(table, discretize, columns_of(rows, n_columns, discretize=discretize))
            for discretize in ("equal-width", "cluster")
        ]
        found.append(Clusters(table, "cluster, by the letter", columns_of(by_the_letter(rows), n_columns)))
        if n_columns > 2:
            found.append(Clusters(table, "equal-width, occupation apart", columns_apart(rows, n_columns)))
    return found


def agreement(found: Columns, paper: Columns) -> float:
    """The share of pairs of attributes that both keep together, or both part.

    >>> agreement((("a", "b"), ("c",)), (("a",), ("b", "c")))
    0.3333333333333333
    """
    pairs = [(one, other) for one in sum(paper, ()) for other in sum(paper, ()) if one < other]
    same = [_together(found, *pair) == _together(paper, *pair) for pair in pairs]
    return sum(same) / len(same)


def _together(columns: Columns, one: str, other: str) -> bool:
    return any(one in column and other in column for column in columns)


def table(found: list[Clusters]) -> str:
    """The clusters, the paper's before ours where it gives any."""
    return markdown(("table", "columns", "from", "clusters", "pairs as in the paper"), _lines(found))


def _lines(found: list[Clusters]) -> Iterator[tuple[str, ...]]:
    for each in found:
        n_columns = len(each.columns)
        paper = PAPER.get((each.table, n_columns))
        if each.discretize == "equal-width":
            yield each.table, str(n_columns), "paper", braced(paper) if paper else "not given", ""
        alike = f"{agreement(each.columns, paper):.0%}" if paper else ""
        yield each.table, str(n_columns), f"ours, {each.discretize}", braced(each.columns), alike


def picture(frame: pl.DataFrame) -> None:
    """The correlations as shades, stronger ones darker."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 4.6), layout="constrained")
        axes = figure.subplots(1, 2, width_ratios=(7, 10))
        for axis, (name, names) in zip(axes, occ.TABLES.items(), strict=True):
            matrix = correlation(frame.select(names))
            shades = axis.pcolormesh(matrix[::-1], cmap="Blues", vmin=0, vmax=0.5, edgecolors="white")
            axis.set_xticks([x + 0.5 for x in range(len(names))], names, rotation=90)
            axis.set_yticks([y + 0.5 for y in range(len(names))], names[::-1])
            axis.set(title=name, aspect="equal")
            axis.grid(visible=False)
        figure.colorbar(shades, ax=axes, label="mean-square contingency", extend="max", shrink=0.8)
    pictures.save(figure, "slicing-correlation")
