"""Folders that are being prepared: whoever makes one holds a lock on it, so that those of dead processes can be told."""

import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

# What a lock says is certain on one machine only, so names tell of the machine.
MACHINE = hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()
RANDOM = "[a-z0-9_]{8}"


def prepared(target: Path) -> tuple[Path, int | None]:
    """A new hidden folder beside the target, and the lock on it, which ends with the process or when it is closed.

    The lock is None where the system or the disk knows none; nobody clears the folder then.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.{MACHINE}.", dir=target.parent))
        lock = _opened(folder)
        if lock is None or not _is_locked(lock, waits=True) or _is_still(folder, lock):
            return folder, lock
        # Another process took it for a dead one's before it was locked.
        os.close(lock)


def clear_leftovers(target: Path) -> None:
    """Remove the hidden folders that killed runs for the same target left.

    Claim: no folder goes that a living process prepares.
    Why: a folder is removed only while its lock is held here, which the system refuses as long as its maker lives; and
    a maker who gets the lock too late sees that the folder is gone, and makes another.
    Tested by: tests/trail/test_interrupted.py
    """
    named = re.compile(rf"\.{re.escape(target.name)}\.{MACHINE}\.{RANDOM}")
    try:
        left = [path for path in target.parent.iterdir() if named.fullmatch(path.name)]
    except OSError:
        return
    for folder in left:
        lock = None if folder.is_symlink() or not folder.is_dir() else _opened(folder)
        if lock is None:
            continue
        if _is_locked(lock, waits=False) and _is_still(folder, lock):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Wait until nobody else moves anything into a folder; where the system knows no locks, nobody waits."""
    lock = _opened(folder)
    try:
        if lock is not None:
            _is_locked(lock, waits=True)
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _opened(folder: Path) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:
        return None


def _is_locked(lock: int, *, waits: bool) -> bool:
    """Lock an open folder; False where that cannot be done."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_still(folder: Path, lock: int) -> bool:
    """Whether the folder is there, and the one that was opened."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(lock))
    except OSError:
        return False
