"""How a release is written: every content has one sequence of bytes, so that a file can hold no mark."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from manyveils.errors import DataError
from manyveils.release.views import Manifest

if TYPE_CHECKING:
    from manyveils.release.release import Release

MANIFEST = "release.json"
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


def n_marked(release: "Release", folder: Path, tables: Mapping[str, Path]) -> int:
    """How many files of a release that was read from a folder are not what it is written as, byte for byte.

    Parts of a table, which several machines wrote, are not looked at; and Parquet files only where the library that
    wrote them is the one that is here, since another one lays out the same table in another way.
    """
    paths = {name: path for name, path in tables.items() if path.is_file()}
    format = "csv" if any(path.suffix == ".csv" for path in paths.values()) else "parquet"  # noqa: A001
    n_files = int(_differs(folder / MANIFEST, manifest_text(release.manifest, format).encode()))
    for key, pairs in release.recodings.items():
        target = io.BytesIO()
        write_recoding(pairs, target)
        n_files += _differs(
            folder / "recodings" / f"{release.manifest.recodings[key]}.csv", target.getbuffer()
        )
    for name, path in paths.items():
        if path.suffix == ".parquet" and not _is_ours(path):
            continue
        target = io.BytesIO()
        write_table(release.frames[name], target, format=path.suffix[1:])
        n_files += _differs(path, target.getbuffer())
    return n_files


def _differs(path: Path, expected: bytes | memoryview) -> bool:
    if path.stat().st_size != len(expected):
        return True
    with path.open("rb") as file:
        return any(
            file.read(CHUNK) != expected[start : start + CHUNK] for start in range(0, len(expected), CHUNK)
        )


def _is_ours(path: Path) -> bool:
    """Whether a Parquet file says that the library that is here wrote it."""
    import pyarrow.parquet as pq

    written, here = io.BytesIO(), pl.DataFrame({"a": [0]})
    here.write_parquet(written)
    try:
        return bool(pq.read_metadata(path).created_by == pq.read_metadata(written).created_by)
    except (OSError, ValueError) as error:
        raise DataError.at(
            str(path), f"is damaged: its footer cannot be read ({type(error).__name__})."
        ) from None
