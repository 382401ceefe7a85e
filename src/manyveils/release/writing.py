"""How a release is written: every content has one sequence of bytes, so that a file can hold no mark."""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl
import polars.selectors as cs

from manyveils.errors import DataError
from manyveils.release.views import Manifest

if TYPE_CHECKING:
    from manyveils.release.release import Release

MANIFEST = "release.json"
# What libraries note of a table in Parquet without being asked.
METADATA = {b"ARROW:schema"}
# What is compared at once.
CHUNK = 1 << 20
ROWS_AT_ONCE = 250_000


def write_table(frame: pl.DataFrame, target: Path | io.BytesIO, *, format: str) -> None:  # noqa: A002
    """Write one published table."""
    if format == "csv":
        write_csv(frame, target)
        return
    try:
        # Groups of rows in the file go by how a frame came to be, unless it is in one piece.
        frame.rechunk().write_parquet(target)
    except pl.exceptions.ComputeError as error:
        # This is how the library says that the disk is full.
        raise OSError(str(error)) from None


def write_csv(frame: pl.DataFrame, target: Any, *, has_header: bool = True) -> None:
    """Write rows of a published table as text."""
    # Moments are spelled as everywhere else, not in the csv writer's own way.
    frame = frame.with_columns(cs.datetime().cast(pl.String), cs.time().cast(pl.String))
    # In a file of one column a missing cell would be a blank line, which many readers skip.
    frame.write_csv(target, include_header=has_header, null_value='""' if frame.width == 1 else None)


def write_batches(table: "Streamed", target: Path, *, format: str) -> None:  # noqa: A002
    """Write one published table that is not in memory as a whole.

    Claim: the bytes are those of `write_table`, whatever the batches.
    Why: in csv rows know nothing of each other; a Parquet file is made of groups of rows, which are handed to the
    library one by one, as large as it would make them itself.
    Tested by: tests/streaming/test_writing.py
    """
    if format == "csv":
        with target.open("wb") as file:
            write_csv(pl.DataFrame(schema=table.schema), file)
            for frame in table.rows(ROWS_AT_ONCE):
                write_csv(frame, file, has_header=False)
        return
    if not table.n_rows:
        write_table(pl.DataFrame(schema=table.schema), target, format=format)
        return
    sizes = _row_groups(table.n_rows)
    try:
        _source(table, sizes).sink_parquet(target)
    except pl.exceptions.ComputeError as error:
        raise OSError(str(error)) from None


@dataclass(frozen=True, repr=False)
class Streamed:
    """A published table whose rows come some at a time, in order; `rows` takes how many, or how many for each time."""

    schema: Mapping[str, pl.DataType]
    n_rows: int
    rows: Callable[[int | Sequence[int]], Iterator[pl.DataFrame]]


def _row_groups(n_rows: int) -> list[int]:
    """How many rows of a table the library puts into each group, which it tells by doing so with an empty one."""
    import pyarrow.parquet as pq

    target = io.BytesIO()
    pl.select(pl.repeat(False, n_rows)).write_parquet(target)
    footer = pq.read_metadata(target)
    return [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]


def _source(table: Streamed, sizes: Sequence[int]) -> pl.LazyFrame:
    from polars.io.plugins import register_io_source

    def rows(*_: object) -> Iterator[pl.DataFrame]:
        # In one piece each, as the library would cut them from a table.
        return (frame.rechunk() for frame in table.rows(sizes))

    return register_io_source(rows, schema=pl.Schema(table.schema))


def write_recoding(pairs: pl.DataFrame, target: Path | io.BytesIO) -> None:
    """Write what the labels of one attribute cover."""
    pairs.write_csv(target, separator=";")


def manifest_text(manifest: Manifest, format: str) -> str:  # noqa: A002
    """The manifest as it is written."""
    return json.dumps(manifest.describe(format), indent=2, ensure_ascii=False) + "\n"


def marked(release: "Release", folder: Path, tables: Mapping[str, Path]) -> tuple[int, int]:
    """How many files of a release that was read from a folder are not what it is written as, and how many cannot be told.

    Parts of a table, which several machines wrote, are not looked at. Another library, or version of it, lays the same
    table out in another way, so that of its Parquet files only the metadata are looked at.
    """
    n_marked, n_untold = marked_in_listing(release, folder, tables), 0
    for name, path in tables.items():
        if path.is_file():
            target = io.BytesIO()
            write_table(release.frames[name], target, format=path.suffix[1:])
            is_marked, is_untold = marked_beside(path, target)
            n_marked, n_untold = n_marked + is_marked, n_untold + is_untold
    return n_marked, n_untold


def marked_in_listing(release: "Release", folder: Path, tables: Mapping[str, Path]) -> int:
    """How many of the manifest and the recodings are not what they are written as."""
    format = "csv" if any(path.suffix == ".csv" for path in tables.values() if path.is_file()) else "parquet"  # noqa: A001
    n_marked = int(_differs(folder / MANIFEST, io.BytesIO(manifest_text(release.manifest, format).encode())))
    for key, pairs in release.recodings.items():
        target = io.BytesIO()
        # Also the order of lines could tell something.
        write_recoding(pairs.sort("published", "original"), target)
        n_marked += _differs(folder / "recodings" / f"{release.manifest.recodings[key]}.csv", target)
    return n_marked


def marked_beside(path: Path, expected: io.BytesIO | Path) -> tuple[bool, bool]:
    """Whether a table is not what it is written as, and whether nobody can tell."""
    if path.suffix == ".parquet" and not _is_by_one_writer(path, expected):
        return not _metadata(path).keys() <= METADATA, True
    if isinstance(expected, io.BytesIO):
        return _differs(path, expected), False
    with expected.open("rb") as file:
        return _differs(path, file), False


def _differs(path: Path, expected: BinaryIO) -> bool:
    if path.stat().st_size != expected.seek(0, io.SEEK_END):
        return True
    expected.seek(0)
    with path.open("rb") as file:
        return any(file.read(CHUNK) != piece for piece in iter(lambda: expected.read(CHUNK), b""))


def _is_by_one_writer(path: Path, other: io.BytesIO | Path) -> bool:
    """Whether two Parquet files say that the same library wrote them."""
    return bool(_footer(path).created_by == _footer(other).created_by)


def _metadata(path: Path) -> Mapping[bytes, bytes]:
    return dict(_footer(path).metadata or {})


def _footer(file: Path | io.BytesIO) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file)
    except (OSError, ValueError) as error:
        where = str(file) if isinstance(file, Path) else "a table"
        raise DataError.at(
            where, f"is damaged: its footer cannot be read ({type(error).__name__})."
        ) from None
