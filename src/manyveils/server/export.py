"""Where the log ends, told elsewhere as it grows: to syslog or to a web address, signed, so that a cut shows there.

A line has the number and the hash of the last entry, when it was told, and an Ed25519 signature on these.
"""

import json
import logging
import logging.handlers
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from threading import Event, Thread
from urllib.parse import urlsplit

from sqlalchemy import select

from manyveils.errors import InputError, fault
from manyveils.server.heads import Mark
from manyveils.server.keeper import Keeper
from manyveils.server.moments import moment
from manyveils.server.schema import log
from manyveils.server.settings import is_loopback

logger = logging.getLogger("manyveils.server")
# Seconds between two lines: many entries are told by the last of them.
BETWEEN = 1.0
AGAIN = 10.0


@dataclass(frozen=True)
class Line:
    """An end of the log as it is told."""

    number: int
    hash: str
    time: str
    signature: str


class Syslog(logging.handlers.SysLogHandler):
    """A way to syslog whose faults are told by whoever sends."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Let the fault be seen."""
        raise


class Export:
    """Tells where the log ends whenever it has grown, until it is stopped."""

    def __init__(self, keeper: Keeper, address: str) -> None:
        _refuse_unfit(address)
        self._keeper, self._address = keeper, address
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="export", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Tell the last end, and stop."""
        self._stopping.set()
        self._keeper.heads.grown.set()
        self._thread.join(timeout=AGAIN)

    def _run(self) -> None:
        grown, told = self._keeper.heads.grown, None
        while True:
            grown.wait()
            grown.clear()
            mark = self._keeper.heads.latest
            if mark is not None and mark != told:
                told = mark if self._tell(mark) else told
            if self._stopping.wait(BETWEEN if mark == told else AGAIN):
                return
            if mark != told:
                grown.set()

    def _tell(self, mark: Mark) -> bool:
        text = json.dumps(asdict(signed(self._keeper, mark)))
        try:
            _send(self._address, text)
        except Exception as error:
            logger.error("where the log ends cannot be told elsewhere: %s", fault(error))
            return False
        return True


def signed(keeper: Keeper, mark: Mark) -> Line:
    """An end of the log with a signature."""
    time = moment(keeper.now())
    return Line(mark.number, mark.hash, time, keeper.secret.sign(_signed_text(mark, time)).hex())


def compare_lines(keeper: Keeper, lines: Iterable[str]) -> str:
    """Why the log is not the one that these lines tell of; empty if it is. Lines of other kinds are passed over."""
    with keeper.database.reading() as connection:
        for text in lines:
            line = _read(text)
            if line is None:
                continue
            if not keeper.secret.has_signed(_signed_text(line, line.time), line.signature):
                return f"the line about entry {line.number} was not signed by this server"
            query = select(log.c.hash).where(log.c.number == line.number)
            if connection.execute(query).scalar_one_or_none() != line.hash:
                return f"entry {line.number} is not the one that was told elsewhere"
    return ""


def _signed_text(mark: Mark | Line, time: str) -> bytes:
    return f"manyveils log {mark.number} {mark.hash} {time}".encode()


def _read(text: str) -> Line | None:
    """The line in a text, which may have the time and the name of a log before it."""
    start = text.find("{")
    try:
        return Line(**json.loads(text[start:])) if start >= 0 else None
    except (ValueError, TypeError):
        return None


def _send(address: str, text: str) -> None:
    import httpx

    if address.startswith("http"):
        httpx.post(
            address, content=text, headers={"Content-Type": "application/json"}, timeout=10
        ).raise_for_status()
        return
    parts = urlsplit(address)
    place = parts.path if parts.path else (parts.hostname or "", parts.port or 514)
    handler = Syslog(place)
    try:
        handler.emit(logging.LogRecord("manyveils", logging.INFO, "", 0, f"manyveils: {text}", None, None))
    finally:
        handler.close()


def _refuse_unfit(address: str) -> None:
    parts = urlsplit(address)
    is_plain = parts.scheme == "http" and not is_loopback(parts.hostname or "")
    if parts.scheme not in ("syslog", "https", "http") or is_plain:
        raise InputError.at("--export", "must be syslog:///dev/log, syslog://host:514 or https://….")
    if parts.scheme == "syslog" and parts.hostname:
        try:
            socket.getaddrinfo(parts.hostname, parts.port or 514)
        except OSError:
            raise InputError.at("--export", "names a host that is not known.") from None
