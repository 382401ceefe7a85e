"""A table read once, batch by batch: rows as numbers on disk, and here the dictionaries with counts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, Problem
from manyveils.methods.parting import Cuts
from manyveils.policy import Policy
from manyveils.policy.sections import Data
from manyveils.promises.work import of_rows
from manyveils.release.packing import Numbers, Packing
from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.persons import Seen, looked_at, refuse_several
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Number, Rows, Writing
from manyveils.streaming.source import Batches
from manyveils.streaming.tally import Tally
from manyveils.table import Table
from manyveils.table.counting import Counting, TooManyError
from manyveils.table.encode import (
    as_read,
    refuse_all_dropped,
    refuse_columns,
    refuse_missing,
    refuse_other_types,
)
from manyveils.table.persons import Identifier, keys_read, names_beside
from manyveils.table.room import refuse_long_cells
from manyveils.table.sketch import Numbered, Sketch, compact, weighted
from manyveils.table.spelling import spelled_out

Ids = NDArray[np.int64]
Progress = Callable[[str, float], None]
# Bytes in memory for a row, and for each of its cells.
ROW, CELL = 200, 85
READING, CODES = "reading", "codes"


@dataclass(frozen=True, repr=False)
class Held(Numbered):
    """Rows as numbers of raw values on disk, and what the numbers mean."""

    rows: Rows
    room: Room
    # For what is kept while the work is done.
    folder: Path

    def n_numbers(self, field: str) -> int:
        """How many different raw values a field has."""
        return self._sizes[field]

    def bytes_for(self, n_rows: int) -> int:
        """What making a release from so many rows in memory was seen to take, at most, the libraries included."""
        return n_rows * self._bytes_of_row + self.room.n_bytes - self.room.free

    @property
    def fits(self) -> bool:
        """Whether a release may be made from all rows in memory."""
        return self.rows.n_rows * self._bytes_of_row <= self.room.free

    @property
    def part_rows(self) -> int:
        """How many rows a part should have that is made by itself, beside others that wait; some are larger."""
        return self.room.part_rows(self._bytes_of_row)

    @property
    def _bytes_of_row(self) -> int:
        return ROW + CELL * len(self.sketch.attributes)

    @property
    def table(self) -> Table:
        """All rows in memory."""
        sketch = self.sketch
        codes = {name: np.empty(self.rows.n_rows, dtype=np.int32) for name in sketch.attributes}
        start = 0
        for batch in self.rows.batches(self.fields(tuple(codes))):
            table = self.table_of(batch, tuple(codes))
            for name, own in codes.items():
                own[start : start + table.n_rows] = table[name].codes
            start += table.n_rows
        attributes = {name: replace(sketch[name], codes=own, weights=None) for name, own in codes.items()}
        told = {one.name: getattr(sketch, one.name) for one in fields(sketch) if one.name != "attributes"}
        return Table(attributes, **told)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {self.field(name): column.codes.size for name, column in self.sketch.attributes.items()}


@dataclass(repr=False)
class _Reading:
    """What has been read so far."""

    policy: Policy
    dictionaries: Sequence[Dictionary]
    seen: Sequence[Seen]
    writing: Writing
    pool: ThreadPoolExecutor
    n_dropped: int = 0

    def take(self, frame: pl.DataFrame) -> None:
        """Number the cells of one more batch."""
        names = [known.name for known in self.dictionaries]
        refuse_long_cells(frame.select(names))
        whole = self._complete(frame, names)
        for one in self.seen:
            one.add(frame if one.is_beside else whole, self.policy)
        numbers = self.pool.map(lambda known: known.numbered(whole[known.name]), self.dictionaries)
        if whole.height:
            self.writing.add(dict(zip(self.writing.fields, numbers, strict=True)), whole.height)

    def _complete(self, frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """The rows that stay where rows with a missing cell are dropped."""
        if self.policy.data.missing != "drop":
            return frame
        are_there = as_read(frame.select(names), self.policy).select(
            pl.all_horizontal(pl.all().is_not_null())
        )
        whole = frame.filter(are_there.to_series())
        self.n_dropped += frame.height - whole.height
        return whole


def hold_streamed(batches: Batches, policy: Policy, room: Room, folder: Path, progress: Progress) -> Held:
    """Read all rows once, and keep them as numbers in a folder; what the table in memory would refuse is refused."""
    outline, names = batches.outline, list(policy.held)
    refuse_columns(outline.columns, policy)
    refuse_other_types(outline.select(names))
    seen = looked_at(outline, policy, folder)
    dictionaries = [Dictionary(name, outline.schema[name]) for name in names]
    asked = list(dict.fromkeys([*names, *keys_read(policy), *names_beside(outline, policy)]))
    with ExitStack() as opened:
        writing = opened.enter_context(Writing(folder / CODES, [f"c{place}" for place in range(len(names))]))
        for one in seen:
            opened.enter_context(one.writing)
        pool = opened.enter_context(ThreadPoolExecutor())
        reading = _Reading(policy, dictionaries, seen, writing, pool)
        stage = READING if batches.n_rows is None else of_rows(READING, batches.n_rows)
        for frame, share in batches.read(asked):
            if frame.height:
                reading.take(frame)
            progress(stage, share)
    if not writing.n_rows:
        if reading.n_dropped:
            refuse_all_dropped(reading.n_dropped)
        raise DataError.at("data", "there is a header but no row.")
    repeating = refuse_several(seen, policy, room)
    sketch = _sketched(dictionaries, reading, repeating, is_text=batches.is_text, form=policy.data)
    numbers = {name: place for place, name in enumerate(names)}
    return Held(sketch, numbers, writing.rows, room, folder)


def _sketched(
    dictionaries: Sequence[Dictionary],
    reading: _Reading,
    repeating: tuple[Identifier, ...],
    *,
    is_text: bool,
    form: Data,
) -> Sketch:
    """The columns as dictionaries with counts."""
    policy, n_rows = reading.policy, reading.writing.n_rows
    values = {known.name: known.values.to_frame() for known in dictionaries}
    spelled = {name: spelled_out(frame, form) if is_text else frame for name, frame in values.items()}
    plain = {name: as_read(frame, policy)[name] for name, frame in spelled.items()}
    counts = {known.name: known.counts for known in dictionaries}
    if policy.data.missing == "error":
        n_missing = {
            name: int(counts[name][column.is_null().to_numpy()].sum()) for name, column in plain.items()
        }
        refuse_missing(n_missing, n_rows)
    columns, derived = weighted({name: partial(plain.__getitem__, name) for name in plain}, counts, policy)
    inferred = tuple(name for name in plain if policy.attributes[name].kind is None)
    # Persons are told apart, though nobody here keeps by what.
    told = pl.DataFrame() if policy.person else None
    return Sketch(columns, n_rows, reading.n_dropped, derived, inferred, keys=told, repeating=repeating)


@dataclass(frozen=True, repr=False)
class Counts(Counting):
    """Combinations counted from the rows on disk."""

    held: Held

    def brought(self, names: tuple[str, ...]) -> Table:
        """Counted from all rows, as far as that fits the memory."""
        fields = self.held.fields(names)
        if len(fields) == len(names):
            return self.in_parts(names, Cuts())[0]
        # Several columns are read from one field, whose numbers are fewer than combinations of their codes.
        packing = Packing(tuple(self.held.n_numbers(field) for field in fields))
        batches = ([batch[field] for field in fields] for batch in self.held.rows.batches(fields))
        numbers, times = self._tallied(names, packing, batches)
        table = self.held.table_of(dict(zip(fields, numbers, strict=True)), names, times)
        return compact(table, {}, are_different=self.held.is_one_each(names))[0]

    def in_parts(self, names: tuple[str, ...], cuts: Cuts) -> tuple[Table, Ids]:
        """The same in every part that rows are cut into, with the part of each combination."""
        held, is_cut = self.held, bool(cuts.each)
        fields = held.fields((*names, *cuts.columns)) or held.fields(tuple(held.sketch.attributes))[:1]
        sizes = tuple(held.sketch[name].n_values for name in names)

        def batches() -> Iterator[Sequence[Number]]:
            for batch in held.rows.batches(fields):
                table, n_rows = held.table_of(batch, (*names, *cuts.columns)), len(batch[fields[0]])
                parts = cuts.parts_of({name: table[name].codes for name in cuts.columns}, n_rows)
                yield [*([parts] if is_cut else []), *table.codes(names)]

        packing = Packing((cuts.n_parts, *sizes) if is_cut else sizes)
        numbers, times = self._tallied(names, packing, batches())
        told = zip(names, numbers[len(numbers) - len(names) :], strict=True)
        columns = {
            name: replace(held.sketch[name], codes=own.astype(np.int32, copy=False), weights=times)
            for name, own in told
        }
        table = Table(columns, times.size, derived=held.sketch.derived, weights=times)
        return table, numbers[0].astype(np.int64) if is_cut else np.zeros(times.size, dtype=np.int64)

    def _tallied(
        self, names: tuple[str, ...], packing: Packing, batches: Iterable[Sequence[Number]]
    ) -> tuple[list[Numbers], Ids]:
        """Different rows of numbers in order, and how often each is there, as far as they fit the memory."""
        most = self.most_cells // (len(packing.sizes) + 1)
        tally = Tally(len(packing.groups), self.held.folder / "tally", self.held.room)
        try:
            for batch in batches:
                tally.add(packing.packed(batch))
                if tally.n_least > most:
                    raise TooManyError([_too_many(self.held, names, most)])
            found = tally.different(most)
        finally:
            tally.forget()
        if found is None:
            raise TooManyError([_too_many(self.held, names, most)])
        return packing.unpacked(found.keys), found.times


def _too_many(held: Held, names: tuple[str, ...], most: int) -> Problem:
    homes = ", ".join(dict.fromkeys(held.sketch.home(name) for name in names))
    return Problem(
        "memory",
        f"more than {most:,} combinations of {homes}: their counts do not fit {held.room.n_bytes:,} bytes.",
        "Give more memory, round numbers or group rare values before publishing, or give fewer quasi-identifiers.",
    )
