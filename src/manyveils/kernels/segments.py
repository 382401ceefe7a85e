"""Segments of rows that were cut: which group each row is in, and which parts are left."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def mark(groups: np.ndarray, rows: np.ndarray, starts: np.ndarray, stops: np.ndarray, first: int) -> None:
    """Write the number of its segment, counted from `first`, to each of its rows."""
    for segment in range(starts.size):
        for index in range(starts[segment], stops[segment]):
            groups[rows[index]] = first + segment


@kernel
def parts_left(parents: np.ndarray, undone: np.ndarray) -> np.ndarray:
    """For each part the one it belongs to once the cuts of some parts are undone; parts come after their parents."""
    left = np.zeros(parents.size, np.int64)
    for part in range(1, parents.size):
        above = left[parents[part]]
        left[part] = above if undone[above] else part
    return left


@parts_left.of_few
def _few_parts_left(parents: np.ndarray, undone: np.ndarray) -> np.ndarray:
    left = [0] * parents.size
    for part in range(1, parents.size):
        above = left[parents[part]]
        left[part] = above if undone[above] else part
    return np.array(left, np.int64)
