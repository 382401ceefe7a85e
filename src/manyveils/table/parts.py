"""A table in several files of one folder, as engines write it."""

from pathlib import Path

import polars as pl

from manyveils.errors import DataError
from manyveils.policy.sections import Data
from manyveils.table.door import Restore, read_file, take_in

ENDINGS = (".csv", ".parquet", ".pq", ".arrow", ".feather", ".ipc")


def is_folder_of_parts(path: Path) -> bool:
    """Whether a folder holds parts of a table and nothing else, so that it is no release and no other folder."""
    if not path.is_dir():
        return False
    parts, others = _parts_and_others(path)
    return bool(parts) and not others


def take_in_parts(data: object, form: Data | None = None) -> tuple[pl.DataFrame, Restore]:
    """Read what `take_in` reads, or a folder of parts with the same columns."""
    if not isinstance(data, str | Path) or "://" in str(data) or not Path(data).is_dir():
        return take_in(data, form)
    refuse_others(Path(data))
    if not is_folder_of_parts(Path(data)):
        return take_in(data, form)
    parts, _ = _parts_and_others(Path(data))
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


def refuse_others(folder: Path) -> None:
    """Raise an error where a folder holds parts of a table and something else."""
    parts, others = _parts_and_others(folder)
    if parts and others:
        n_folders = sum(other.is_dir() for other in others)
        counts = {"file": len(others) - n_folders, "folder": n_folders}
        told = " and ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
        what = f"the folder holds something else than parts of a table: {told}."
        raise DataError.at(str(folder), what, "Move that elsewhere, or begin its name with _.")


def _parts_and_others(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files that hold rows, in the order of their names, and what else is there.

    What engines add for themselves begins with _ or a dot, and is neither.
    """
    visible = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    parts = [path for path in visible if path.is_file() and path.suffix.lower() in ENDINGS]
    return parts, [path for path in visible if path not in parts]
