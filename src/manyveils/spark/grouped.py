"""How a view is divided for being judged: so that rows which someone cannot tell apart are in one part."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.audits.apart import sights_of
from manyveils.audits.finding import Finding
from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.parting import Cuts
from manyveils.methods.parts import TOLERATED
from manyveils.methods.seams import Boxes, seams_of
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.release import View
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile
from manyveils.spark.counts import PART, parted
from manyveils.spark.held import Held
from manyveils.spark.judging import Judge, findings_of, rows_of_view
from manyveils.spark.limits import CELLS, ROWS, driver_cells, part_rows
from manyveils.spark.published import PublishedTable
from manyveils.spark.ranged import findings_in_ranges
from manyveils.table.attributes import tally
from manyveils.table.counting import TooManyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, repr=False)
class Grouped:
    """One view to be judged part by part."""

    judge: Judge
    evidence: Evidence
    promises: Sequence[Promise]
    tables: Mapping[str, PublishedTable]
    held: Held

    def findings(self) -> list[list[Finding]]:
        """The findings about every part."""
        view = self.judge.view
        seen = sights_of(view, self.evidence, self.promises)
        if not seen:
            return []
        rows = rows_of_view(view, self.tables)
        if any(each.is_spread for each in seen):
            return self._between_seams(rows, frozenset(name for each in seen for name in each.known))
        shared = set.intersection(*(set(each.key) for each in seen))
        if not shared:
            raise InfeasibleError([self._undivided()])
        if BUCKET in shared:
            found = findings_in_ranges(self.judge, self.tables, rows.sparkSession)
            if found is not None:
                return found
        return findings_of(self.judge, self._hashed(rows, shared))

    def _hashed(self, rows: "DataFrame", shared: set[str]) -> "DataFrame":
        """Rows alike in what every promise tells groups apart by go to one part."""
        from pyspark.sql import functions as f

        view = self.judge.view
        [table, *_] = [self.tables[file.table] for file in view.files]
        names = [f"c{place}" for place, name in enumerate(table.values) if name in shared]
        key = [BUCKET] if BUCKET in shared else names
        n_rows = sum(self.tables[file.table].n_rows for file in view.files)
        n_parts = max(1, -(-n_rows // part_rows()))
        return rows.withColumn(PART, f.pmod(f.xxhash64(*key), f.lit(n_parts)).cast("int"))

    def _between_seams(self, rows: "DataFrame", known: frozenset[str]) -> list[list[Finding]]:
        boxes = self._boxes(sorted(known))
        try:
            cuts = self._cuts(_brought(boxes, sorted(known), self.held))
            placed = _placed(boxes, cuts, sorted(known))
            parts = rows.join(placed, on=rows[BUCKET].eqNullSafe(placed["box"])).drop("box")
            names = tuple(name for name in self.held.sketch.attributes if name in self.judge.view.attributes)
            return findings_of(self.judge, parts, parted(self.held, cuts, names))
        finally:
            boxes.unpersist()

    def _cuts(self, found: Boxes) -> Cuts:
        most = part_rows()
        cuts = seams_of(found, most)
        parts = cuts.parts_of(found.high, found.rows.size)
        if int(tally(parts, found.rows, cuts.n_parts).max()) > TOLERATED * most:
            raise InfeasibleError([self._undivided()])
        return cuts

    def _boxes(self, known: Sequence[str]) -> "DataFrame":
        """Every bucket with the lowest and highest original that its labels stand for, column by column."""
        from pyspark.sql import functions as f

        view, found = self.judge.view, None
        for place, file in enumerate(view.files):
            table = self.tables[file.table]
            spans = {
                f"c{number}": self._spans(view, file, name)
                for number, name in enumerate(table.values)
                if name in known
            }
            names = [known.index(name) for name in table.values if name in known]
            rows = _spanned(table.rows, spans, names).withColumn("n", f.lit(int(place == 0)))
            found = rows if found is None else found.unionByName(rows, allowMissingColumns=True)
        assert found is not None
        ends = [
            f.coalesce(end(f"{side}{number}"), f.lit(0)).alias(f"{side}{number}")
            for number in range(len(known))
            for side, end in (("low", f.min), ("high", f.max))
        ]
        return found.groupBy(BUCKET).agg(*ends, f.sum("n").alias("rows")).persist()

    def _spans(self, view: View, file: ColumnFile, name: str) -> tuple[Any, Any]:
        """The lowest and highest code that every published value stands for; missing where it is nobody's."""
        cover = self.evidence.cover(view, file, name)
        ends = (pl.Series(side).set(pl.Series(side < 0), None) for side in (cover.firsts, cover.lasts))
        low, high = (end.to_arrow() for end in ends)
        return low, high

    def _undivided(self) -> Problem:
        return Problem(
            self.judge.view.name,
            f"has {self.judge.view.rows:,} rows, and some promise looks at too many of them at once.",
            f"Raise {CELLS} if the driver has the memory, or {ROWS} if executors have it, or audit with the local engine.",
        )


def _spanned(rows: "DataFrame", spans: Mapping[str, tuple[Any, Any]], names: Sequence[int]) -> "DataFrame":
    """The buckets of rows, with the ends of what their values stand for."""
    fields = [f"{side}{number}" for number in names for side in ("low", "high")]

    def span(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            ends = [
                side.take(batch.column(each)).cast(pa.int32())
                for each, both in spans.items()
                for side in both
            ]
            yield pa.RecordBatch.from_arrays([batch.column(BUCKET), *ends], names=[BUCKET, *fields])

    schema = ", ".join([f"{BUCKET} long", *(f"{each} int" for each in fields)])
    return rows.select(BUCKET, *spans).mapInArrow(span, schema)


def _brought(boxes: "DataFrame", known: Sequence[str], held: Held) -> Boxes:
    """The different boxes, as far as they fit the driver: their numbers are small, so four times as many do."""
    from pyspark.sql import functions as f

    ends = [f"{side}{number}" for number in range(len(known)) for side in ("low", "high")]
    most = 4 * driver_cells() // (len(ends) + 1)
    found = pl.DataFrame(boxes.groupBy(*ends).agg(f.sum("rows").alias("rows")).limit(most + 1).toArrow())
    if found.height > most:
        what = f"has more than {most:,} different buckets, which do not fit the driver."
        raise TooManyError([Problem("release", what, f"Raise {CELLS} if the driver has the memory.")])
    sides = [
        {name: found[f"{side}{number}"].to_numpy().astype(np.int64) for number, name in enumerate(known)}
        for side in ("low", "high")
    ]
    sizes = {name: held.sketch[name].n_values for name in known}
    return Boxes(sides[0], sides[1], found["rows"].to_numpy().astype(np.int64), sizes)


def _placed(boxes: "DataFrame", cuts: Cuts, known: Sequence[str]) -> "DataFrame":
    """The part of every bucket."""
    fields = {name: f"high{known.index(name)}" for name in cuts.columns}

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            codes = {name: batch.column(each).to_numpy() for name, each in fields.items()}
            parts = cuts.parts_of(codes, batch.num_rows).astype(np.int32)
            yield pa.RecordBatch.from_arrays([batch.column(BUCKET), pa.array(parts)], names=["box", PART])

    return boxes.select(BUCKET, *fields.values()).mapInArrow(place, f"box long, {PART} int")
