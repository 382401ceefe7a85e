"""Configurations tried in parallel processes; one that dies takes one configuration with it and no more."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, signal

from manyveils.arguments import Progress
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.result import Result
from manyveils.comparing.trial import Desk, Task, attempt
from manyveils.errors import InputError, Problem

STAGE = "configurations"
READY = "ready"
SECONDS_TO_END = 5
THREADS = ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def n_cores() -> int:
    """The cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def try_all(
    task: Task, configurations: Sequence[Configuration], *, workers: int, progress: Progress
) -> tuple[Result, ...]:
    """The results in the order of the configurations; with one worker, in this process."""
    progress(STAGE, 0.0)
    if workers == 1 or len(configurations) == 1:
        desk, results = Desk(task), []
        for configuration in configurations:
            results.append(attempt(desk, configuration))
            progress(STAGE, len(results) / len(configurations))
        return tuple(results)
    return _Crew(task, tuple(configurations), min(workers, len(configurations)), progress).work()


@dataclass
class _Worker:
    """A process, the way to talk to it, and the number of the configuration it works on."""

    process: BaseProcess
    line: Connection
    has_started: bool = False
    number: int | None = None


@dataclass
class _Crew:
    """Processes that share a list of configurations."""

    task: Task
    configurations: tuple[Configuration, ...]
    size: int
    progress: Progress
    waiting: deque[int] = field(default_factory=deque)
    results: dict[int, Result] = field(default_factory=dict)
    workers: list[_Worker] = field(default_factory=list)

    def work(self) -> tuple[Result, ...]:
        """Try everything; on any error, an interruption among them, no process is left."""
        self.waiting.extend(range(len(self.configurations)))
        try:
            with _few_threads(max(1, n_cores() // self.size)):
                for _ in range(self.size):
                    self._hire()
                while len(self.results) < len(self.configurations):
                    self._listen()
        finally:
            self._dismiss()
        return tuple(self.results[number] for number in range(len(self.configurations)))

    def _hire(self) -> None:
        # A forked process could inherit locks that other threads hold.
        context = get_context("spawn")
        our_end, its_end = context.Pipe()
        process = context.Process(target=serve, args=(its_end, self.task), daemon=True)
        self.workers.append(_Worker(process, our_end))
        process.start()
        # Only the worker may hold its end, or its death would not show.
        its_end.close()

    def _listen(self) -> None:
        ready = connection.wait([worker.line for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.line in ready]:
            try:
                message = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            self._answer(worker, message)

    def _answer(self, worker: _Worker, message: object) -> None:
        worker.has_started = True
        if isinstance(message, Result) and worker.number is not None:
            self._note(worker.number, message)
            worker.number = None
        if self.waiting:
            worker.number = self.waiting.popleft()
            worker.line.send(self.configurations[worker.number])

    def _note(self, number: int, result: Result) -> None:
        self.results[number] = result
        self.progress(STAGE, len(self.results) / len(self.configurations))

    def _bury(self, worker: _Worker) -> None:
        """Say of a dead worker's configuration how it ended, and let another go on with the rest."""
        worker.process.join(SECONDS_TO_END)
        code = worker.process.exitcode
        self.workers.remove(worker)
        if not worker.has_started:
            what = f"a process ended before it began (exit code {code})."
            remedy = 'In a script, call compare below `if __name__ == "__main__":`, or give workers=1.'
            raise InputError([Problem("workers", what, remedy)])
        if worker.number is not None:
            reason = f"Its process ended before it was done (exit code {code}); was there too little memory?"
            self._note(worker.number, Result(self.configurations[worker.number], reason))
        if self.waiting:
            self._hire()

    def _dismiss(self) -> None:
        for worker in self.workers:
            worker.line.close()
            if worker.process.pid is not None:
                worker.process.terminate()
        for worker in self.workers:
            if worker.process.pid is not None:
                worker.process.join(SECONDS_TO_END)
                worker.process.kill()


def serve(line: Connection, task: Task) -> None:
    """Try configurations as they come, until nobody sends any more."""
    # Ctrl-C reaches every process of the terminal; the first one ends the others.
    signal(SIGINT, SIG_IGN)
    desk = Desk(task)
    try:
        line.send(READY)
        while True:
            line.send(attempt(desk, line.recv()))
    except (EOFError, OSError):
        return


@contextmanager
def _few_threads(n: int) -> Iterator[None]:
    """Let processes that are started now share the cores; what the user has set stays."""
    ours = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, str(n)))
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
