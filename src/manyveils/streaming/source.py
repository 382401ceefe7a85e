"""Data read batch by batch: a csv file by whole records, others by rows, and a dataframe as it is."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.streaming.room import Room
from manyveils.table.door import Restore, damaged, read_header, take_in, unchanged
from manyveils.table.foreign import READERS
from manyveils.table.packed import UNPACKING, Source
from manyveils.table.shape import Shape, records
from manyveils.table.spelling import UTF_16
from manyveils.table.stored import ARROW, PARQUET, is_stored, scanned, unread

# A batch, and the share of the data that has been read with it.
Batch = tuple[pl.DataFrame, float]
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@dataclass(frozen=True, repr=False)
class Batches:
    """Data that are read as often as they are asked for; `is_text` where every cell is as it was written.

    `n_rows` is how many rows there are, if that can be told before they are read.
    """

    schema: pl.Schema
    read: Callable[[Sequence[str]], Iterator[Batch]]
    restore: Restore
    is_text: bool = False
    n_rows: int | None = None

    @property
    def outline(self) -> pl.DataFrame:
        """The columns without rows."""
        return pl.DataFrame(schema=self.schema)


def batches_of(data: object, form: Data, room: Room) -> Batches:
    """How to read data, without having read any of their rows."""
    path = Path(data) if isinstance(data, str | Path) and "://" not in str(data) else None
    if path is None or not path.is_file() or not _is_streamed(path, form):
        # Spreadsheets, databases, packed files and dataframes are in memory anyway, or small.
        if isinstance(data, pl.LazyFrame):
            return _scanned(data, room, _damaged("data"))
        if isinstance(data, str) and is_stored(data):
            return _scanned(scanned(data), room, unread(data))
        frame, restore = take_in(data, form)
        return Batches(frame.schema, lambda names: _sliced(frame, names, room), restore, n_rows=frame.height)
    if path.suffix.lower() in PARQUET:
        return _scanned(pl.scan_parquet(path, glob=False), room, _damaged(str(path)))
    if path.suffix.lower() in ARROW:
        return _scanned(pl.scan_ipc(path, glob=False), room, _damaged(str(path)))
    return _of_csv(path, form, room)


def _is_streamed(path: Path, form: Data) -> bool:
    suffix = path.suffix.lower()
    if suffix in UNPACKING or suffix in READERS:
        return False
    if suffix in (*PARQUET, *ARROW):
        return True
    with path.open("rb") as file:
        return form.encoding is None and file.read(2) not in UTF_16


def _sliced(frame: pl.DataFrame, names: Sequence[str], room: Room) -> Iterator[Batch]:
    step = room.rows_at_once(len(names))
    chosen = frame.select(names)
    for start in range(0, frame.height, step):
        yield chosen.slice(start, step), min((start + step) / frame.height, 1.0)


def _scanned(rows: pl.LazyFrame, room: Room, refusal: DataError) -> Batches:
    """Rows asked for one range after another: what has been read is let go, which no stream of batches promises."""
    try:
        schema = rows.collect_schema()
        n_rows = int(rows.select(pl.len()).collect().item())
    except UNREADABLE:
        raise refusal from None

    def read(names: Sequence[str]) -> Iterator[Batch]:
        step = room.rows_at_once(len(names))
        for start in range(0, n_rows, step):
            try:
                yield rows.select(names).slice(start, step).collect(), min((start + step) / n_rows, 1.0)
            except UNREADABLE:
                raise refusal from None

    return Batches(schema, read, unchanged, n_rows=n_rows)


def _damaged(where: str) -> DataError:
    # The library's own message may quote cells.
    return DataError.at(where, "is damaged or not of the kind its ending says.")


def _of_csv(path: Path, form: Data, room: Room) -> Batches:
    names, delimiter = read_header(path, form.delimiter)
    source, n_bytes = Source(path, path.name), room.bytes_at_once(len(names))

    def read(chosen: Sequence[str]) -> Iterator[Batch]:
        return _read_csv(source, names, delimiter, chosen, n_bytes)

    return Batches(pl.Schema(dict.fromkeys(names, pl.String())), read, unchanged, is_text=True)


def _read_csv(
    source: Source, names: Sequence[str], delimiter: str, chosen: Sequence[str], n_bytes: int
) -> Iterator[Batch]:
    shape, n_total, n_read = Shape(len(names), delimiter), max(source.n_bytes, 1), 0
    # Of a file that is torn nothing more is read than how often it is.
    for content, n_records, blank in records(source, shape, n_bytes):
        if not shape.wrong:
            has_header = not n_read
            frame = _parsed(source, content, names, delimiter, has_header=has_header)
            if frame.height != n_records - has_header:
                raise damaged(source)
            if blank.size and len(names) > 1:
                # A blank line is nobody; the reader makes it a row of missing cells.
                is_person = ~np.isin(np.arange(frame.height), blank - has_header)
                frame = frame.filter(is_person)
            yield frame.select(chosen), (n_read + len(content)) / n_total
        n_read += len(content)


def _parsed(
    source: Source, content: bytes, names: Sequence[str], delimiter: str, *, has_header: bool
) -> pl.DataFrame:
    # Under a header of its own a batch is read as the file is; without one, blank lines at its beginning are skipped.
    header = b"" if has_header else delimiter.join(f"{place}" for place in range(len(names))).encode() + b"\n"
    try:
        return pl.read_csv(
            io.BytesIO(header + content), separator=delimiter, infer_schema=False, new_columns=list(names)
        )
    except UNREADABLE as error:
        raise damaged(source, str(error)) from None
