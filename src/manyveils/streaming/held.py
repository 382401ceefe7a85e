"""A table read once, batch by batch: rows as numbers on disk, and here the dictionaries with counts."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.policy import Policy
from manyveils.policy.sections import Data
from manyveils.promises.work import of_rows
from manyveils.release.packing import Packing
from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.persons import Seen, looked_at, refuse_several
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Rows, Writing
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

    @property
    def n_bytes(self) -> int:
        """What making a release from all rows in memory was seen to take, at most."""
        return self.rows.n_rows * (ROW + CELL * len(self.sketch.attributes))

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
        # Fields that have several columns are fewer than these, and then their numbers are counted.
        is_coded = len(fields) == len(names)
        sizes = [self.held.sketch[name].n_values for name in names] if is_coded else [
            self.held.n_numbers(field) for field in fields
        ]
        packing, most = Packing(tuple(sizes)), self.most_cells // (len(fields) + 1)
        tally = Tally(len(packing.groups), self.held.folder / "tally", self.held.room)
        try:
            for batch in self.held.rows.batches(fields):
                table = self.held.table_of(batch, names) if is_coded else None
                tally.add(packing.packed([batch[field] for field in fields] if table is None else table.codes(names)))
                if tally.n_least > most:
                    raise TooManyError([_too_many(self.held, names, most)])
            found = tally.different(most)
        finally:
            tally.forget()
        if found is None:
            raise TooManyError([_too_many(self.held, names, most)])
        numbers = packing.unpacked(found.keys)
        if is_coded:
            told = zip(names, numbers, strict=True)
            columns = {name: replace(self.held.sketch[name], codes=own, weights=found.times) for name, own in told}
            return Table(columns, len(found), derived=self.held.sketch.derived, weights=found.times)
        table = self.held.table_of(dict(zip(fields, numbers, strict=True)), names, found.times)
        return compact(table, {}, are_different=self.held.is_one_each(names))[0]


def _too_many(held: Held, names: tuple[str, ...], most: int) -> Problem:
    homes = ", ".join(dict.fromkeys(held.sketch.home(name) for name in names))
    return Problem(
        "memory",
        f"more than {most:,} combinations of {homes}: their counts do not fit {held.room.n_bytes:,} bytes.",
        "Give more memory, round numbers or group rare values before publishing, or give fewer quasi-identifiers.",
    )
