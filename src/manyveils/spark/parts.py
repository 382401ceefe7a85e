"""Parts made where their rows are, each by one task; where rows are cut, and how a part is made, is the local engine's code.

A task that is done again gets the same rows and the same seed.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.errors import InfeasibleError, ManyveilsError, Problem
from manyveils.methods import parts
from manyveils.methods.joining import noted
from manyveils.methods.parting import Cuts
from manyveils.methods.parts import TOLERATED, Maker, maker_of
from manyveils.promises.entries import Ids
from manyveils.promises.work import Work
from manyveils.release.plan import FromRows, InParts
from manyveils.release.seal import unsorted_column
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.counts import PART, Counts, parted
from manyveils.spark.held import Held
from manyveils.spark.limits import ROWS, part_rows
from manyveils.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKET, NOTE, FIELD = "bucket", "note", "f"


def cuts_of(work: Work, told: InParts, counts: Counts) -> Cuts:
    """Where rows are cut: decided on the driver if the counts fit it, and with Spark's help otherwise."""
    most = part_rows()
    with _Counting(counts).open() as counted:
        cuts, largest = parts.cuts_of(work, told, most, counted)
    if largest > TOLERATED * most:
        raise InfeasibleError([_too_large(work, largest, most)])
    return cuts


@dataclass(repr=False)
class _Counting:
    """Counts in parts of rows where they are."""

    counts: Counts
    cuts: Cuts | None = None
    rows: Any = None

    @contextmanager
    def open(self) -> Iterator[parts.Counted]:
        """Count, and let go of what was kept for it."""
        try:
            yield self._counted
        finally:
            self._forget()

    def _counted(self, names: tuple[str, ...], cuts: Cuts) -> tuple[Table, Ids]:
        if self.cuts is not cuts:
            # Rows with their parts are kept as long as the cuts are the same.
            self._forget()
            held = self.counts.held
            self.cuts, self.rows = cuts, parted(held, cuts, tuple(held.sketch.attributes)).persist()
        return self.counts.in_parts(self.rows, names)

    def _forget(self) -> None:
        if self.rows is not None:
            self.rows.unpersist()


def _too_large(work: Work, largest: int, most: int) -> Problem:
    return Problem(
        work.policy.name,
        f"{largest:,} rows cannot be cut further by quasi-identifiers without breaking a promise, and one task makes "
        f"{TOLERATED * most:,} at most.",
        f"Raise {ROWS} if executors have the memory (some 2 kB for each row), use more or finer quasi-identifiers, "
        'or recoding = "full-domain".',
    )


def make_parts(held: Held, work: Work, plan: FromRows, cuts: Cuts) -> "DataFrame":
    """What every part publishes: part, bucket, note, and the published fields as texts; a note tells of a whole part."""
    names = tuple(work.table.attributes)
    assert plan.parts is not None
    width = sum(map(len, plan.parts.columns))
    job = _Part(maker_of(held.without_rows(), work, plan), width)
    schema = ", ".join(
        [f"{PART} int", f"{BUCKET} long", f"{NOTE} string", *(f"{FIELD}{n} string" for n in range(width))]
    )
    # Spark looks at how many arguments a function takes.
    return parted(held, cuts, names).groupBy(PART).applyInArrow(lambda rows: job.made(rows), schema).persist()


@dataclass(frozen=True, repr=False)
class _Part:
    """What a task needs to make a part."""

    maker: Maker
    width: int

    def made(self, rows: Any) -> Any:
        """The published rows of one part, and a note about it."""
        part = int(rows.column(PART)[0].as_py())
        try:
            table, draft, notes = self.maker.made(part, _in_order(rows))
        except ManyveilsError as error:
            return _arrow(part, pl.DataFrame(), None, _refused(error), self.width)
        published = [unsorted_column(draft, column, table) for column in draft.columns]
        texts = [series.cast(pl.String) for frame in published for series in frame.get_columns()]
        cells = pl.DataFrame([series.alias(f"{FIELD}{number}") for number, series in enumerate(texts)])
        return _arrow(part, cells, draft.buckets, noted(draft, notes), self.width)


def _in_order(rows: Any) -> dict[str, Ids]:
    """The numbers of rows in an order that is theirs alone."""
    ordered = pl.DataFrame(rows).drop(PART)
    ordered = ordered.sort(ordered.columns)
    return {field: ordered[field].to_numpy().astype(np.int64) for field in ordered.columns}


def _arrow(part: int, cells: pl.DataFrame, buckets: Any, note: Mapping[str, Any], width: int) -> Any:
    fields = [f"{FIELD}{n}" for n in range(width)]
    rows = cells.with_columns(
        pl.lit(part, dtype=pl.Int32).alias(PART),
        pl.Series(BUCKET, buckets if buckets is not None else [None] * cells.height, dtype=pl.Int64),
        pl.lit(None, dtype=pl.String).alias(NOTE),
    )
    last = {PART: part, BUCKET: None, NOTE: json.dumps(note)} | dict.fromkeys(fields)
    schema = {PART: pl.Int32, BUCKET: pl.Int64, NOTE: pl.String} | dict.fromkeys(fields, pl.String)
    both = pl.concat(
        [rows.select(*schema) if cells.height else pl.DataFrame(schema=schema), pl.DataFrame([last], schema)]
    )
    return plain_arrow(both)


def _refused(error: ManyveilsError) -> dict[str, Any]:
    problems = [problem.words for problem in error.problems]
    return {"refused": type(error).__name__, "problems": problems}
