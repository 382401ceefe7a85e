"""How much is brought to the driver, and how many rows one task makes at once; both may be set from outside."""

import os

from manyveils.errors import InputError, Problem

CELLS = "MANYVEILS_DRIVER_CELLS"
ROWS = "MANYVEILS_PART_ROWS"
WHOLE = "MANYVEILS_WHOLE_CELLS"


def driver_cells() -> int:
    """How many numbers may be brought to the driver for one question; 8 bytes each, a few times over."""
    return _set_from_outside(CELLS, 20_000_000)


def whole_cells() -> int:
    """How many cells a table may have that is brought to the driver whole; some 100 bytes each."""
    return _set_from_outside(WHOLE, 10_000_000)


def part_rows() -> int:
    """How many rows a part may have that is made, or judged, by one task."""
    return _set_from_outside(ROWS, 500_000)


def _set_from_outside(name: str, usual: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return usual
    if not text.isascii() or not text.isdigit() or not int(text):
        raise InputError([Problem(name, "must be a whole number above 0.", f"Leave it out for {usual:,}.")])
    return int(text)
