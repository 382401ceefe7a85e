"""Order and buckets of published tables, looked at where their rows are."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from manyveils.audits.content import count_falls
from manyveils.release import View
from manyveils.release.release import read_table
from manyveils.release.seal import BUCKET
from manyveils.spark.published import PublishedTable, parts_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ends = tuple[int, list[dict[str, object]]]


def descents_of(table: PublishedTable, fields: Sequence[str], spark: "SparkSession") -> int:
    """How many rows of a table sort below the row before them, part after part."""
    path, types, names = table.path, dict(table.file.types), list(fields)
    parts = parts_in(path)
    if not parts:
        return 0
    found = (
        spark.sparkContext.parallelize(parts, len(parts))
        .map(lambda part: _ends(part, types, names))
        .collect()
    )
    schema = table.empty.select(names).schema
    between = [row for _, ends in found for row in ends]
    # The first and last rows of all parts in turn: what falls inside a part is counted there.
    inside = sum(falls for falls, _ in found)
    borders = [
        pl.DataFrame([last, first], schema) for last, first in zip(between[1::2], between[2::2], strict=False)
    ]
    return inside + sum(count_falls(border) for border in borders)


def _ends(part: Path, types: Mapping[str, str], names: list[str]) -> Ends:
    """How many rows of a part fall, and its first and last row."""
    falls, ends = 0, []
    last = pl.DataFrame()
    for frame in _pieces(part, types):
        piece = frame.select(names)
        falls += count_falls(pl.concat([last, piece]) if last.height else piece)
        ends += [piece.row(0, named=True)] if piece.height and not last.height else []
        last = piece.tail(1) if piece.height else last
    return falls, [*ends, *last.rows(named=True)]


def _pieces(part: Path, types: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """The rows of a part, a group at a time if it has groups, since a part may be large."""
    import pyarrow.parquet as pq

    if part.suffix != ".parquet":
        yield read_table(part, types)
        return
    with pq.ParquetFile(part) as file:
        for number in range(file.num_row_groups):
            yield pl.DataFrame(file.read_row_group(number))


def torn_buckets_of(view: View, tables: Mapping[str, PublishedTable]) -> int:
    """Buckets that have different numbers of rows in different columns."""
    from pyspark.sql import functions as f

    shown = [tables[file.table].buckets for file in view.files]
    rows = [
        buckets.withColumn("file", f.lit(place)) for place, buckets in enumerate(shown) if buckets is not None
    ]
    if len(rows) < 2:
        return 0
    counts = [f.count_if(f.col("file") == place).alias(f"n{place}") for place in range(len(rows))]
    counted = reduce(lambda one, other: one.unionAll(other), rows).groupBy(BUCKET).agg(*counts)
    numbers = [counted[f"n{place}"] for place in range(len(rows))]
    return counted.where(f.greatest(*numbers) != f.least(*numbers)).count()
