"""The least time a piece of work takes: the machine may be busy, so the best of several runs counts."""

import gc
import os
from collections.abc import Callable
from time import perf_counter, process_time
from typing import TypeVar

Result = TypeVar("Result")
ENOUGH_SECONDS = 10.0


def waited(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds on the wall clock, and the result: for other processes and for writing."""
    gc.collect()
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def worked(work: Callable[[], Result]) -> tuple[float, Result]:
    """The lesser of wall and processor seconds, and the result.

    Waiting for a core that another program holds is not work; it would hit parallel references hardest.
    """
    gc.collect()
    start, used = perf_counter(), process_time()
    result = work()
    return min(perf_counter() - start, process_time() - used), result


def children_seconds() -> float:
    """Processor seconds of all processes this one has waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def best(
    work: Callable[[], Result],
    *,
    repetitions: int = 5,
    timed: Callable[[Callable[[], Result]], tuple[float, Result]] = worked,
) -> tuple[float, Result]:
    """Least seconds after one warm-up, and the last result; work that takes long is repeated less."""
    spent, result = timed(work)
    times: list[float] = []
    while len(times) < repetitions and (not times or spent < ENOUGH_SECONDS):
        seconds, result = timed(work)
        times.append(seconds)
        spent += seconds
    return min(times), result
