"""Published tables written where the rows are: sorted, in parts, with nothing that tells how they were made."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from manyveils.release.packing import packing_of
from manyveils.release.seal import BUCKET
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.tallied import TIMES, pieces, tallied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Some more or less, since ranges are told from a sample or from numbers of buckets; far more only where rows are
# equal, or where a bucket is as large as a part that one task has made.
ROWS_OF_A_PART = 1_000_000
# With fewer, a part could be much larger than the others.
BUCKETS_OF_A_PART = 100

Values = Mapping[str, pl.Series]


def write_sorted(
    rows: "DataFrame",
    names: Sequence[str],
    n_rows: int,
    target: Path,
    values: Values | None = None,
    n_buckets: int = 0,
) -> None:
    """Write a table in the order of its values, part after part; rows may hold packed ranks of `values` instead.

    Claim: read in the order of their names, the parts are one sorted multiset, complete or not there.
    Why: ranges of values go to parts in their order, each part is sorted and gets its name when it is whole,
    and the rows of all parts are counted.
    Tested by: tests/spark/test_write.py and tests/spark/test_cluster.py
    """
    ranged = _ranged(rows, n_rows, n_buckets)
    aside = target.with_name(f"{target.name}.parts")
    aside.mkdir()
    written = ranged.mapInArrow(_writer(ranged.schema.names, names, aside, values), "n long").collect()
    if sum(row["n"] for row in written) != n_rows:
        raise AssertionError(f"{target.stem}: {n_rows:,} rows were to be written, and another number was")
    if not n_rows:
        nobody = pl.DataFrame(rows.limit(0).toArrow()).with_columns(pl.lit(1).alias(TIMES))
        _write(nobody, names, aside / "0.parquet", values)
    parts = sorted(aside.glob("*.parquet"))
    if len(parts) != max(len(written), 1):
        raise AssertionError(f"{target.stem}: {len(written)} parts were written, and others are there")
    target.mkdir()
    for number, part in enumerate(parts):
        part.rename(target / f"part-{number:05d}.parquet")
    # Under another name, so that a task that is given up for lost finds no folder to write to.
    shutil.rmtree(aside.rename(target.with_name(f"{target.name}.done")))


def lay_in_parts(tables: Path) -> None:
    """Give tables that are a file each the form that they have elsewhere: a folder of one part."""
    for file in [*tables.glob("*.parquet")]:
        part = file.rename(file.with_name(f"{file.name}.parts"))
        file.mkdir()
        part.rename(file / "part-00000.parquet")


def _ranged(rows: "DataFrame", n_rows: int, n_buckets: int) -> "DataFrame":
    """Rows in partitions that follow one another."""
    from pyspark.sql import functions as f

    n_parts = max(1, -(-n_rows // ROWS_OF_A_PART))
    if n_parts == 1:
        return rows.repartition(1)
    if n_buckets < BUCKETS_OF_A_PART * n_parts:
        return rows.repartitionByRange(n_parts, *(rows[field].asc_nulls_first() for field in rows.columns))
    # Numbers of buckets are scrambled, so where parts begin is known without a look at the rows.
    return rows.repartitionById(n_parts, f.floor(rows[BUCKET] * n_parts / n_buckets).cast("int"))


def _writer(fields: Sequence[str], names: Sequence[str], aside: Path, values: Values | None) -> Any:
    """What a task does with its part: sort it, and write it under the number of the part."""

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        counted = tallied(batches, fields)
        if counted is None:
            return
        unnamed = aside / f"{task.taskAttemptId()}.unfinished"
        _write(counted, names, unnamed, values)
        unnamed.replace(aside / f"{task.partitionId():08d}.parquet")
        yield pa.RecordBatch.from_arrays([pa.array([int(counted[TIMES].sum())])], names=["n"])

    return write


def _write(counted: pl.DataFrame, names: Sequence[str], path: Path, values: Values | None) -> None:
    import pyarrow.parquet as pq

    schema = plain_arrow(_shown(counted.clear(), names, values)).schema
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        for _, indices in pieces(counted):
            writer.write_table(plain_arrow(_shown(counted[indices], names, values)))


def _shown(rows: pl.DataFrame, names: Sequence[str], values: Values | None) -> pl.DataFrame:
    """Rows as they are published."""
    fields = rows.drop(TIMES)
    if values is None:
        return fields.rename(dict(zip(fields.columns, names, strict=True)))
    packing = packing_of(values)
    ranks = packing.unpacked([rows[series].to_numpy() for series in packing.names])
    shown = [series.gather(rank) for series, rank in zip(values.values(), ranks, strict=True)]
    buckets = [fields[BUCKET]] if BUCKET in fields.columns else []
    return pl.DataFrame([series.alias(name) for series, name in zip([*buckets, *shown], names, strict=True)])
