"""Folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyveils.errors import InputError, Problem


@contextmanager
def staged(target: Path, *, force: bool = False, mode: int = 0o755) -> Iterator[Path]:
    """Prepare a folder beside the target and move it there at the end; on any failure nothing is left."""
    refuse_existing(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        yield folder
        _flush(folder)
        folder.chmod(mode)
        _move(folder, target)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_existing(target: Path, *, force: bool) -> None:
    """An existing folder is replaced only by force, and never a file."""
    if target.exists() and not (force and target.is_dir()):
        remedy = "Choose another place." if target.is_file() else "Choose another place, or give --force."
        raise InputError([Problem(str(target), "is there already.", remedy)])


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with plain line ends on any machine."""
    path.write_text(text, encoding="utf-8", newline="\n")


def _move(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(aside / "old")
    try:
        folder.rename(target)
    except OSError:
        (aside / "old").rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _unwritable(target: Path, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(
        [
            Problem(
                str(target),
                f"cannot be written: {reason}.",
                "Nothing was left there. Check space and permissions.",
            )
        ]
    )
