"""How much memory may be used, and what that leaves for each kind of work."""

import re
from dataclasses import dataclass

from manyveils.errors import InputError
from manyveils.methods.parts import TOLERATED

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)
# What the process takes before it has read a row, and the least that rows need besides.
LIBRARIES, LEAST = 400 * 10**6, 600 * 10**6
# What a cell takes of a batch while it is read, numbered and let go; of counts, while a plan is made of them; and of
# published rows while they are judged, where it is a text again.
CELL_READ, CELL_COUNTED, CELL_JUDGED = 120, 35, 80
# What a row takes while runs are added up, and each of its keys: as it came, in order, and counted in three runs.
ROW_ADDED, KEY_ADDED = 16, 32
MOST_ROWS, FEWEST_ROWS = 1_000_000, 10_000
MOST_BYTES = 1 << 25


@dataclass(frozen=True)
class Room:
    """The memory that the whole process may use, in bytes; rows of a batch are chosen by it unless they are given."""

    n_bytes: int
    batch_rows: int | None = None

    @property
    def free(self) -> int:
        """What is left once all libraries are loaded."""
        return max(self.n_bytes - LIBRARIES, 0)

    def rows_at_once(self, n_columns: int) -> int:
        """How many rows are read, coded or written at once."""
        if self.batch_rows is not None:
            return self.batch_rows
        fitting = self.free // (8 * CELL_READ * max(n_columns, 1))
        return max(min(fitting, MOST_ROWS), FEWEST_ROWS)

    def bytes_at_once(self, n_columns: int) -> int:
        """How many bytes of a text file are read at once, whose cells have some ten characters."""
        return min(10 * n_columns * self.rows_at_once(n_columns), MOST_BYTES)

    def rows_counted(self, n_keys: int) -> int:
        """How many rows of so many 64-bit keys are counted at once; the other half is for what is done with them."""
        return max(self.free // 2 // (ROW_ADDED + n_keys * KEY_ADDED), FEWEST_ROWS)

    def part_rows(self, row_bytes: int) -> int:
        """How many rows a part should have, of so many bytes each; the other half is for rows that wait, and for counts."""
        return max(self.free // 2 // (TOLERATED * row_bytes), 1)

    @property
    def most_cells(self) -> int:
        """How many cells of counts a plan may be made from."""
        return self.free // CELL_COUNTED

    @property
    def most_judged(self) -> int:
        """How many cells of published rows are judged at once."""
        return self.free // CELL_JUDGED


# A size such as "8GB", bytes, or a room that was read before; none where all rows may be in memory.
Memory = str | int | Room | None


def read_size(asked: str | int | Room) -> Room:
    """The room that a size such as 8GB, 500 MB or 2GiB leaves; too little for anything is refused.

    >>> read_size("8GB").n_bytes
    8000000000
    """
    if isinstance(asked, Room):
        return asked
    n_bytes = asked if isinstance(asked, int) else _parsed(asked)
    if n_bytes < LEAST:
        what = f"{n_bytes:,} bytes are less than the libraries and one batch of rows take."
        raise InputError.at("memory", what, f"Give {LEAST // 10**6} MB or more.")
    return Room(n_bytes)


def _parsed(asked: str) -> int:
    told = SIZE.fullmatch(asked)
    if told is None:
        raise InputError.at("memory", f"{asked!r} is not a size.", "Write it like 8GB or 500MB.")
    number, unit, binary = told.groups()
    return int(float(number) * (BINARY if binary and unit else UNITS)[unit.upper()])
