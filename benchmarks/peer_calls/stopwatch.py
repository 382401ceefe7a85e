"""The same clock as ours, for programs that may not import it."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

SHORT_SECONDS = 10.0
REPETITIONS = 3


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """Least of wall and processor seconds over a few runs if they are short, and the last result."""
    times: list[float] = []
    while not times or (len(times) < REPETITIONS and max(times) < SHORT_SECONDS):
        start, used = perf_counter(), process_time()
        result = work()
        times.append(min(perf_counter() - start, process_time() - used))
    return min(times), result
