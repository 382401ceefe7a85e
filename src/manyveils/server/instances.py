"""Which servers are alive: each holds a lock on a file of its own, which the system lets go when it dies."""

import fcntl
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from time import sleep
from typing import IO

from manyveils.errors import InputError
from manyveils.server.settings import Settings

# Seconds after which a server that says nothing is dead.
SILENT = 90.0
TRIES = 10


@dataclass(frozen=True)
class Instance:
    """One server among those that share a folder, and the folder for its unfinished work."""

    name: str
    work: Path
    lock: IO[bytes]

    def leave(self) -> None:
        """Let go, and take the unfinished work away."""
        shutil.rmtree(self.work, ignore_errors=True)
        _lock_path(self.work).unlink(missing_ok=True)
        self.lock.close()


@contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """Let one server at a time begin on a folder; the others wait."""
    try:
        file = (settings.folder / "beginning.lock").open("ab")
    except OSError as error:
        raise InputError.at(str(settings.folder), f"cannot be used: {error.strerror}.") from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def arrive(settings: Settings) -> Instance:
    """Begin as a new instance; alone, or another that begins could take it for dead before it holds its lock."""
    name = token_hex(8)
    work = settings.work / name
    file = _lock_path(work).open("ab")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    work.mkdir(mode=0o700)
    return Instance(name, work, file)


def dead_instances(settings: Settings) -> list[str]:
    """The instances that died here."""
    return [path.stem for path in sorted(settings.work.glob("*.lock")) if _is_dead(path)]


def bury(settings: Settings, dead: Iterable[str]) -> None:
    """Take away what dead instances left, once their jobs are settled."""
    for name in dead:
        _remove(settings.work / name)
        _lock_path(settings.work / name).unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove a folder, into which a process of the dead server may still have written a moment ago."""
    for _ in range(TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        sleep(0.1)


def _lock_path(work: Path) -> Path:
    return work.with_name(work.name + ".lock")


def _is_dead(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
