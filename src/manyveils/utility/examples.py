"""Rows as a learner sees them: numbers and codes to learn from, and a class to learn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.sampling import draw
from manyveils.release import Release
from manyveils.table import Attribute, Table

# More rows make models better by little, and slower by much.
MOST_ROWS = 50_000
MOST_CLASSES = 20
FIFTHS = (0.2, 0.4, 0.6, 0.8)
Texts = Mapping[str, pl.Series]
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def rows_of(table: Table, names: tuple[str, ...], rng: np.random.Generator) -> Texts:
    """The cells of a table as texts, of a random part of the rows if there are many."""
    chosen = np.arange(table.n_rows)
    if table.n_rows > MOST_ROWS:
        chosen = rng.choice(table.n_rows, MOST_ROWS, replace=False)
    return {name: _cells(table, name).gather(chosen) for name in names}


def _cells(table: Table, name: str) -> pl.Series:
    if name not in table.attributes:
        # A value of a multi-valued attribute that nobody has here.
        return pl.repeat("0", table.n_rows, dtype=pl.String, eager=True)
    return pl.Series(table[name].texts, dtype=pl.String).gather(table[name].codes)


def rows_from(release: Release, names: tuple[str, ...], rng: np.random.Generator) -> Texts:
    """As many rows as are published, drawn from the distribution that the release implies."""
    estimate = release.reading.estimate
    drawn = draw(estimate, min(release.rows, MOST_ROWS), rng)
    return {
        name: pl.Series(estimate.domains[name].texts, dtype=pl.String).gather(drawn[name]) for name in names
    }


@dataclass(frozen=True, repr=False)
class Classes:
    """What a model tells apart: the values of an attribute, or the fifths that its numbers fall into."""

    values: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    are_numbers: bool = False

    def of(self, cells: pl.Series) -> Labels:
        """The class of each cell; rare values share one, and so do missing numbers."""
        if self.edges:
            places = np.searchsorted(np.array(self.edges), _numbers(cells), side="left")
            return np.where(np.isnan(_numbers(cells)), len(self.edges) + 1, places).astype(np.int64)
        known = pl.DataFrame({"cell": self._read(pl.Series(self.values)), "class": range(len(self.values))})
        found = (
            self._read(cells)
            .to_frame("cell")
            .join(known, on="cell", how="left", maintain_order="left", nulls_equal=True)
        )
        return found["class"].fill_null(len(self.values)).to_numpy().astype(np.int64)

    def _read(self, cells: pl.Series) -> pl.Series:
        """Cells as they are told apart; one table may write 2 where another, with a 2.5 in it, has 2.0."""
        return cells.cast(pl.Float64, strict=False) if self.are_numbers else cells.cast(pl.String)


def classes_of(column: Attribute) -> Classes:
    """The classes of a target: fifths of the rows for a number with many values, else its commonest values.

    A fifth is what lies up to a quantile; a value that fills more than a fifth keeps its neighbours apart all the same.
    """
    if column.kind == "numeric" and column.n_values > MOST_CLASSES:
        numbers = column.numbers[column.codes]
        cuts = np.unique(np.quantile(numbers[~np.isnan(numbers)], FIFTHS))
        return Classes(edges=tuple(float(cut) for cut in cuts))
    common = sorted(range(column.n_values), key=lambda code: (-column.counts[code], column.texts[code]))
    values = tuple(column.texts[code] for code in common[:MOST_CLASSES])
    return Classes(values=values, are_numbers=column.kind == "numeric")


def matrices(*tables: Texts, numeric: tuple[str, ...]) -> list[Floats]:
    """Several tables of cells as matrices over the same columns: numbers as they are, all else as codes."""
    names = tuple(tables[0])
    columns = {name: _coded([each[name] for each in tables], as_numbers=name in numeric) for name in names}
    return [np.column_stack([columns[name][place] for name in names]) for place in range(len(tables))]


def _coded(parts: list[pl.Series], *, as_numbers: bool) -> list[Floats]:
    if as_numbers:
        return [_numbers(part) for part in parts]
    coded = pl.concat(parts).rank("dense").to_numpy().astype(np.float64)
    return np.split(coded, np.cumsum([len(part) for part in parts])[:-1])


def _numbers(cells: pl.Series) -> Floats:
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)
