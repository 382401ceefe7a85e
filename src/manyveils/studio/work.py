"""Work that takes a while, done in processes of its own: tries, releases and reports, with progress, and cancelled at a click."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from signal import SIG_DFL, SIGTERM, default_int_handler, signal
from threading import RLock
from time import perf_counter, sleep
from typing import Any

from manyveils.errors import ManyveilsError, Problem, fault
from manyveils.plain import plain

Progress = Callable[[str, float], None]
# Whoever was asked to end and has not after so many seconds is ended.
PATIENCE = 10.0
SHOWN_EVERY = 0.05
LOOK_EVERY = 0.1


@dataclass(frozen=True)
class Draft:
    """A policy as text, and where it stands."""

    text: str
    folder: Path
    name: str


def write_release(policy: Path, out: Path, seed: int | None, progress: Progress) -> dict[str, Any]:
    """Publish as the command line does: the folder appears whole, after an audit of its files, or not at all."""
    from manyveils.publishing import publish_to

    return publish_to(policy, out, seed=seed, progress=progress).describe()


def write_report(policy: Path, out: Path, private: Path, progress: Progress) -> dict[str, Any]:
    """The owner's report of a release, in the private folder."""
    from manyveils.run import report

    page = report(out, None, policy, progress=progress).save(private / "report.html")
    return {"report": str(page)}


@dataclass
class Job:
    """One piece of work in a process of its own, and what is known of it so far."""

    title: str
    stage: str = "starting"
    share: float = 0.0
    seconds: float = 0.0
    result: dict[str, Any] | None = None
    problems: tuple[Problem, ...] = ()
    heading: str = ManyveilsError.heading
    is_cancelled: bool = False
    _begin: Callable[[], tuple[Any, Connection]] | None = field(default=None, repr=False)
    _process: Any = field(default=None, repr=False)
    _events: Any = field(default=None, repr=False)
    _begun: float = field(default=0.0, repr=False)
    # Pages and whoever waits for work look at it at the same time.
    _lock: Any = field(default_factory=RLock, repr=False)

    @property
    def is_running(self) -> bool:
        """Whether it has not come to an end."""
        return self.result is None and not self.problems and not self.is_cancelled

    def begin(self) -> None:
        """Start the process, unless it was started or cancelled before."""
        with self._lock:
            if self._begin is not None and self.is_running:
                self._begun = perf_counter()
                self._process, self._events = self._begin()
                self._begin, self.stage = None, "starting"

    def finish(self) -> None:
        """Begin, and wait for the end."""
        self.begin()
        while self.look():
            sleep(LOOK_EVERY)

    def look(self) -> bool:
        """Take in what the process has said since; whether the work is still going on, or has not begun."""
        with self._lock:
            return self._look()

    def _look(self) -> bool:
        if self._process is None:
            return self.is_running
        while self.is_running and self._events.poll():
            try:
                self._take(*self._events.recv())
            except EOFError:
                self._lost()
        if self.is_running and not self._process.is_alive() and not self._events.poll():
            self._lost()
        return self.is_running

    def cancel(self) -> None:
        """Ask the process to end; it clears away what it has half written."""
        with self._lock:
            if self._process is None:
                self.is_cancelled = self.is_running
                return
        if not self.is_running:
            return
        self._process.terminate()
        self._process.join(PATIENCE)
        self._process.kill()
        # It may have ended before it was asked.
        self.look()
        if self.result is None:
            self.is_cancelled, self.problems = True, ()

    def _take(self, kind: str, *told: Any) -> None:
        if kind == "progress":
            self.stage, self.share = told
        elif kind == "done":
            self.result = told[0]
        elif kind == "refused":
            self.heading, self.problems = told
        self.seconds = perf_counter() - self._begun

    def _lost(self) -> None:
        what = f"{self.title} ended without a word (status {self._process.exitcode})."
        self.problems = (Problem("", what, "There may be too little memory; try with fewer columns."),)


def prepare(title: str, work: Callable[..., dict[str, Any]], *arguments: Any) -> Job:
    """A piece of work that waits to be begun."""
    return Job(title, "waiting", _begin=lambda: _started(work, arguments))


def start(title: str, work: Callable[..., dict[str, Any]], *arguments: Any) -> Job:
    """Begin a piece of work in a new process."""
    job = prepare(title, work, *arguments)
    job.begin()
    return job


def _started(work: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> tuple[Any, Connection]:
    context = get_context("spawn")
    events, told = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(told, work, arguments), daemon=True)
    process.start()
    told.close()
    return process, events


def _run(told: Connection, work: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> None:
    """What the process does; a request to end is taken like Ctrl-C, so that half-written folders are cleared away."""
    signal(SIGTERM, default_int_handler)
    last = 0.0

    def progress(stage: str, share: float) -> None:
        nonlocal last
        if perf_counter() - last > SHOWN_EVERY:
            last = perf_counter()
            say("progress", stage, share)

    def say(*event: Any) -> None:
        # Where nobody listens any more, what was begun is brought to its end.
        with suppress(OSError):
            told.send(event)

    try:
        say("done", plain(work(*arguments, progress)))
    except ManyveilsError as error:
        say("refused", error.heading, tuple(error.problems))
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        # Panics of the library that reads tables are no Exception.
        say("refused", ManyveilsError.heading, (fault(error),))
    finally:
        # What comes now is clearing up, which no request interrupts with a traceback.
        signal(SIGTERM, SIG_DFL)
