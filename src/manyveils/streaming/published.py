"""Published tables read batch by batch: their different rows with counts, their order, and whether they are written as always."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.content import count_falls
from manyveils.errors import DataError, Problem
from manyveils.release.packing import Packing
from manyveils.release.release import UNREADABLE, as_published, header_of
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile
from manyveils.release.writing import Streamed, marked_beside, write_batches, write_csv
from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.held import CODES
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Number, Rows, Writing, narrow
from manyveils.streaming.tally import Tally
from manyveils.table.counting import TooManyError
from manyveils.table.packed import Source
from manyveils.table.shape import Shape, records

Ids = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class PublishedTable:
    """One published table: rows as numbers on disk, and the values that these stand for, field by field.

    `fields` has the file of numbers of each field; a bucket is its own number, and there are `n_buckets` of them.
    `n_falls` counts rows below the row before them.
    """

    path: Path
    file: ColumnFile
    rows: Rows
    fields: Mapping[str, str]
    known: Mapping[str, pl.Series]
    times: Mapping[str, Ids]
    room: Room
    n_buckets: int = 0
    n_falls: int = 0
    is_marked: bool = False
    is_untold: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Its fields, the bucket among them if there is one."""
        return tuple(self.fields)

    @property
    def values(self) -> Mapping[str, pl.Series]:
        """The different values of each attribute."""
        return {name: self.known[name] for name in self.fields if name != BUCKET}

    @property
    def counts(self) -> Mapping[str, Ids]:
        """How often each value is there."""
        return {name: self.times[name] for name in self.fields if name != BUCKET}

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.rows.n_rows

    @property
    def empty(self) -> pl.DataFrame:
        """The table without its rows."""
        return pl.DataFrame(
            schema={name: pl.Int64() if name == BUCKET else self.known[name].dtype for name in self.fields}
        )

    @property
    def least_cells(self) -> int:
        """How many cells the different rows have at least: rows of buckets are taken to be all different."""
        return self.n_rows * len(self.fields) if BUCKET in self.fields else 0

    def showing(self, names: set[str]) -> "PublishedTable":
        """The table with some of its fields only."""
        return replace(self, fields={name: field for name, field in self.fields.items() if name in names})

    def frame(self, numbers: Iterable[NDArray[np.integer]]) -> pl.DataFrame:
        """Rows as they are published."""
        columns = zip(self.fields, numbers, strict=True)
        return pl.DataFrame([self._shown(name, own.astype(np.int64)) for name, own in columns])

    def _shown(self, name: str, numbers: Ids) -> pl.Series:
        if name == BUCKET:
            return pl.Series(name, numbers)
        return self.known[name].gather(numbers).alias(name)

    def sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many numbers some fields have."""
        return tuple(self.n_buckets if name == BUCKET else len(self.known[name]) for name in names)

    def batches(self) -> Iterator[list[Number]]:
        """The numbers of all rows, batch by batch."""
        return self.picked(tuple(self.fields))

    def picked(self, names: Sequence[str]) -> Iterator[list[Number]]:
        """The numbers of some fields of all rows, batch by batch."""
        chosen = [self.fields[name] for name in names]
        for batch in self.rows.batches(chosen):
            yield [batch[field] for field in chosen]

    def distinct(self, most_cells: int) -> tuple[pl.DataFrame, Ids]:
        """The different rows, and how often each is there."""
        most = most_cells // (len(self.fields) + 1)
        what = f"has more than {most:,} different rows, which do not fit {self.room.n_bytes:,} bytes at once."
        too_many = TooManyError([Problem(self.file.table, what, "Give more memory.")])
        packing = Packing(self.sizes(tuple(self.fields)))
        tally = Tally(len(packing.groups), self.rows.folder / "different", self.room)
        try:
            for batch in self.batches():
                tally.add(packing.packed(batch))
                if tally.n_least > most:
                    raise too_many
            found = tally.different(most)
        finally:
            tally.forget()
        if found is None:
            raise too_many
        return self.frame(packing.unpacked(found.keys)), found.times


def read_streamed(path: Path, file: ColumnFile, room: Room, folder: Path) -> PublishedTable:
    """Read one published table, and look at the order of its rows and at how they are written."""
    try:
        return _read(path, file, room, folder)
    except UNREADABLE as error:
        if isinstance(error, OSError) and path.is_file():
            # The disk is full, or its reader fails: that is no fault of the table.
            raise
        raise _damaged(path) from None


def _damaged(path: Path) -> DataError:
    return DataError.at(str(path), "is damaged: it cannot be read as the manifest describes it.")


def _read(path: Path, file: ColumnFile, room: Room, folder: Path) -> PublishedTable:
    frames = _frames(path, file, room)
    first = next(frames)
    schema = first[0].schema
    dictionaries = {name: Dictionary(name, dtype) for name, dtype in schema.items() if name != BUCKET}
    fields = {name: f"c{place}" for place, name in enumerate(schema)}
    n_falls, is_marked, n_buckets, last = 0, False, 0, pl.DataFrame(schema=schema)
    with Writing(folder / CODES, list(fields.values())) as writing:
        for frame, is_as_written in chain([first], frames):
            is_marked |= not is_as_written
            numbers = [
                _buckets(frame[name], path) if name == BUCKET else dictionaries[name].numbered(frame[name])
                for name in fields
            ]
            n_buckets = (
                max(n_buckets, int(numbers[list(fields).index(BUCKET)].max(initial=0)) + 1)
                if BUCKET in fields
                else 0
            )
            n_falls += count_falls(pl.concat([last, _turns(frame, numbers)]))
            last = frame.tail(1) if frame.height else last
            writing.add(dict(zip(fields.values(), numbers, strict=True)), frame.height)
    values = {name: known.values for name, known in dictionaries.items()}
    times = {name: known.counts for name, known in dictionaries.items()}
    table = PublishedTable(
        path, file, writing.rows, fields, values, times, room, n_buckets, n_falls, is_marked
    )
    if path.suffix != ".parquet" or not path.is_file():
        return table
    marked, untold = _beside_written(table, folder / "again.parquet")
    return replace(table, is_marked=marked, is_untold=untold)


def _buckets(cells: pl.Series, path: Path) -> Number:
    """Buckets as numbers: others might be told apart by one reader and not by another."""
    if not cells.dtype.is_integer() or cells.null_count() or int(cells.min() or 0) < 0:  # type: ignore[arg-type]
        raise DataError.at(str(path), "is damaged: its buckets are no whole numbers.")
    numbers: Number = cells.to_numpy()
    return numbers.astype(narrow(int(numbers.max(initial=0)) + 1))


def _turns(frame: pl.DataFrame, numbers: Sequence[Number]) -> pl.DataFrame:
    """The rows that differ from the row before them; equal ones are in order."""
    if frame.height < 2:
        return frame
    differs = np.logical_or.reduce([own[1:] != own[:-1] for own in numbers])
    return frame[np.append(0, np.flatnonzero(differs) + 1)]


def _frames(path: Path, file: ColumnFile, room: Room) -> Iterator[tuple[pl.DataFrame, bool]]:
    """The rows as published, and whether they are written as always, as far as can be told by and by."""
    n_columns = len(file.attributes) + 1
    if path.suffix != ".csv":
        parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
        for part in parts:
            rows = pl.scan_parquet(part, glob=False)
            n_rows, step = int(rows.select(pl.len()).collect().item()), room.rows_at_once(n_columns)
            for start in range(0, max(n_rows, 1), step):
                yield as_published(rows.slice(start, step).collect(), None), True
        return
    names = header_of(path)
    source, n_read = Source(path, path.name), 0
    for content, n_records, _ in records(source, Shape(len(names), ","), room.bytes_at_once(n_columns)):
        is_first = not n_read
        header = b"" if is_first else b",".join(b"%d" % place for place in range(len(names))) + b"\n"
        texts = pl.read_csv(io.BytesIO(header + content), infer_schema=False, new_columns=names)
        if texts.height != n_records - is_first:
            raise _damaged(path)
        frame = as_published(texts, file.types)
        again = io.BytesIO()
        write_csv(frame, again, has_header=is_first)
        yield frame, again.getbuffer() == content
        n_read += len(content)


def _beside_written(table: PublishedTable, again: Path) -> tuple[bool, bool]:
    """Whether a Parquet file is not what is written of its rows, and whether nobody can tell."""

    def rows(sizes: object) -> Iterator[pl.DataFrame]:
        assert not isinstance(sizes, int)
        wanted, frames, n_held = iter(sizes), list[pl.DataFrame](), 0  # type: ignore[call-overload]
        size = next(wanted, 0)
        for batch in table.batches():
            frame = table.frame(batch)
            while frame.height:
                taken = frame.head(size - n_held)
                frames.append(taken)
                frame, n_held = frame.slice(taken.height), n_held + taken.height
                if n_held == size:
                    yield pl.concat(frames)
                    frames, n_held, size = [], 0, next(wanted, 0)

    try:
        write_batches(Streamed(dict(table.empty.schema), table.rows.n_rows, rows), again, format="parquet")
        return marked_beside(table.path, again)
    finally:
        again.unlink(missing_ok=True)
