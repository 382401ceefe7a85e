"""What becomes of a case: it is published and judged; and many cases, two processes at most, each with a time limit."""

import contextlib
import csv
import multiprocessing
import os
import signal
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

from tests.fuzz.cases import Case, Rows
from tests.fuzz.oracle import judged

LIMIT = 20.0
# Waiting for disks takes longer than the work on small tables.
MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Outcome:
    """What happened: `kept`, `refused` or what kind of finding it is, with where; and how much was judged."""

    kind: str
    where: str = ""
    n_confirmed: int = 0
    n_releases: int = 0
    unjudged: tuple[str, ...] = ()
    message: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether something has to be mended."""
        return self.kind not in ("kept", "refused")

    def is_like(self, other: "Outcome") -> bool:
        """Whether it is the same failure."""
        return (self.kind, self.where) == (other.kind, other.where)


def outcome(case: Case) -> Outcome:
    """Publish a case, and the later rows after it, and judge what came out; without a time limit."""
    import manyveils as mv

    n_confirmed = n_releases = 0
    unjudged: list[str] = []
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        earlier: list[Path] = []
        for number, rows in enumerate((case.rows, *case.later)):
            out = Path(folder) / f"release-{number}"
            try:
                _publish(case, rows, out, tuple(earlier))
            except mv.BrokenPromise as error:
                if all("knows everybody's" in line for line in str(error).splitlines()):
                    # This one promise is kept by refusing what was made, and the message says so.
                    return Outcome("refused", message=str(error))
                return Outcome("our own audit", f"{case.method}: {_promise(error)}", message=str(error))
            except (mv.InputError, mv.InfeasibleError) as error:
                return Outcome(
                    "kept" if n_releases else "refused",
                    "",
                    n_confirmed,
                    n_releases,
                    tuple(unjudged),
                    str(error),
                )
            except Exception as error:
                return Outcome("exception", _place(error), message=traceback.format_exc(limit=-4))
            private = out.parent / f"{out.name}.private"
            told = judged(out, private, rows, case.sections, case.population)
            # The one promise that is kept in another way there.
            is_same = "marketer_risk" not in case.sections.get("guarantee", {})
            if case.batch is not None and is_same and not _is_alike(case, rows, out):
                told.broken.add("other files than with all rows in memory")
            if told.broken:
                return Outcome("violation", f"{case.method}: {', '.join(sorted(told.broken))}")
            n_confirmed, n_releases = n_confirmed + told.n_confirmed, n_releases + 1
            unjudged += told.unjudged
            earlier.append(out)
    return Outcome("kept", "", n_confirmed, n_releases, tuple(unjudged))


def _publish(case: Case, rows: Rows, out: Path, earlier: tuple[Path, ...]) -> None:
    import manyveils as mv
    from manyveils.publishing import publish_to
    from manyveils.streaming.room import Room

    sections = dict(case.sections)
    if case.population is not None:
        people = out.parent / "people.csv"
        _write(people, list(case.population[0]) if case.population else ["none"], case.population)
        sections["population"] = {"source": str(people)}
    publish_to(
        mv.Policy(**sections),
        out,
        data=_data(case, rows, out.parent / f"{out.name}.data.csv"),
        format=case.format,
        seed=len(earlier),
        after=earlier,
        memory=None if case.batch is None else Room(2 * 10**9, batch_rows=case.batch),
    )


def _is_alike(case: Case, rows: Rows, out: Path) -> bool:
    """Whether the release has the same bytes as the one that is made with all rows in memory."""
    other = out.parent / "at-once"
    _publish(replace(case, batch=None), rows, other, ())
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (out, other)
    )
    return one == two


def _data(case: Case, rows: Sequence[dict[str, Any]], path: Path) -> object:
    import polars as pl

    if case.source == "frame":
        return pl.DataFrame({name: [row.get(name) for row in rows] for name in case.columns}, strict=False)
    _write(path, case.columns, rows)
    return path


def _write(path: Path, columns: Sequence[str], rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            cells = ["" if (cell := row.get(name)) is None else cell for name in columns]
            writer.writerow([str(cell).lower() if isinstance(cell, bool) else cell for cell in cells])


def _promise(error: Exception) -> str:
    """Which promises are broken, without numbers."""
    words = str(error).splitlines()[0].split(":")
    return ":".join(words[:2])[:60] if words else ""


def _place(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "manyveils" in frame.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "outside"
    return f"{type(error).__name__} in {place}"


def serve(pipe: Connection) -> None:
    """Take cases from a pipe and say what became of them."""
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            case, limit = pipe.recv()
            # The default action of the signal ends the process, whatever it is doing.
            signal.setitimer(signal.ITIMER_PROF, limit)
            try:
                pipe.send(outcome(case))
            except Exception as error:
                pipe.send(Outcome("oracle", _place_of_oracle(error), message=traceback.format_exc(limit=-4)))


def _place_of_oracle(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.name}"


class Worker:
    """A process that runs a case at a time, and is started again when one took too long."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        # Read when Polars is loaded: on small tables, threads wait for each other most of the time.
        os.environ["POLARS_MAX_THREADS"] = "1"
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.since = 0.0

    def give(self, case: Case, limit: float) -> None:
        """Start a case."""
        self.since = monotonic()
        self.pipe.send((case, limit))

    def taken(self, limit: float) -> Outcome | None:
        """What became of it, if that is known."""
        if self.pipe.poll():
            try:
                return self.pipe.recv()
            except (EOFError, ConnectionError):
                self.process.join()
                code = self.process.exitcode
                self._start()
                is_late = code == -signal.SIGPROF
                return Outcome("timeout", f"{limit:g} s") if is_late else Outcome("crash", f"exit {code}")
        # Others may use the machine too, so time is told by the work done; this is for what waits forever.
        if monotonic() - self.since > 10 * limit:
            self.end()
            self._start()
            return Outcome("timeout", f"{limit:g} s")
        return None

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def run(self, case: Case, limit: float = LIMIT) -> Outcome:
        """Run one case and wait for it."""
        self.give(case, limit)
        while (told := self.taken(limit)) is None:
            self.pipe.poll(0.2)
        return told


def run_all(
    numbered: Iterable[tuple[int, Case]], n_workers: int, limit: float = LIMIT
) -> Iterator[tuple[int, Case, Outcome]]:
    """Run cases and yield what became of each, as they end."""
    queue = iter(numbered)
    workers = [Worker() for _ in range(n_workers)]
    busy: dict[Worker, tuple[int, Case]] = {}
    try:
        while True:
            for worker in workers:
                if worker not in busy and (following := next(queue, None)) is not None:
                    worker.give(following[1], limit)
                    busy[worker] = following
            if not busy:
                return
            wait([worker.pipe for worker in busy], timeout=0.2)
            for worker in list(busy):
                if (told := worker.taken(limit)) is not None:
                    number, case = busy.pop(worker)
                    yield number, case, told
    finally:
        for worker in workers:
            worker.end()
