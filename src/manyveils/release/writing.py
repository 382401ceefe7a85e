"""How a release is written: every content has one sequence of bytes, so that a file can hold no mark."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def write_table(frame: pl.DataFrame, target: Path | io.BytesIO, *, format: str) -> None:  # noqa: A002
    """Write one published table."""
    if format == "csv":
        # Moments are spelled as everywhere else, not in the csv writer's own way.
        frame = frame.with_columns(cs.datetime().cast(pl.String), cs.time().cast(pl.String))
        # In a file of one column a missing cell would be a blank line, which many readers skip.
        frame.write_csv(target, null_value='""' if frame.width == 1 else None)
        return
    try:
        # Groups of rows in the file go by how a frame came to be, unless it is in one piece.
        frame.rechunk().write_parquet(target)
    except pl.exceptions.ComputeError as error:
        # This is how the library says that the disk is full.
        raise OSError(str(error)) from None


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
    paths = {name: path for name, path in tables.items() if path.is_file()}
    format = "csv" if any(path.suffix == ".csv" for path in paths.values()) else "parquet"  # noqa: A001
    n_marked, n_untold = int(_differs(folder / MANIFEST, manifest_text(release.manifest, format).encode())), 0
    for key, pairs in release.recodings.items():
        target = io.BytesIO()
        # Also the order of lines could tell something.
        write_recoding(pairs.sort("published", "original"), target)
        n_marked += _differs(
            folder / "recodings" / f"{release.manifest.recodings[key]}.csv", target.getbuffer()
        )
    for name, path in paths.items():
        target = io.BytesIO()
        write_table(release.frames[name], target, format=path.suffix[1:])
        if path.suffix == ".parquet" and not _is_by_one_writer(path, target):
            n_untold += 1
            n_marked += not _metadata(path).keys() <= METADATA
        else:
            n_marked += _differs(path, target.getbuffer())
    return n_marked, n_untold


def _differs(path: Path, expected: bytes | memoryview) -> bool:
    if path.stat().st_size != len(expected):
        return True
    with path.open("rb") as file:
        return any(
            file.read(CHUNK) != expected[start : start + CHUNK] for start in range(0, len(expected), CHUNK)
        )


def _is_by_one_writer(path: Path, other: io.BytesIO) -> bool:
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
