"""Published tables written where the rows are: sorted, in parts, with nothing that tells how they were made."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.release.seal import BUCKET
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.packed import Packing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_PART = 1_000_000
# A part is larger only where rows are equal, so what a task holds is bounded by its different rows.
ROWS_AT_ONCE = 500_000
TIMES = "#"

Values = Mapping[str, pl.Series]


def write_sorted(
    rows: "DataFrame", names: Sequence[str], n_rows: int, target: Path, values: Values | None = None
) -> None:
    """Write a table in the order of its values, part after part; rows may hold packed ranks of `values` instead.

    Claim: read in the order of their names, the parts are one sorted multiset, complete or not there.
    Why: ranges of values go to parts in their order, each part is sorted and gets its name when it is whole,
    and the rows of all parts are counted.
    Tested by: tests/spark/test_write.py and tests/spark/test_cluster.py
    """
    order = [rows[field].asc_nulls_first() for field in rows.columns]
    n_parts = max(1, -(-n_rows // ROWS_OF_A_PART))
    ranged = rows.coalesce(1) if n_parts == 1 else rows.repartitionByRange(n_parts, *order)
    aside = target.with_name(f"{target.name}.parts")
    aside.mkdir()
    written = ranged.mapInArrow(_writer(ranged.schema.names, names, aside, values), "n long").collect()
    if sum(row["n"] for row in written) != n_rows:
        raise AssertionError(f"{target.stem}: {n_rows:,} rows were to be written, and another number was")
    if not n_rows:
        nobody = pl.DataFrame(rows.limit(0).toArrow()).with_columns(pl.lit(1).alias(TIMES))
        _write(nobody, names, aside / "0.parquet", values)
    target.mkdir()
    for place, part in enumerate(sorted(aside.glob("*.parquet"))):
        part.rename(target / f"part-{place:05d}.parquet")
    # Under another name, so that a task that is given up for lost finds no folder to write to.
    shutil.rmtree(aside.rename(target.with_name(f"{target.name}.done")))


def _writer(fields: Sequence[str], names: Sequence[str], aside: Path, values: Values | None) -> Any:
    """What a task does with its part: sort it, and write it under the number of the part."""

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        counted = _counted(batches, fields)
        if counted is None:
            return
        unnamed = aside / f"{task.taskAttemptId()}.unfinished"
        _write(counted, names, unnamed, values)
        unnamed.replace(aside / f"{task.partitionId():08d}.parquet")
        yield pa.RecordBatch.from_arrays([pa.array([int(counted[TIMES].sum())])], names=["n"])

    return write


def _counted(batches: Iterator[Any], fields: Sequence[str]) -> pl.DataFrame | None:
    """The different rows in order, and how often each is there; nothing if there are none."""
    found: list[pl.DataFrame] = []
    for batch in filter(len, batches):
        found.append(pl.DataFrame(batch).with_columns(pl.lit(1, dtype=pl.Int64).alias(TIMES)))
        if sum(each.height for each in found) > 4 * ROWS_OF_A_PART + 2 * found[0].height:
            found = [_summed(found, fields)]
    return _summed(found, fields).sort(fields, nulls_last=False) if found else None


def _summed(found: Sequence[pl.DataFrame], fields: Sequence[str]) -> pl.DataFrame:
    return pl.concat(found).group_by(fields).agg(pl.col(TIMES).sum())


def _write(counted: pl.DataFrame, names: Sequence[str], path: Path, values: Values | None) -> None:
    import pyarrow.parquet as pq

    ends = np.cumsum(counted[TIMES].to_numpy())
    n_rows = int(ends[-1]) if ends.size else 0
    schema = plain_arrow(_shown(counted.clear(), names, values)).schema
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        for start in range(0, n_rows, ROWS_AT_ONCE):
            places = np.searchsorted(ends, np.arange(start, min(start + ROWS_AT_ONCE, n_rows)), side="right")
            writer.write_table(plain_arrow(_shown(counted[places], names, values)))


def _shown(rows: pl.DataFrame, names: Sequence[str], values: Values | None) -> pl.DataFrame:
    """Rows as they are published."""
    found = rows.drop(TIMES)
    if values is None:
        return found.rename(dict(zip(found.columns, names, strict=True)))
    packing = Packing(tuple(len(each) for each in values.values()))
    ranks = packing.unpacked([rows[each].to_numpy() for each in packing.names])
    shown = [each.gather(rank) for each, rank in zip(values.values(), ranks, strict=True)]
    kept = [found[BUCKET]] if BUCKET in found.columns else []
    return pl.DataFrame([each.alias(name) for each, name in zip([*kept, *shown], names, strict=True)])
