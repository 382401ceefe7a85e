"""Folders that appear whole or not at all."""

import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyveils.errors import InputError
from manyveils.release.preparing import clear_leftovers, prepared

REPORT = "report.html"
RELEASE = {"release.json", "tables", "recodings"}
PLACEMENTS = "placements.parquet"
# While a release is being replaced, its own ledger stands beside the next one's.
LEDGER, REPLACED = "ledger.zip", "ledger.replaced.zip"
# The digest of the release as it was published.
AS_PUBLISHED = "release.sha256"
# The audit, and the signed digest of it, the policy and the release.
AUDIT, DIGEST, SIGNATURE = "audit.json", "digest.json", "digest.sig"
SIGNED = {AUDIT, DIGEST, SIGNATURE}
PRIVATE = {*SIGNED, "plan.json", "seed.json", "key.json", PLACEMENTS, LEDGER, REPLACED, AS_PUBLISHED, REPORT}
DEMO = {"hospital.csv", "policy.toml"}
DEMO_OF_VISITS = {"visits.csv", "visits.toml"}
# What renameat2 takes: paths from the root, and an exchange.
IN_FULL, EXCHANGE = -100, 2
COMPARISON = {"comparison.json", "policy.toml", "frontier.svg"}


@contextmanager
def staged(target: Path, *, force: bool = False, mode: int = 0o755) -> Iterator[Path]:
    """Prepare a folder beside the target and move it there at the end; on any failure nothing is left.

    What killed runs left there is cleared.
    """
    refuse_existing(target, force=force)
    new_parents = [parent for parent in target.parents if not parent.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        folder, lock = prepared(target)
    except OSError as error:
        _remove_empty(new_parents)
        raise _unwritable(target, error) from None
    try:
        yield folder
        _flush(folder)
        folder.chmod(mode)
        _move(folder, target, force=force)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)
        _remove_empty(new_parents)


def refuse_existing(target: Path, *, force: bool) -> None:
    """An existing folder is replaced only by force and if it is one of ours, and never a file."""
    try:
        if not target.exists() or (force and _is_ours(target)):
            return
    except OSError as error:
        raise _unwritable(target, error) from None
    remedy = "Choose another place, or give --force." if _is_ours(target) else "Choose another place."
    raise InputError.at(str(target), f"is there already{_unlike(target, force=force)}.", remedy)


def _is_ours(target: Path) -> bool:
    """Whether a folder is empty, or a release, its private part, a comparison or a demo, and nothing else is in it."""
    if not target.is_dir():
        return False
    names = {path.name for path in target.iterdir()}
    for table in (DEMO, DEMO_OF_VISITS):
        if names >= table:
            return all(_is_ours(target / name) for name in names - table - {REPORT})
    if names == {REPORT}:
        # A report makes the private folder of a release that came without one.
        return target.name.endswith(".private")
    marks = {"release.json", "audit.json", "comparison.json", PLACEMENTS, LEDGER, REPLACED}
    ours = (RELEASE, PRIVATE, COMPARISON)
    return not names or (bool(names & marks) and any(names <= kind for kind in ours))


def _unlike(target: Path, *, force: bool) -> str:
    return ", and it is not a release or a demo" if force or not target.is_dir() else ""


def _remove_empty(parents: list[Path]) -> None:
    """Remove the folders that were made on the way to a target which never came."""
    for parent in parents:
        try:
            parent.rmdir()
        except OSError:
            return


def write_file(target: Path, text: str, *, force: bool, mode: int = 0o644) -> None:
    """Write a file that appears whole or not at all; an existing one is replaced only by force.

    Folders on the way are made; the last of them is for its owner alone if the file is.
    """
    refuse_file(target, force=force)
    new_parents = [parent for parent in target.parents if not parent.exists()]
    try:
        target.parent.mkdir(mode=0o755 if mode & 0o077 else 0o700, parents=True, exist_ok=True)
        _replace(target, text, mode)
    except OSError as error:
        _remove_empty(new_parents)
        raise _unwritable(target, error) from None


def _replace(target: Path, text: str, mode: int) -> None:
    # Nobody else can read a file that mkstemp makes.
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    aside = Path(name)
    os.close(number)
    try:
        write_text(aside, text)
        aside.chmod(mode)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def refuse_file(target: Path, *, force: bool) -> None:
    """A file that is there already is replaced only by force, and a folder never; nothing can stand inside a file."""
    try:
        nearest = next(path for path in (target, *target.parents) if path.exists())
        is_folder = nearest.is_dir()
    except OSError as error:
        raise _unwritable(target, error) from None
    if nearest != target and not is_folder:
        what = "is a file, and nothing can be put inside it."
        raise InputError.at(str(nearest), what, "Name another place.")
    if nearest == target and is_folder:
        raise InputError.at(str(target), "is a folder.", "Name a file.")
    if nearest == target and not force:
        raise InputError.at(str(target), "is there already.", "Choose another place, or give --force.")


def path_from(folder: Path, target: Path) -> str:
    """The way from a folder to a file; the whole path where they lie on different drives."""
    try:
        return Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix()
    except ValueError:
        return target.resolve().as_posix()


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with plain line ends on any machine."""
    path.write_text(text, encoding="utf-8", newline="\n")


def _move(folder: Path, target: Path, *, force: bool) -> None:
    # It may have come into being since the work began.
    refuse_existing(target, force=force)
    if not target.exists():
        folder.rename(target)
        return
    if _exchanged(folder, target):
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(aside / "old")
    try:
        folder.rename(target)
    except BaseException:
        (aside / "old").rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders changed places in a single step, so that both are always there; only Linux knows how."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, TypeError, AttributeError):
        return False
    return bool(
        rename(IN_FULL, os.fsencode(one.resolve()), IN_FULL, os.fsencode(other.resolve()), EXCHANGE) == 0
    )


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _unwritable(target: Path, error: OSError) -> InputError:
    reason = error.strerror or str(error).rstrip(".") or type(error).__name__
    remedy = "Nothing was left there. Check space and permissions."
    return InputError.at(str(target), f"cannot be written: {reason}.", remedy)
