"""Where the log ended last, kept outside the database: in memory, and in a file of the server's folder.

Whoever has the database can put back an older end of the log with its seal; but this says that it was longer.
"""

import fcntl
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Lock

from manyveils.server.secret import Secret

logger = logging.getLogger("manyveils.server")
FILE = "log.head"


@dataclass(frozen=True)
class Mark:
    """A number of the log, and the hash of the entry that has it."""

    number: int
    hash: str


class Heads:
    """The last end of the log that this folder's servers have seen."""

    def __init__(self, folder: Path, secret: Secret, former: Sequence[Secret] = ()) -> None:
        self._file, self._secrets, self._lock = folder / FILE, (secret, *former), Lock()
        self.latest, self.fault = self._read()
        # Set whenever the log has grown.
        self.grown = Event()

    def keep(self, mark: Mark) -> None:
        """Remember an end that was committed, unless a later one is known."""
        with self._lock:
            if self.latest is not None and self.latest.number >= mark.number:
                return
            self.latest = mark
            self.grown.set()
            try:
                self._write(mark)
            except OSError as error:
                # What was committed stays so; the file falls behind until it can be written.
                logger.error("%s cannot be written: %s", FILE, error.strerror)

    def restart(self, mark: Mark) -> None:
        """Forget what was known, because another database was put in the place of the one before."""
        with self._lock:
            self.latest, self.fault = mark, ""
            self._put(mark)

    def _read(self) -> tuple[Mark | None, str]:
        if not self._file.exists():
            return None, ""
        try:
            document = json.loads(self._file.read_text(encoding="ascii"))
            mark = Mark(int(document["number"]), str(document["hash"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None, f"{FILE} in the server's folder cannot be read"
        if document.get("seal") not in [_seal(secret, mark) for secret in self._secrets]:
            return None, f"{FILE} in the server's folder was not written by this server"
        return mark, ""

    def _write(self, mark: Mark) -> None:
        """Write the file whole, unless another server of the folder has written a later end."""
        with self._file.with_suffix(".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            written, _ = self._read()
            if written is not None and written.number >= mark.number:
                return
            self._put(mark)

    def _put(self, mark: Mark) -> None:
        text = json.dumps(asdict(mark) | {"seal": _seal(self._secrets[0], mark)}) + "\n"
        staged = self._file.with_suffix(".new")
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        staged.replace(self._file)


def _seal(secret: Secret, mark: Mark) -> str:
    return secret.seal("mark", str(mark.number), mark.hash)
