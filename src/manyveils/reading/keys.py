"""Rows of numbers as single numbers, so that groups are found by one sort."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

LARGEST = 2**62


def combined(columns: Sequence[Numbers]) -> Numbers:
    """Give equal rows equal numbers and different rows different ones; columns hold numbers from 0.

    >>> combined([np.array([0, 1, 1]), np.array([2, 0, 2])])
    array([2, 3, 5])
    """
    key, span = columns[0], _span(columns[0])
    for column in columns[1:]:
        if span * _span(column) >= LARGEST:
            key = dense(key)
            span = _span(key)
        key = key * _span(column) + column
        span *= _span(column)
    return key


def dense(key: Numbers) -> Numbers:
    """Number the different numbers, which are 0 or more, without gaps and in their order.

    >>> dense(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    if _span(key) > 8 * len(key):
        return np.unique(key, return_inverse=True)[1].astype(np.int64)
    occurs = np.zeros(_span(key), dtype=np.int64)
    occurs[key] = 1
    numbers: Numbers = (np.cumsum(occurs) - 1)[key]
    return numbers


def example(numbers: Numbers) -> Numbers:
    """A row of each number, for numbers without gaps.

    >>> example(np.array([1, 0, 1]))
    array([1, 2])
    """
    rows = np.empty(_span(numbers) if len(numbers) else 0, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    return rows


def numbered(columns: Sequence[Numbers], sizes: object = None) -> tuple[Numbers, Numbers]:
    """A number for every different row, in the order of rows, and where each stands first.

    >>> numbers, firsts = numbered([np.array([4, 0, 4]), np.array([1, 1, 1])])
    >>> numbers.tolist(), firsts.tolist()
    ([1, 0, 1], [1, 0])
    """
    _, firsts, numbers = np.unique(combined(columns), return_index=True, return_inverse=True)
    return numbers.astype(np.int64), firsts.astype(np.int64)


def ranges(starts: Numbers, lengths: Numbers) -> Numbers:
    """The numbers start, start + 1, … of every range, one range after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def _span(column: Numbers) -> int:
    return int(column.max(initial=0)) + 1
