"""Slices judged between seams, where a person may match several buckets: each part has buckets, and all whom they may hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.parting import Cuts
from manyveils.methods.parts import TOLERATED
from manyveils.methods.seams import Boxes, seams_of
from manyveils.reading.evidence import Evidence
from manyveils.release import View
from manyveils.release.dealing import keys_of
from manyveils.release.packing import Packing
from manyveils.release.seal import BUCKET
from manyveils.streaming.divided import divided
from manyveils.streaming.published import PublishedTable
from manyveils.streaming.rows import Number
from manyveils.table import Table

if TYPE_CHECKING:
    from manyveils.streaming.audit import StreamedAudit

Ids = NDArray[np.int64]
# The rows of a view with their counts, by table.
Shown = dict[str, tuple[pl.DataFrame, Ids]]


@dataclass(frozen=True, repr=False)
class Seamed:
    """One view whose buckets somebody may match who knows several of its columns."""

    audit: "StreamedAudit"
    evidence: Evidence
    view: View
    tables: Sequence[PublishedTable]
    known: tuple[str, ...]

    def parts(self) -> Iterator[tuple[Shown, Table]]:
        """The rows of every part, and the people whom its buckets may hold.

        Claim: everybody stands in the part that has all buckets that she may match.
        Why: parts end at seams, which no bucket spans.
        Tested by: tests/claims/test_seams.py
        """
        each = (self._rows(table) for table in self.tables)
        names = [table.file.table for table in self.tables]
        for targets, *rows in zip(self._targets(), *each, strict=True):
            yield dict(zip(names, rows, strict=True)), targets

    @cached_property
    def _boxes(self) -> Boxes:
        """Every bucket with the lowest and highest original that its labels stand for, column by column."""
        n_buckets = max(table.n_buckets for table in self.tables)
        sizes = {name: self.evidence.table[name].n_values for name in self.known}
        low = {name: np.full(n_buckets, size, dtype=np.int64) for name, size in sizes.items()}
        high = {name: np.full(n_buckets, -1, dtype=np.int64) for name in sizes}
        rows = np.zeros(n_buckets, dtype=np.int64)
        for table in self.tables:
            names = [name for name in self.known if name in table.fields]
            covers = [self.evidence.cover(self.view, table.file, name) for name in names]
            for buckets, *numbers in table.picked((BUCKET, *names)):
                if table is self.tables[0]:
                    rows += np.bincount(buckets, minlength=n_buckets)
                for name, cover, own in zip(names, covers, numbers, strict=True):
                    first, last = cover.firsts[own], cover.lasts[own]
                    is_somebodys = first >= 0
                    np.minimum.at(low[name], buckets[is_somebodys], first[is_somebodys])
                    np.maximum.at(high[name], buckets[is_somebodys], last[is_somebodys])
        for name in sizes:
            is_nobodys = high[name] < 0
            low[name][is_nobodys] = high[name][is_nobodys] = 0
        return Boxes(low, high, rows, sizes)

    @cached_property
    def _cuts(self) -> Cuts:
        boxes, most = self._boxes, self.audit.held.part_rows
        ends = [end[name] for name in self.known for end in (boxes.low, boxes.high)]
        _, firsts, alike = np.unique(
            keys_of(ends, [boxes.sizes[name] for name in self.known for _ in "lh"]),
            return_index=True,
            return_inverse=True,
        )
        # Counts are below 2^53, so that their sums are exact.
        rows = np.bincount(alike, weights=boxes.rows).astype(np.int64)
        cuts = seams_of(replace(boxes.some(firsts), rows=rows), most)
        if int(np.bincount(self._parts(cuts), weights=boxes.rows).max()) > TOLERATED * most:
            what = f"has {self.view.rows:,} rows, and some promise looks at too many of them at once."
            raise InfeasibleError([Problem(self.view.name, what, "Give more memory.")])
        return cuts

    def _parts(self, cuts: Cuts) -> Ids:
        """The part of every bucket."""
        return cuts.parts_of(self._boxes.high, self._boxes.rows.size)

    def _rows(self, table: PublishedTable) -> Iterator[tuple[pl.DataFrame, Ids]]:
        """The published rows of every part, with their counts."""
        parts, names = self._parts(self._cuts), tuple(table.fields)
        packing, place = Packing((self._cuts.n_parts, *table.sizes(names))), names.index(BUCKET)
        batches = ([parts[batch[place]], *batch] for batch in table.batches())
        with divided(packing, batches, table.rows.folder / "between", self.audit.held.room) as each:
            for rows in each:
                yield table.frame(packing.unpacked(rows.keys)[1:]), rows.times

    def _targets(self) -> Iterator[Table]:
        """The people of every part."""
        held, cuts, own = self.audit.held, self._cuts, self.evidence.table
        names = tuple(name for name in held.sketch.attributes if name in self.view.attributes)
        fields = held.fields((*names, *cuts.columns))
        packing = Packing((cuts.n_parts, *(held.n_numbers(field) for field in fields)))

        def batches() -> Iterator[Sequence[Number]]:
            for batch in held.rows.batches(fields):
                table = held.table_of(batch, cuts.columns)
                codes = {name: table[name].codes for name in cuts.columns}
                yield [cuts.parts_of(codes, len(batch[fields[0]])), *(batch[field] for field in fields)]

        with divided(packing, batches(), held.folder / "targets", held.room) as each:
            for rows in each:
                raw = dict(zip(fields, packing.unpacked(rows.keys)[1:], strict=True))
                found = held.table_of(raw, names, rows.times).attributes
                yield replace(
                    own, attributes={**own.attributes, **found}, n_rows=len(rows), weights=rows.times
                )
