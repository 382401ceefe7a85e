"""Rows cut at the top, and each part made where it is by the local method: the parts together are the release.

What is decided at the top is decided from counts; a task that is done again gets the same rows and the same seed.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.errors import InfeasibleError, ManyveilsError, Problem
from manyveils.methods.parting import Counted, Cuts, Parting
from manyveils.promises.entries import Ids
from manyveils.promises.keeping import needed
from manyveils.promises.work import Work, silent
from manyveils.release import Draft
from manyveils.release.plan import FromRows, InParts
from manyveils.release.seal import published_recodings, unsorted_column
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.counts import PART, Counts, parted
from manyveils.spark.held import Held
from manyveils.spark.limits import ROWS, TOLERATED, part_rows
from manyveils.table import Table
from manyveils.table.attributes import tally
from manyveils.table.counting import TooManyError
from manyveils.table.sketch import Sketch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKET, NOTE, FIELD = "bucket", "note", "f"


@dataclass(frozen=True, repr=False)
class Wholes:
    """Counts of some columns over all people, for those who see a part only."""

    tables: tuple[Table, ...]
    sketch: Sketch

    def __call__(self, names: tuple[str, ...]) -> Table:
        """A table in which some columns can be counted together."""
        if len(names) < 2:
            return self.sketch.alone(names)
        tables = [table for table in self.tables if set(names) <= set(table.attributes)]
        if not tables:
            raise LookupError(f"{len(names)} columns were not counted together")
        return tables[0]


def cuts_of(work: Work, parts: InParts, counts: Counts) -> Cuts:
    """Where rows are cut: decided on the driver if the counts fit it, and with Spark's help otherwise."""
    most, n_people = part_rows(), counts.held.sketch.n_people
    if n_people <= most or not work.quasi:
        cuts, largest = Cuts(), n_people
    else:
        with _Counting(work, counts).open() as counted:
            cuts = Parting(work, parts.labels, parts.beside, most, counted).cuts()
            table, part_of = counted((), cuts)
        largest = int(tally(part_of, table.weights, cuts.n_parts).max())
    if largest > TOLERATED * most:
        raise InfeasibleError([_too_large(work, largest, most)])
    return cuts


@dataclass(repr=False)
class _Counting:
    """Counts in parts: of combinations with quasi-identifiers that are here, or else of rows where they are."""

    work: Work
    counts: Counts
    cuts: Cuts | None = None
    rows: Any = None

    @contextmanager
    def open(self) -> Iterator[Counted]:
        """Count, and let go of what was kept for it."""
        too_many: set[tuple[str, ...]] = set()

        def counted(names: tuple[str, ...], cuts: Cuts) -> tuple[Table, Ids]:
            if names not in too_many:
                try:
                    table = self.counts.of((*self.work.quasi, *names))
                    codes = {name: table[name].codes for name in cuts.columns}
                    return table, cuts.parts_of(codes, table.n_rows)
                except TooManyError:
                    too_many.add(names)
            return self.counts.in_parts(self._parted(cuts), names)

        try:
            yield counted
        finally:
            self._forget()

    def _parted(self, cuts: Cuts) -> Any:
        """Rows with their parts, kept as long as the cuts are the same."""
        if self.cuts is not cuts:
            self._forget()
            self.cuts, self.rows = (
                cuts,
                parted(self.counts.held, cuts, tuple(self.work.table.attributes)).persist(),
            )
        return self.rows

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
    # Counting is over, and what counts is not sent along.
    alone = replace(work, progress=silent, counted=None, table=Table({}, 0))
    job = _Part(held.without_rows(), alone, plan, _wholes(work), width)
    schema = ", ".join(
        [f"{PART} int", f"{BUCKET} long", f"{NOTE} string", *(f"{FIELD}{n} string" for n in range(width))]
    )
    # Spark looks at how many arguments a function takes.
    return parted(held, cuts, names).groupBy(PART).applyInArrow(lambda rows: job.made(rows), schema).persist()


def _wholes(work: Work) -> Wholes:
    """What promises about several columns at once are compared with."""
    needs = [
        needed(replace(promise, conditional=False), work.table, work.sensitive) for promise in work.promises
    ]
    tables = tuple(work.counts(names) for names in dict.fromkeys(needs) if len(names) > 1)
    assert isinstance(work.table, Sketch)
    return Wholes(tables, work.table)


@dataclass(frozen=True, repr=False)
class _Part:
    """What a task needs to make a part."""

    held: Held
    work: Work
    plan: FromRows
    wholes: Wholes
    width: int

    def made(self, rows: Any) -> Any:
        """The published rows of one part, and a note about it."""
        part = int(rows.column(PART)[0].as_py())
        try:
            table = self._table(rows)
            streams = self.work.streams.apart(f"part {part}")
            drafts = self.plan.make(replace(self.work, table=table, streams=streams))
        except ManyveilsError as error:
            return _arrow(part, pl.DataFrame(), None, _refused(error), self.width)
        [draft] = drafts.views
        published = [unsorted_column(draft, column, table) for column in draft.columns]
        texts = [series.cast(pl.String) for frame in published for series in frame.get_columns()]
        cells = pl.DataFrame([series.alias(f"{FIELD}{number}") for number, series in enumerate(texts)])
        return _arrow(part, cells, draft.buckets, _noted(draft, drafts.notes), self.width)

    def _table(self, rows: Any) -> Table:
        ordered = pl.DataFrame(rows).drop(PART)
        ordered = ordered.sort(ordered.columns)
        raw = {field: ordered[field].to_numpy().astype(np.int64) for field in ordered.columns}
        table = self.held.table_of(raw, tuple(self.held.sketch.attributes))
        columns = {
            name: replace(column, of_all=self.held.sketch[name].counts)
            for name, column in table.attributes.items()
        }
        return replace(table, attributes=columns, reference=self.wholes)


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


def _noted(draft: Draft, notes: Mapping[str, object]) -> dict[str, Any]:
    """What the driver must know of a part: rows, buckets, which columns were recoded and what labels cover."""
    listed = {name: pairs.rows() for (_, name), pairs in published_recodings(draft).items()}
    return {
        "view": draft.name,
        "columns": draft.columns,
        "rows": len(draft.rows),
        "buckets": None if draft.buckets is None else int(draft.buckets.max(initial=-1)) + 1,
        "recoded": sorted(draft.recodings),
        "covers": listed,
        "notes": dict(notes),
    }
