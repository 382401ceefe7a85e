"""Published tables written where the rows are: sorted, in parts, with nothing that tells how they were made."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from manyveils.release.seal import BUCKET
from manyveils.spark.apply import spark_type
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.places import address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_PART = 2_000_000


def write_sorted(
    rows: "DataFrame",
    names: Sequence[str],
    n_rows: int,
    target: Path,
    values: Mapping[str, pl.Series] | None = None,
) -> None:
    """Write a table in the order of its values, part after part; rows may hold the ranks of `values` in their place.

    Claim: read in the order of their names, the parts are one sorted multiset.
    Why: ranges of values go to parts in their order, and each part is sorted.
    Tested by: tests/spark/test_write.py
    """
    order = [rows[field].asc_nulls_first() for field in rows.columns]
    n_parts = max(1, -(-n_rows // ROWS_OF_A_PART))
    ranged = rows.coalesce(1) if n_parts == 1 else rows.repartitionByRange(n_parts, *order)
    ordered = ranged.sortWithinPartitions(*order)
    named = (ordered if values is None else _decoded(ordered, values)).toDF(*names)
    aside = target.with_name(f"{target.name}.parts")
    named.write.parquet(address(aside))
    target.mkdir()
    for place, part in enumerate(sorted(aside.glob("part-*.parquet"))):
        part.rename(target / f"part-{place:05d}.parquet")
    shutil.rmtree(aside)


def _decoded(rows: "DataFrame", values: Mapping[str, pl.Series]) -> "DataFrame":
    """Values in place of their ranks, row by row."""
    from pyspark.sql import types as t

    fields = dict(zip([each for each in rows.columns if each != BUCKET], values.values(), strict=True))

    def decode(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            frame = pl.DataFrame(batch)
            shown = [each.gather(frame[field]).alias(field) for field, each in fields.items()]
            yield from plain_arrow(frame.with_columns(shown)).to_batches()

    schema = [
        t.StructField(each, spark_type(fields[each].dtype) if each in fields else t.LongType())
        for each in rows.columns
    ]
    return rows.mapInArrow(decode, t.StructType(schema))
