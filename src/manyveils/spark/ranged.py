"""Views judged by ranges of bucket numbers, each read from the files by the task that judges it.

Nothing is sent between tasks, and nothing sorted, so that the time grows as the rows do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.finding import Finding
from manyveils.errors import DataError, Problem
from manyveils.release.release import as_published
from manyveils.release.seal import BUCKET
from manyveils.spark.judging import FOUND, Judge, read_findings
from manyveils.spark.limits import part_rows
from manyveils.spark.published import PublishedTable, parts_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Numbers = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Blocks:
    """Blocks of rows in files, each with its lowest and highest bucket."""

    tables: Sequence[str]
    paths: Sequence[Path]
    low: Numbers
    high: Numbers
    n_rows: Numbers

    def edges(self, n_parts: int) -> Numbers:
        """Bucket numbers between which there are about as many rows everywhere, if those of a block are spread evenly."""
        ends = np.unique(np.append(self.low, self.high + 1))
        before = np.zeros(ends.size)
        for low, high, n_rows in zip(self.low, self.high, self.n_rows, strict=True):
            width = float(high) - float(low) + 1
            before += n_rows * np.clip((ends.astype(np.float64) - float(low)) / width, 0, 1)
        shares = np.arange(1, n_parts) * before[-1] / n_parts
        return np.unique(np.interp(shares, before, ends).astype(np.int64))

    def within(self, low: int | None, high: int | None) -> dict[str, list[Path]]:
        """The files of each table that may have buckets from `low` to below `high`."""
        is_near = np.ones(len(self.tables), dtype=bool)
        if low is not None:
            is_near &= self.high >= low
        if high is not None:
            is_near &= self.low < high
        paths: dict[str, list[Path]] = {}
        for place in np.flatnonzero(is_near).tolist():
            paths.setdefault(self.tables[place], []).append(self.paths[place])
        return {table: list(dict.fromkeys(own)) for table, own in paths.items()}


@dataclass(frozen=True, repr=False)
class _Task:
    """What a task needs to judge ranges of buckets; beyond the first edge and the last there may be more."""

    judge: Judge
    blocks: Blocks
    edges: Sequence[int | None]

    def judged(self, number: int) -> tuple[str, int]:
        """The findings about one range, as text, and how many rows it has."""
        low, high = self.edges[number], self.edges[number + 1]
        paths = self.blocks.within(low, high)
        tables = [file.table for file in self.judge.view.files]
        frames = {name: self._read(name, paths.get(name, []), low, high) for name in tables}
        shown = {name: (frame, np.ones(frame.height, dtype=np.int64)) for name, frame in frames.items()}
        return self.judge.found(shown), sum(frame.height for frame in frames.values())

    def _read(self, table: str, paths: Sequence[Path], low: int | None, high: int | None) -> pl.DataFrame:
        empty, bucket = self.judge.tables[table].empty, pl.col(BUCKET)
        if not paths:
            return empty
        is_inside = pl.lit(True)
        if low is not None:
            is_inside &= bucket >= low
        if high is not None:
            is_inside &= bucket < high
        rows = pl.scan_parquet(list(paths), glob=False).filter(is_inside).collect()
        return as_published(rows.cast({BUCKET: pl.Int64}), None).select(empty.columns)


def findings_in_ranges(
    judge: Judge, tables: Mapping[str, PublishedTable], spark: "SparkSession"
) -> list[list[Finding]] | None:
    """The findings about every range of buckets; None where files do not tell which buckets they have, or have rows in none."""
    own = [tables[file.table] for file in judge.view.files]
    blocks = _blocks(own)
    if blocks is None:
        return None
    n_parts = max(1, -(-sum(table.n_rows for table in own) // part_rows()))
    edges = [None, *blocks.edges(n_parts).tolist(), None]
    task = _Task(judge, blocks, edges)

    def judged(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            said, sizes = zip(*map(task.judged, batch.column("id").to_pylist()), strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(said, pa.string()), pa.array(sizes)], names=schema)

    schema, n_ranges = [FOUND, "n"], len(edges) - 1
    ranges = spark.range(0, n_ranges, 1, n_ranges).mapInArrow(judged, f"{FOUND} string, n long")
    found = ranges.collect()
    # Files say which buckets they have, and are not believed.
    if sum(row["n"] for row in found) != sum(table.n_rows for table in own):
        what = "is damaged: its files have other buckets than they say."
        raise DataError([Problem(judge.view.name, what)])
    return read_findings(row[FOUND] for row in found)


def _blocks(tables: Sequence[PublishedTable]) -> Blocks | None:
    import pyarrow.parquet as pq

    found: list[tuple[str, Path, int, int, int]] = []
    for table in tables:
        if table.path.suffix != ".parquet":
            return None
        for path in parts_in(table.path):
            with pq.ParquetFile(path) as file:
                kinds = pl.scan_parquet(path, glob=False).collect_schema()
                if not kinds[BUCKET].is_integer() or {**kinds, BUCKET: pl.Int64()} != {**table.empty.schema}:
                    return None
                place = file.schema_arrow.get_field_index(BUCKET)
                for number in range(file.num_row_groups):
                    group = file.metadata.row_group(number)
                    told = group.column(place).statistics
                    if told is None or not told.has_min_max or told.null_count != 0:
                        return None
                    found.append((table.file.table, path, told.min, told.max, group.num_rows))
    if not found:
        return None
    names, paths, low, high, n_rows = zip(*found, strict=True)
    return Blocks(names, paths, np.array(low), np.array(high), np.array(n_rows))
