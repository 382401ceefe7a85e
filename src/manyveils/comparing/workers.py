"""Configurations tried in parallel processes; one that dies takes one configuration with it and no more."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, signal
from threading import Lock, local

from manyveils.arguments import Progress
from manyveils.comparing.configurations import Configuration
from manyveils.comparing.trial import Result, Task, attempt
from manyveils.errors import InputError

Finished = Callable[[Result], None]

STAGE = "configurations"
READY = "ready"
SECONDS_TO_END = 5
THREADS = ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def n_cores() -> int:
    """The cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def unheard(result: Result) -> None:
    """Tell nobody."""


def try_all(
    task: Task,
    configurations: Sequence[Configuration],
    *,
    workers: int,
    progress: Progress,
    finished: Finished = unheard,
) -> tuple[Result, ...]:
    """The results in the order of the configurations; with one worker, in this process.

    `finished` hears of each when it is there.
    """

    def told(result: Result, n_done: int) -> Result:
        progress(STAGE, n_done / len(configurations))
        finished(result)
        return result

    progress(STAGE, 0.0)
    n_workers = min(workers, len(configurations))
    if n_workers > 1:
        return _in_processes(task, configurations, n_workers, told)
    numbered = enumerate(configurations, start=1)
    return tuple(told(attempt(task, configuration), n_done) for n_done, configuration in numbered)


def _in_processes(
    task: Task,
    configurations: Sequence[Configuration],
    n_workers: int,
    told: Callable[[Result, int], Result],
) -> tuple[Result, ...]:
    """Try everything; on any error, an interruption among them, no process is left."""
    crew = _Crew(task)
    with _few_threads(max(1, n_cores() // n_workers)), ThreadPoolExecutor(n_workers) as pool:
        try:
            futures = [pool.submit(crew.attempt, configuration) for configuration in configurations]
            for n_done, future in enumerate(as_completed(futures), start=1):
                told(future.result(), n_done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            crew.dismiss()
    return tuple(future.result() for future in futures)


@dataclass
class _Crew:
    """Processes that try configurations, one for each thread that asks."""

    task: Task
    processes: list[BaseProcess] = field(default_factory=list)
    is_dismissed: bool = False
    lock: Lock = field(default_factory=Lock)
    own: local = field(default_factory=local)

    def attempt(self, configuration: Configuration) -> Result:
        """Try a configuration in this thread's process; if that dies, the next one gets a new process."""
        if not hasattr(self.own, "worker"):
            self.own.worker = self._hire()
        process, line = self.own.worker
        try:
            line.send(configuration)
            result: Result = line.recv()
        except (EOFError, OSError):
            del self.own.worker
            process.join(SECONDS_TO_END)
            what = f"Its process ended before it was done (exit code {process.exitcode})"
            return Result(configuration, f"{what}; was there too little memory?")
        return result

    def _hire(self) -> tuple[BaseProcess, Connection]:
        # A forked process could inherit locks that other threads hold.
        context = get_context("spawn")
        our_end, its_end = context.Pipe()
        process = context.Process(target=serve, args=(its_end, self.task), daemon=True)
        with self.lock:
            if self.is_dismissed:
                raise InterruptedError
            process.start()
            self.processes.append(process)
        # Only the worker may hold its end, or its death would not show.
        its_end.close()
        try:
            our_end.recv()
        except (EOFError, OSError):
            process.join(SECONDS_TO_END)
            what = f"a process ended before it began (exit code {process.exitcode})."
            remedy = 'In a script, call compare below `if __name__ == "__main__":`, or give workers=1.'
            raise InputError.at("workers", what, remedy) from None
        return process, our_end

    def dismiss(self) -> None:
        """End all processes, and start no more."""
        with self.lock:
            self.is_dismissed = True
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(SECONDS_TO_END)
            process.kill()


def serve(line: Connection, task: Task) -> None:
    """Try configurations as they come, until nobody sends any more."""
    # Ctrl-C reaches every process of the terminal; the first one ends the others.
    signal(SIGINT, SIG_IGN)
    try:
        line.send(READY)
        while True:
            line.send(attempt(task, line.recv()))
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
