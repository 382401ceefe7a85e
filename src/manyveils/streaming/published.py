"""Published tables read batch by batch: their different rows with counts, their order, and whether they are written as always."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.content import count_falls
from manyveils.errors import DataError
from manyveils.release.packing import Packing
from manyveils.release.release import UNREADABLE, as_published, header_of
from manyveils.release.views import ColumnFile
from manyveils.release.writing import Streamed, marked_beside, write_batches, write_csv
from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.held import CODES
from manyveils.streaming.room import Room
from manyveils.streaming.rows import Number, Rows, Writing
from manyveils.streaming.tally import Tally
from manyveils.table.packed import Source
from manyveils.table.shape import Shape, records

Ids = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class PublishedTable:
    """One published table: rows as numbers on disk, the value of each number, and the rows that differ from the last."""

    path: Path
    file: ColumnFile
    rows: Rows
    values: dict[str, pl.Series]
    n_falls: int
    is_marked: bool
    is_untold: bool

    @property
    def fields(self) -> list[str]:
        """The fields of the rows."""
        return [f"c{place}" for place in range(len(self.values))]

    def frame(self, numbers: list[Ids]) -> pl.DataFrame:
        """Rows as they are published."""
        columns = zip(self.values.items(), numbers, strict=True)
        return pl.DataFrame([values.gather(own).alias(name) for (name, values), own in columns])

    def different(self, room: Room) -> tuple[pl.DataFrame, Ids] | None:
        """The different rows with how often each is there; nothing if there are too many."""
        packing = Packing(tuple(map(len, self.values.values())))
        tally = Tally(len(packing.groups), self.rows.folder / "different", room.most_keys)
        try:
            for batch in self.rows.batches(self.fields):
                tally.add(packing.packed([batch[field] for field in self.fields]))
            found = tally.different(room.most_cells // (len(self.values) + 1))
        finally:
            tally.forget()
        if found is None:
            return None
        return self.frame(packing.unpacked(found.keys)), found.times

    def forget(self) -> None:
        """Remove what is on disk."""
        self.rows.forget()


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
    dictionaries = {name: Dictionary(name, dtype) for name, dtype in schema.items()}
    n_falls, is_marked, last = 0, False, pl.DataFrame(schema=schema)
    with Writing(folder / CODES, [f"c{place}" for place in range(len(schema))]) as writing:
        for frame, is_as_written in chain([first], frames):
            is_marked |= not is_as_written
            numbers = [known.numbered(frame[name]) for name, known in dictionaries.items()]
            n_falls += count_falls(pl.concat([last, _turns(frame, numbers)]))
            last = frame.tail(1) if frame.height else last
            writing.add({f"c{place}": own for place, own in enumerate(numbers)}, frame.height)
    values = {name: known.values for name, known in dictionaries.items()}
    table = PublishedTable(path, file, writing.rows, values, n_falls, is_marked, is_untold=False)
    if path.suffix != ".parquet" or not path.is_file():
        return table
    marked, untold = _beside_written(table, folder / "again.parquet")
    return replace(table, is_marked=marked, is_untold=untold)


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
        for batch in table.rows.batches(table.fields):
            frame = table.frame([batch[field].astype(np.int64) for field in table.fields])
            while frame.height:
                taken = frame.head(size - n_held)
                frames.append(taken)
                frame, n_held = frame.slice(taken.height), n_held + taken.height
                if n_held == size:
                    yield pl.concat(frames)
                    frames, n_held, size = [], 0, next(wanted, 0)

    schema = {name: values.dtype for name, values in table.values.items()}
    try:
        write_batches(Streamed(schema, table.rows.n_rows, rows), again, format="parquet")
        return marked_beside(table.path, again)
    finally:
        again.unlink(missing_ok=True)
