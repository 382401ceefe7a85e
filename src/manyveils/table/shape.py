"""Where the records of a csv file end, and whether each has all its fields."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import DataError
from manyveils.table.packed import Source

Numbers = NDArray[np.int64]
QUOTE, NEWLINE = 0x22, 0x0A
CHUNK = 1 << 24


@dataclass(repr=False)
class Shape:
    """Counts the records of a file and their fields, piece by piece; readers fill up in silence what is short."""

    n_fields: int
    delimiter: str
    n_records: int = 0
    wrong: int = 0
    first: int = 0
    _open: tuple[int, bool, bool] = field(default=(1, False, True))

    def after(self, piece: bytes) -> tuple[int, Numbers]:
        """Where the last record ends that ends in a piece, and the blank ones among those that do, numbered from 0.

        Without an end it is 0.
        """
        fields, quoted, empty = self._open
        found = _fields_per_record(piece, self.delimiter, fields, quoted=quoted, empty=empty)
        counts, fields, quoted, empty, end = found
        self._open = fields, quoted, empty
        bad = np.flatnonzero((counts != self.n_fields) & (counts > 0))
        if bad.size and not self.wrong:
            self.first = self.n_records + int(bad[0]) + 1
        self.wrong += bad.size
        self.n_records += len(counts)
        return end, np.flatnonzero(counts == 0)

    def finish(self, where: object) -> bool:
        """Refuse records with too few or too many fields; whether the last one is not ended."""
        fields, _, empty = self._open
        if not empty:
            self.n_records += 1
            if fields != self.n_fields:
                self.wrong, self.first = self.wrong + 1, self.first or self.n_records
        if self.wrong:
            raise DataError.at(
                str(where),
                f"{self.wrong} rows do not have the header's {self.n_fields} fields, the first is record {self.first}.",
                f"Fields are separated by {self.delimiter!r}; if that is wrong, set delimiter in [data].",
            )
        return not empty


def check_shape(source: Source, n_fields: int, delimiter: str) -> tuple[int, Numbers]:
    """Refuse records with too few or too many fields; count records, and list blank ones."""
    shape, blank = Shape(n_fields, delimiter), []
    with source.open() as file:
        while chunk := file.read(CHUNK):
            before = shape.n_records
            blank.append(before + shape.after(chunk)[1])
    shape.finish(source)
    return shape.n_records, np.concatenate(blank)


def records(source: Source, shape: Shape, n_bytes: int) -> Iterator[tuple[bytes, int, Numbers]]:
    """Whole records, some bytes at a time: their bytes, their number, and the blank ones among them.

    Claim: put together they are the file, and none is cut in two.
    Why: a piece ends where a record ends outside of quotes, and what comes after it stands before the next.
    Tested by: tests/streaming/test_source.py
    """
    rest: list[bytes] = []
    with source.open() as file:
        while piece := file.read(n_bytes):
            before = shape.n_records
            end, blank = shape.after(piece)
            if end:
                yield b"".join([*rest, piece[:end]]), shape.n_records - before, blank
                rest = []
            rest.append(piece[end:])
    if shape.finish(source):
        yield b"".join(rest), 1, np.zeros(0, dtype=np.int64)


def _fields_per_record(
    chunk: bytes, delimiter: str, fields: int, *, quoted: bool, empty: bool
) -> tuple[Numbers, int, bool, bool, int]:
    """Count the fields of the records that end in the chunk (0 for a blank line), what is left open, and where it begins."""
    data = np.frombuffer(chunk, dtype=np.uint8)
    ends, marks = data == NEWLINE, data == ord(delimiter)
    quotes = data == QUOTE
    if quoted or quotes.any():
        outside = ~(np.bitwise_xor.accumulate(quotes) ^ quoted)
        ends, marks = ends & outside, marks & outside
        quoted = not bool(outside[-1])
    stops = np.flatnonzero(ends)
    places = np.flatnonzero(marks)
    before = np.searchsorted(places, stops)
    counts = np.diff(before, prepend=0) + 1
    starts = np.concatenate(([0], stops[:-1] + 1)) if stops.size else stops
    blank = stops - starts <= (data[np.maximum(stops - 1, 0)] == 0x0D)
    if stops.size:
        counts[0] += fields - 1
        blank[0] &= empty
        counts[blank] = 0
        last = int(stops[-1]) + 1
        fields, empty = 1 + places.size - int(before[-1]), chunk[last:] in (b"", b"\r")
    else:
        last = 0
        fields, empty = fields + places.size, empty and chunk == b"\r"
    return counts, fields, quoted, empty, last
