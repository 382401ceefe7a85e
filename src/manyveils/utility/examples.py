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
        # The derived attribute of a value that nobody has here.
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
            fifths = np.searchsorted(np.array(self.edges), _numbers(cells), side="left")
            return np.where(np.isnan(_numbers(cells)), len(self.edges) + 1, fifths).astype(np.int64)
        known = pl.DataFrame({"cell": self._read(pl.Series(self.values)), "class": range(len(self.values))})
        rows = self._read(cells).to_frame("cell")
        joined = rows.join(known, on="cell", how="left", maintain_order="left", nulls_equal=True)
        return joined["class"].fill_null(len(self.values)).to_numpy().astype(np.int64)

    def _read(self, cells: pl.Series) -> pl.Series:
        """Cells as they are told apart; one table may write 2 where another, with a 2.5 in it, has 2.0."""
        return cells.cast(pl.Float64, strict=False) if self.are_numbers else cells.cast(pl.String)


def classes_of(target: Attribute) -> Classes:
    """The classes of a target: fifths of the rows for a number with many values, else its commonest values.

    A fifth ends at a quantile; where one value fills more than a fifth of the rows, there are fewer fifths.
    """
    is_numeric = target.kind == "numeric"
    if is_numeric and target.n_values > MOST_CLASSES:
        numbers = target.numbers[target.codes]
        cuts = np.unique(np.quantile(numbers[~np.isnan(numbers)], FIFTHS))
        return Classes(edges=tuple(float(cut) for cut in cuts))
    common = sorted(range(target.n_values), key=lambda code: (-target.counts[code], target.texts[code]))
    values = tuple(target.texts[code] for code in common[:MOST_CLASSES])
    return Classes(values=values, are_numbers=is_numeric)


def matrices(*tables: Texts, numeric: tuple[str, ...]) -> list[Floats]:
    """Several tables of cells as matrices of the same attributes: numbers as they are, all else as codes."""
    coded = [_coded([table[name] for table in tables], as_numbers=name in numeric) for name in tables[0]]
    return [np.column_stack(columns) for columns in zip(*coded, strict=True)]


def _coded(tables: list[pl.Series], *, as_numbers: bool) -> list[Floats]:
    if as_numbers:
        return [_numbers(cells) for cells in tables]
    codes = pl.concat(tables).rank("dense").to_numpy().astype(np.float64)
    return np.split(codes, np.cumsum([len(cells) for cells in tables])[:-1])


def _numbers(cells: pl.Series) -> Floats:
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)
