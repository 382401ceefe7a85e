"""How many values of the domain a label stands for: those under a name, in a set, or along a range."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import Lines
from manyveils.table import Attribute
from manyveils.utility.coverage import Coverage

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
RANGE = rf"^\[{NUMBER}, {NUMBER}\]$"
SET = r"^\{(.*)\}$"


def n_leaves(view: Coverage) -> int:
    """Count the domain of the attribute that a view shows."""
    return domain_size(view.column, view.lines)


def domain_size(column: Attribute, lines: Lines | None) -> int:
    """Count the lines of a written hierarchy, else the values of the original."""
    return len(lines) if lines else column.n_values


def leaves_by_name(column: Attribute, lines: Lines | None) -> pl.DataFrame:
    """Count the leaves under each name of the hierarchy, values that are not in the data included."""
    counted = _names_in_lines(lines) if lines else _names_in_data(column)
    rows = [(label, level, count) for level, names in enumerate(counted) for label, count in names.items()]
    schema = {"label": pl.String, "level": pl.Int64, "leaves": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _names_in_lines(lines: Lines) -> Iterator[Mapping[str, int]]:
    return (Counter(names) for names in zip(*lines, strict=True))


def _names_in_data(column: Attribute) -> Iterator[Mapping[str, int]]:
    for level in column.levels.each:
        counts = np.bincount(level.label_of, minlength=len(level.labels))
        yield dict(zip(level.labels, counts.tolist(), strict=True))


def members(view: Coverage) -> pl.Expr:
    """Count the members of a set `{a, b}`; null where the label is no set of known values."""
    domain = {*view.column.texts, *(line[0] for line in view.lines or ())}
    parts = pl.col("label").str.extract(SET).str.split(", ")
    known = parts.list.eval(pl.element().is_in(list(domain))).list.all()
    return pl.when(known).then(parts.list.len().cast(pl.Int64))


def span(view: Coverage) -> pl.Expr:
    """Measure a range `[a, b]` against the domain's; null where the label is no range of numbers."""
    if view.column.kind != "numeric":
        return pl.lit(None, dtype=pl.Float64)
    numbers = _domain(view)
    low, high = (float(np.nanmin(numbers)), float(np.nanmax(numbers))) if numbers.size else (0.0, 0.0)
    start, end = (each.clip(low, high) for each in _ends())
    return (end - start) / (high - low) if high > low else start * 0.0


def in_range(view: Coverage) -> pl.Expr:
    """Count the values of the domain in a range `[a, b]`; null where the label is no range of numbers."""
    if view.column.kind != "numeric":
        return pl.lit(None, dtype=pl.Int64)
    numbers = np.unique(_domain(view))
    start, end = _ends()
    starts, ends = view.labels.select(start=start, end=end).to_numpy().T
    inside = np.searchsorted(numbers, ends, side="right") - np.searchsorted(numbers, starts, side="left")
    return pl.when(start.is_not_null()).then(pl.lit(pl.Series(inside)))


def _ends() -> tuple[pl.Expr, pl.Expr]:
    """Read the two ends of a range; null where the label is no range of numbers."""
    start, end = (pl.col("label").str.extract(RANGE, part).cast(pl.Float64) for part in (1, 2))
    return start, end


def _domain(view: Coverage) -> NDArray[np.float64]:
    texts = pl.Series([line[0] for line in view.lines or ()], dtype=pl.String)
    written = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    numbers = written if written.size else view.column.numbers
    return numbers[np.isfinite(numbers)]
