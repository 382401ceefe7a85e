"""What a table would take once it is read, and how much memory there is; said before libraries run out and abort."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from manyveils.errors import FOR_MEMORY, DataError, Problem
from manyveils.table.footer import unpacked_bytes

# A cell is a value of an attribute; a text as long as this is none, and every label of it would be as long.
LONGEST_CELL = 1_000_000
# A table and its codes side by side; publishing was never seen to need less than four times.
TIMES = 2
GIB = 2**30
PIECE = 1 << 22
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory() -> int:
    """How many bytes this process may still come to hold: what the machine has, or what it is allowed."""
    return min(_of_machine(), *_of_container(), *_of_process())


def _of_machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def _of_container() -> Iterator[int]:
    for file in LIMITS:
        try:
            yield int(file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue


def _of_process() -> Iterator[int]:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        return
    if limit != resource.RLIM_INFINITY:
        yield max(limit - pages * resource.getpagesize(), 0)


def refuse_bytes(where: str, told: str, n_bytes: int) -> None:
    """Refuse what needs more memory than there is; `told` says what it is."""
    there = memory()
    if n_bytes > there:
        what = f"{told} need {n_bytes / GIB:.3g} GiB of memory or more, and there are {there / GIB:.3g}."
        raise DataError.at(where, what, FOR_MEMORY)


def refuse_rows(where: str, rows: pl.LazyFrame, *, n_unpacked: int = 0) -> None:
    """Refuse a file whose rows would not fit, before one of them is read: a small file may hold very many."""
    schema, n_rows = rows.collect_schema(), int(rows.select(pl.len()).collect().item())
    held = n_rows * sum(16 if dtype in (pl.String, pl.Binary) else 8 for dtype in schema.dtypes())
    told = f"{n_rows:,} rows of {len(schema)} columns"
    refuse_bytes(where, told, TIMES * max(held, n_unpacked))


def parquet_fits(where: str, file: BinaryIO) -> None:
    """Refuse a Parquet file that would not fit, by its footer."""
    n_unpacked = unpacked_bytes(file)
    file.seek(0)
    refuse_rows(where, pl.scan_parquet(file, glob=False), n_unpacked=n_unpacked)
    file.seek(0)


def unpacked(where: str, read: Callable[[int], bytes]) -> bytes:
    """All of a packed file, unless it is more than there is room for: a few bytes may unpack to very many."""
    content, room = bytearray(), memory() // TIMES
    while piece := read(PIECE):
        content += piece
        if len(content) > room:
            what = f"unpacks to more than {room / GIB:.3g} GiB, and there is no memory for that."
            raise DataError.at(where, what, FOR_MEMORY)
    return bytes(content)


def refuse_long_cells(frame: pl.DataFrame) -> None:
    """Refuse texts that are no values."""
    DataError.refuse(_long_cells(frame.select(pl.col(pl.String))))


def _long_cells(texts: pl.DataFrame) -> Iterable[Problem]:
    for column in texts:
        sizes = column.str.len_bytes()
        longest = int(sizes.max() or 0)  # type: ignore[arg-type]
        if longest > LONGEST_CELL:
            n_long = int((sizes > LONGEST_CELL).sum())
            what = f"{n_long:,} cells are longer than {LONGEST_CELL:,} bytes; the longest has {longest:,}."
            yield Problem(
                f"data: {column.name}", what, 'Shorten them, or leave the column out: role = "drop".'
            )
