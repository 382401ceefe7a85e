"""The distinct values of every column, brought to the driver in one pass, and rows as numbers in them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.spark.arrow import frame_of
from manyveils.table.kinds import with_one_zero

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_VALUES = 5_000_000
WHOLE = ("tinyint", "smallint", "int", "bigint")
BROKEN = ("float", "double")


def as_texts(
    names: Sequence[str], is_missing: "Callable[[str, Column], Column] | None" = None
) -> "list[Column]":
    """Some columns as texts, under the plain names `c0`, `c1` and so on; cells that mean a missing one are null."""
    from pyspark.sql import functions as f

    columns = []
    for number, name in enumerate(names):
        cell = f.col(f"`{name.replace('`', '``')}`")
        text = cell.cast("string")
        columns.append(
            (text if is_missing is None else f.when(~is_missing(name, cell), text)).alias(f"c{number}")
        )
    return columns


def dictionaries(rows: "DataFrame", n_columns: int) -> list[pl.DataFrame]:
    """The distinct texts of `c0`, `c1`, … with their counts: value, count, in the order of values."""
    if not n_columns:
        return []
    names = [f"c{number}" for number in range(n_columns)]
    cells = rows.unpivot((), tuple(names), "column", "value")
    values = frame_of(cells.groupBy("column", "value").count().limit(MOST_VALUES + 1).toArrow())
    if values.height > MOST_VALUES:
        raise InfeasibleError([_too_many()])
    by_column = values.sort("value").partition_by("column", as_dict=True, include_key=False)
    return [by_column.get((name,), values.clear().drop("column")) for name in names]


def numbered(
    rows: "DataFrame", texts: Sequence[pl.Series], beside: Mapping[str, str] | None = None
) -> "DataFrame":
    """The rows with the number of each text in its dictionary; fields of `beside` (name, type) stay as they are."""
    unchanged, columns = dict(beside or {}), [f"c{n}" for n in range(len(texts))]

    def number(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            frame = pl.DataFrame(batch.select(columns))
            numbers = [_numbers(frame[name], text) for name, text in zip(columns, texts, strict=True)]
            arrays = [*(batch.column(name) for name in unchanged), *map(pa.array, numbers)]
            yield pa.RecordBatch.from_arrays(arrays, names=[*unchanged, *columns])

    fields = [*(f"{name} {kind}" for name, kind in unchanged.items()), *(f"{name} int" for name in columns)]
    return rows.mapInArrow(number, ", ".join(fields))


def _numbers(values: pl.Series, dictionary: pl.Series) -> NDArray[np.int32]:
    """The place of each value in its dictionary, where a missing one stands first if there is one."""
    first = int(dictionary.null_count())
    known = pl.Enum(dictionary.drop_nulls())
    codes = values.cast(pl.String).cast(known).to_physical().cast(pl.Int64)
    return (codes.fill_null(-1) + first).to_numpy().astype(np.int32)


def typed(values: pl.Series, kind: str) -> pl.Series:
    """Values that went through text with the type that Spark has for them."""
    if kind in WHOLE:
        return values.cast(pl.Int64)
    if kind in BROKEN:
        return with_one_zero(values.cast(pl.Float64))
    if kind == "boolean":
        return values == "true"
    if kind.startswith("decimal"):
        # By its settings Spark writes small ones with an exponent, or does not.
        plain = [None if text is None else format(Decimal(text), "f") for text in values]
        return pl.Series(values.name, plain, dtype=pl.String)
    return values.str.to_date("%Y-%m-%d") if kind == "date" else values


def _too_many() -> Problem:
    return Problem(
        "data",
        f"all columns together have more than {MOST_VALUES:,} different values, which do not fit the driver.",
        'Set role = "drop" for columns that need not be published, or round numbers before publishing.',
    )
