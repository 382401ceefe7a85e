"""What is said of a path at which somebody expects a release or a table, and there is none."""

from pathlib import Path

from manyveils.errors import DataError
from manyveils.release.writing import MANIFEST
from manyveils.table.parts import refuse_others


def refuse_no_release(folder: Path) -> None:
    """Raise an error that says what there is instead, where there is no release."""
    if (folder / MANIFEST).exists():
        return
    subject = str(folder)
    if not folder.exists():
        raise DataError.at(subject, "there is no such file or folder.", "Check the path.")
    if not folder.is_dir():
        raise DataError.at(subject, "is a file, and not the folder of a release.")
    refuse_others(folder)
    raise DataError.at(subject, f"is not a release folder: there is no {MANIFEST}.")
