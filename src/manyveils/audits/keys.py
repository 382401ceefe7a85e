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
    """Number the different numbers from 0 without gaps.

    >>> dense(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _span(column: Numbers) -> int:
    return int(column.max(initial=0)) + 1
