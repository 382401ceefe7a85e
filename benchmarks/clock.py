"""The least time a piece of work takes: the machine may be busy, so the best of several runs counts."""

import gc
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

Result = TypeVar("Result")
ENOUGH_SECONDS = 10.0


def once(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of one run, and its result."""
    gc.collect()
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def best(work: Callable[[], Result], *, repetitions: int = 5) -> tuple[float, Result]:
    """Least seconds after one warm-up, and the last result; work that takes long is repeated less."""
    spent, result = once(work)
    times = []
    while len(times) < repetitions and (not times or spent < ENOUGH_SECONDS):
        seconds, result = once(work)
        times.append(seconds)
        spent += seconds
    return min(times), result
