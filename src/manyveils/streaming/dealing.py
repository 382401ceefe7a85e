"""Rows dealt into buckets without being in memory: what tells them apart is counted, and chance orders the counts.

No release depends on the order of rows, so rows that are alike in all that a view shows stand for each other: rows in
random order are places in random order among the sorted ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import Problem
from manyveils.promises.work import Work, of_rows
from manyveils.release.dealing import DealtView, ranks_within
from manyveils.release.draft import labelled
from manyveils.release.packing import Numbers, Packing
from manyveils.release.plan import LeveledView
from manyveils.release.ranked import Ranked, ranked, secret_in
from manyveils.release.seal import BUCKET, OutgoingColumn, OutgoingView
from manyveils.streaming.carrying import Unsorted
from manyveils.streaming.held import Held
from manyveils.streaming.rows import Number, Rows, Writing, narrow
from manyveils.streaming.tally import Counted, Tally
from manyveils.table import Table
from manyveils.table.counting import TooManyError
from manyveils.table.order import in_order
from manyveils.table.sketch import Numbered, Sketch

Ids = NDArray[np.int64]
Progress = Callable[[str, float], None]


def bucketed(held: Held, work: Work, view: DealtView, rng: np.random.Generator) -> OutgoingView:
    """Columns inside buckets that rows are dealt to; `rng` numbers the buckets anew.

    Claim: rows, buckets and their numbers are those of the table in memory, for the same seed.
    Why: the same places are drawn among rows in the same order, rows of one combination are dealt in the order in which
    they are drawn, and buckets are numbered by the same draw.
    Tested by: tests/streaming/test_same_release.py
    """
    dealer = _Dealer(held, view)
    rows, is_shown = dealer.dealt(work, rng)
    meanings = dealer.coded
    columns = []
    for attributes in view.columns:
        shown = tuple(name for name in attributes if is_shown[name])
        if shown:
            told = ranked(meanings, LeveledView("", shown))
            columns.append(OutgoingColumn(shown, told.types, _unsorted(told, rows, dealer.n_buckets)))
    secret = secret_in(view)
    return OutgoingView(
        view.name,
        tuple(columns),
        rows.n_rows,
        True,
        enforces=view.enforces,
        secret=secret,
        forget=rows.forget,
    )


def _unsorted(told: Ranked, rows: Rows, n_buckets: int) -> Unsorted:
    def batches() -> Iterator[Sequence[Number]]:
        for batch in rows.batches([BUCKET, *told.fields]):
            yield [batch[BUCKET], *told.numbers(batch)]

    def shown(numbers: Sequence[Numbers]) -> list[pl.Series]:
        return [pl.Series(BUCKET, numbers[0], dtype=pl.Int64), *told.shown(numbers[1:])]

    schema = {BUCKET: pl.Int64(), **{name: values.dtype for name, values in told.values.items()}}
    return Unsorted(Packing((n_buckets, *told.packing.sizes)), schema, batches, shown)


@dataclass(frozen=True, repr=False)
class _Dealer:
    """One view to be dealt."""

    held: Held
    view: DealtView

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the view shows, in the order of the table."""
        return tuple(name for name in self.held.sketch.attributes if name in self.view.attributes)

    @cached_property
    def _gone(self) -> Ids:
        return np.unique(self.view.left_out)

    @property
    def n_buckets(self) -> int:
        """How many buckets are published."""
        return self.view.deal.n_buckets - self._gone.size

    @cached_property
    def _nobody(self) -> Table:
        fields = self.held.fields(self.view.needs)
        return self._table({field: np.zeros(0, dtype=np.int64) for field in fields})

    def _table(self, batch: Mapping[str, Number]) -> Table:
        return labelled(self.held.table_of(batch, self.view.needs), self.view.lookups)

    @cached_property
    def packing(self) -> Packing:
        """How the codes of what the view shows stand together."""
        return Packing(self._nobody.sizes(self.names))

    @cached_property
    def coded(self) -> Numbered:
        """What codes mean, once labels are there in place of values."""
        columns = {
            name: replace(self._nobody[name], codes=np.arange(self._nobody[name].n_values, dtype=np.int32))
            for name in self.names
        }
        numbers = {name: place for place, name in enumerate(self.names)}
        return Numbered(Sketch(columns, self.held.sketch.n_people), numbers)

    def dealt(self, work: Work, rng: np.random.Generator) -> tuple[Rows, dict[str, bool]]:
        """The published rows with their buckets, and which attributes are shown.

        A 0/1 attribute of a value that only suppressed rows have is not: its name would tell.
        """
        contents, combinations = self._contents()
        shuffle = rng.permutation(self.n_buckets)
        # What is looked up at random places is looked up faster than it is searched for.
        numbers = np.repeat(np.arange(len(contents), dtype=narrow(len(contents))), contents.times)
        streams = work.streams
        for part in self.view.chance:
            streams = streams.apart(part)
        places = streams.of("anatomize.order").permutation(numbers.size)
        seen, has_any = np.zeros(len(self.view.values), dtype=np.int64), dict.fromkeys(self.names, False)
        step = self.held.room.rows_at_once(len(self.names))
        with Writing(self.held.folder / f"dealt-{self.view.name}".replace("/", "_"), self._fields) as writing:
            for start in range(0, places.size, step):
                content = numbers[places[start : start + step]]
                buckets = self._buckets(combinations[content], seen)
                content, buckets = content[buckets >= 0], shuffle[self._dense(buckets[buckets >= 0])]
                codes = self.packing.unpacked([key[content] for key in contents.keys])
                for name, own in zip(self.names, codes, strict=True):
                    has_any[name] |= bool(own.any())
                writing.add(self._narrow(codes, buckets), buckets.size)
                work.progress(of_rows("dealing", places.size), min((start + step) / places.size, 1.0))
        derived = {name for names in self.held.sketch.derived.values() for name in names}
        return writing.rows, {
            name: is_any or name not in derived or not self.held.sketch[name].counts[1]
            for name, is_any in has_any.items()
        }

    @property
    def _fields(self) -> list[str]:
        return [BUCKET, *self.coded.fields(self.names)]

    def _narrow(self, codes: Sequence[Numbers], buckets: Ids) -> dict[str, Number]:
        narrowed = {
            self.coded.field(name): own.astype(narrow(size))
            for name, own, size in zip(self.names, codes, self.packing.sizes, strict=True)
        }
        return {BUCKET: buckets.astype(narrow(self.n_buckets)), **narrowed}

    def _contents(self) -> tuple[Counted, Ids]:
        """The different rows as the view shows them, in order, with their counts, and the combination of each."""
        room = self.held.room
        tally = Tally(len(self.packing.groups), self.held.folder / "contents", room)
        # Rows in random order take two numbers each, and different ones their keys, their counts and their combination.
        n_bytes = room.free - 16 * self.held.rows.n_rows
        most = max(n_bytes // (16 * len(self.packing.groups) + 24), 0)
        try:
            for batch in self.held.rows.batches(self.held.fields(self.view.needs)):
                tally.add(self.packing.packed(self._table(batch).codes(self.names)))
            found = tally.different(most)
        finally:
            tally.forget()
        if found is None:
            what = f"more than {most:,} different rows, which cannot be dealt in {room.n_bytes:,} bytes."
            raise TooManyError([Problem("memory", what, "Give more memory.")])
        step = room.rows_at_once(len(self.names))
        parts = [
            self._combinations(found.between(start, start + step)) for start in range(0, len(found), step)
        ]
        return found, np.concatenate(parts)

    def _combinations(self, contents: Counted) -> Ids:
        codes = zip(self.names, self.packing.unpacked(contents.keys), strict=True)
        columns = {name: replace(self._nobody[name], codes=own.astype(np.int32)) for name, own in codes}
        # Labels are there already.
        told = replace(self.view, lookups={})
        return told.combinations_of(Table(columns, len(contents)))

    def _buckets(self, combinations: Ids, seen: Ids) -> Ids:
        """The bucket of each row, where so many of its combination were seen before; -1 for who is left out."""
        order = in_order(combinations.astype(np.int64))
        counts = np.bincount(combinations, minlength=seen.size)
        ranks = np.empty(combinations.size, dtype=np.int64)
        ranks[order] = ranks_within(counts) + np.repeat(seen, counts)
        seen += counts
        return self.view.buckets_of(combinations, ranks)

    def _dense(self, buckets: Ids) -> Ids:
        """The buckets numbered without those that are left out."""
        return buckets - np.searchsorted(self._gone, buckets) if self._gone.size else buckets
