"""A table in several files of one folder, as engines write it."""

from pathlib import Path

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.table.door import Restore, read_file, take_in

ENDINGS = (".csv", ".parquet", ".pq", ".arrow", ".feather", ".ipc")


def is_folder_of_parts(path: Path) -> bool:
    """Whether a folder holds parts of a table and nothing else, so that it is no release and no other folder."""
    return path.is_dir() and bool(_parts(path)) and len(_parts(path)) == len(_visible(path))


def take_in_parts(data: object, form: Data | None = None) -> tuple[pl.DataFrame, Restore]:
    """Read what `take_in` reads, or a folder of parts with the same columns."""
    if not isinstance(data, str | Path) or "://" in str(data) or not is_folder_of_parts(Path(data)):
        return take_in(data, form)
    parts = _parts(Path(data))
    frames = [read_file(part, form) for part in parts]
    n_unlike = sum(frame.columns != frames[0].columns for frame in frames)
    if n_unlike:
        what = f"{n_unlike} of {len(parts)} parts do not have the columns of the first."
        raise DataError.at(str(data), what, "Parts of one table have the same columns in the same order.")
    try:
        return pl.concat(frames, how="vertical_relaxed"), take_in(frames[0])[1]
    except pl.exceptions.PolarsError:
        what = f"{len(parts)} parts have columns of different types."
        raise DataError.at(str(data), what, "Write all parts with the same types.") from None


def _parts(folder: Path) -> list[Path]:
    """The files that hold rows, in the order of their names; what engines add for themselves begins with _ or a dot."""
    return sorted(path for path in _visible(folder) if path.is_file() and path.suffix.lower() in ENDINGS)


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name[0] not in "._"]
