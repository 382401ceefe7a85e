"""Order and buckets of published tables, looked at where their rows are."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from manyveils.audits.content import count_falls
from manyveils.release import View
from manyveils.release.release import read_table
from manyveils.release.seal import BUCKET
from manyveils.spark.published import PublishedTable, parts_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def descents_of(table: PublishedTable, fields: Sequence[str], spark: "SparkSession") -> int:
    """How many rows of a table sort below the row before them, part after part."""
    parts, types, names = parts_in(table.path), dict(table.file.types), list(fields)
    if not parts:
        return 0

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            places = batch.column("id").to_pylist()
            falls, ends = zip(*(_ends(parts[place], types, names) for place in places), strict=True)
            arrays = [pa.array(places), pa.array(falls), pa.array(ends, pa.binary())]
            yield pa.RecordBatch.from_arrays(arrays, names=["place", "falls", "ends"])

    n_parts, schema = len(parts), "place long, falls long, ends binary"
    found = sorted(spark.range(0, n_parts, 1, n_parts).mapInArrow(look, schema).collect())
    ends = [pl.read_ipc(bytes(row["ends"])) for row in found]
    between = pl.concat([rows for rows in ends if rows.height] or [table.empty])
    # The first and last rows of all parts in turn: what falls inside a part is counted there.
    inside = sum(row["falls"] for row in found)
    return inside + sum(count_falls(between[place : place + 2]) for place in range(1, between.height - 1, 2))


def _ends(part: Path, types: Mapping[str, str], names: list[str]) -> tuple[int, bytes]:
    """How many rows of a part fall, and its first and last row as a file."""
    falls, first, last = 0, pl.DataFrame(), pl.DataFrame()
    for frame in _pieces(part, types):
        piece = frame.select(names)
        falls += count_falls(pl.concat([last, piece]) if last.height else piece)
        first = first if first.height else piece.head(1)
        last = piece.tail(1) if piece.height else last
    ends = BytesIO()
    pl.concat([first, last]).write_ipc(ends)
    return falls, ends.getvalue()


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
