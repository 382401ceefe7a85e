"""Work on many rows, done side by side: Polars, NumPy and kernels let other threads work meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import polars as pl

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below so many rows, threads wait for each other longer than they save.
MANY_ROWS = 50_000
# What is worked on at once must fit the memory.
MOST_AT_ONCE = 4


def side_by_side(function: Callable[[Item], Result], items: Iterable[Item], n_rows: int) -> Iterator[Result]:
    """The results for all items in their order, as `map` gives them; a few at a time where there are many rows."""
    if n_rows < MANY_ROWS:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(min(pl.thread_pool_size(), MOST_AT_ONCE)) as pool:
        yield from pool.map(function, items)
