"""Where each row of the original stands in a release: in the private folder, for the publisher and the judge alone."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError
from manyveils.release.folder import AS_PUBLISHED, PLACEMENTS
from manyveils.release.release import UNREADABLE

Placements = Mapping[str, NDArray[np.int64]]
DIGEST = re.compile(r"[0-9a-f]{64}")


def private_folder(folder: Path) -> Path:
    """Where the private things of a release are, unless they were put elsewhere."""
    return folder.parent / f"{folder.name}.private"


def write_placements(placements: Placements, path: Path) -> None:
    """Write a field for each view, and a line for each row of the original."""
    frame = pl.DataFrame({view: pl.Series(rows, dtype=pl.Int64) for view, rows in placements.items()})
    try:
        frame.write_parquet(path)
    except pl.exceptions.ComputeError as error:
        # This is how the library says that the disk is full.
        raise OSError(str(error)) from None


def read_digest(private: Path) -> str | None:
    """The digest with which a release was published, in its private folder; None where there is none."""
    path = private / AS_PUBLISHED
    damaged = DataError.at(
        str(path), "is damaged: it cannot be read.", "Restore it from a copy, or remove it."
    )
    try:
        digest = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise damaged from None
    # What is cut off or scribbled over says nothing of the release.
    if not DIGEST.fullmatch(digest):
        raise damaged
    return digest


def read_placements(private: Path) -> dict[str, NDArray[np.int64]]:
    """The placements in a private folder; nothing where there are none."""
    path = private / PLACEMENTS
    if not path.is_file():
        return {}
    try:
        frame = pl.read_parquet(path, glob=False)
    except UNREADABLE:
        raise DataError.at(str(path), "is damaged: it cannot be read.", "Remove it.") from None
    numbers = (column for column in frame if column.dtype.is_integer() and not column.null_count())
    return {column.name: column.to_numpy().astype(np.int64) for column in numbers}
