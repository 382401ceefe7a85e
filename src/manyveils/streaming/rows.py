"""Rows on disk as numbers, field by field, each as narrow as its numbers are; what they mean is not there."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

Number = NDArray[np.integer]
WIDTHS = (np.uint8, np.uint16, np.uint32, np.int64)


def narrow(n_values: int) -> np.dtype[np.integer]:
    """The narrowest type for numbers below `n_values`.

    >>> narrow(256), narrow(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return next(np.dtype(width) for width in WIDTHS if n_values - 1 <= np.iinfo(width).max)


@dataclass(frozen=True)
class Piece:
    """Where the numbers of one batch stand in the file of a field, and how wide they are."""

    offset: int
    n_rows: int
    dtype: np.dtype[np.integer]


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows that were written: batch by batch, as they came."""

    folder: Path
    pieces: Mapping[str, list[Piece]]
    n_rows: int

    @property
    def n_batches(self) -> int:
        """How many batches there are."""
        return max(map(len, self.pieces.values()), default=0)

    def forget(self) -> None:
        """Remove them from the disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def batches(self, fields: Sequence[str]) -> Iterator[dict[str, Number]]:
        """The numbers of some fields, batch by batch; a field without numbers is not read."""
        files = {name: (self.folder / name).open("rb") for name in fields}
        try:
            for number in range(self.n_batches):
                yield {name: _read(files[name], self.pieces[name][number]) for name in fields}
        finally:
            for file in files.values():
                file.close()


def _read(file: BinaryIO, piece: Piece) -> Number:
    # Read and not mapped: what is mapped counts as memory as long as the system likes.
    file.seek(piece.offset)
    numbers: Number = np.fromfile(file, dtype=piece.dtype, count=piece.n_rows)
    if numbers.size != piece.n_rows:
        raise OSError("a file of rows is shorter than it was written")
    return numbers


@dataclass(repr=False)
class Writing:
    """Rows as they are being written; a context that closes its files."""

    folder: Path
    fields: Sequence[str]
    n_rows: int = 0
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    _files: dict[str, BinaryIO] = field(default_factory=dict)

    def __enter__(self) -> "Writing":
        self.folder.mkdir()
        for name in self.fields:
            self._files[name] = (self.folder / name).open("wb")
            self.pieces[name] = []
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, batch: Mapping[str, Number], n_rows: int) -> None:
        """Write one more batch: all fields, with numbers of any width."""
        for name, numbers in batch.items():
            file = self._files[name]
            self.pieces[name].append(Piece(file.tell(), n_rows, numbers.dtype))
            numbers.tofile(file)
        self.n_rows += n_rows

    @property
    def rows(self) -> Rows:
        """What was written."""
        return Rows(self.folder, self.pieces, self.n_rows)
