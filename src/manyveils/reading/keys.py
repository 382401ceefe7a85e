"""Rows of numbers as single numbers, so that equal rows are found by one sort, and counts of the people they stand for."""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.compiling import kernel
from manyveils.table.attributes import tally
from manyveils.table.order import in_order

Ids = NDArray[np.int64]
# Of any width: arithmetic on them could overflow.
Numbers = NDArray[np.integer]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LARGEST = 2**62
# Numbers that are at most so many times as large as there are rows are counted without sorting.
CLOSE = 8
# Of more, numbers of four bytes run out.
MOST_PLACES = 2**31
# NumPy takes about as long as compiled code.
EASE = 16
# No attribute is named so.
PEOPLE = "\0people"


def combined(columns: Iterable[Numbers]) -> Ids:
    """Give equal rows equal numbers and different rows different ones; columns hold numbers from 0.

    >>> combined([np.array([0, 1, 1]), np.array([2, 0, 2])])
    array([2, 3, 5])
    """
    return combined_together([column] for column in columns)


def combined_together(columns: Iterable[Sequence[Numbers]]) -> Ids:
    """The same for the rows of several tables, one table's after the other's; every column has a part in each.

    >>> combined_together([[np.array([0, 1]), np.array([1])], [np.array([2, 0]), np.array([2])]])
    array([2, 3, 5])
    """
    listed = iter(columns)
    key = np.concatenate(next(listed), dtype=np.int64)
    span = _span(key)
    for parts in listed:
        width = max(map(_span, parts))
        if span * width >= LARGEST:
            key = dense(key)
            span = _span(key)
        key *= width
        start = 0
        for part in parts:
            key[start : start + part.size] += part
            start += part.size
        span *= width
    return key


def dense(key: Ids) -> Ids:
    """Number the different numbers, which are 0 or more, without gaps and in their order.

    >>> dense(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    span = _span(key)
    if span <= CLOSE * len(key) and span < MOST_PLACES:
        return without_gaps(key, span)
    order, is_first = _runs(key)
    numbers = np.empty(len(key), dtype=np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    return numbers


@kernel
def without_gaps(key: Ids, span: int) -> Ids:
    """The numbers below `span` that occur, numbered in their order."""
    places = np.zeros(span, np.int32)
    for number in key:
        places[number] = 1
    n_different = 0
    for number in range(span):
        if places[number]:
            places[number] = n_different
            n_different += 1
    numbers = np.empty_like(key)
    for row in range(key.size):
        numbers[row] = places[key[row]]
    return numbers


@without_gaps.of_many(EASE)
def _by_adding_up(key: Ids, span: int) -> Ids:
    occurs = np.zeros(span, dtype=np.int64)
    occurs[key] = 1
    numbers: Ids = (np.cumsum(occurs) - 1)[key]
    return numbers


def example(numbers: Ids) -> Ids:
    """A row of each number, for numbers without gaps.

    >>> example(np.array([1, 0, 1]))
    array([1, 2])
    """
    rows = np.empty(_span(numbers) if len(numbers) else 0, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    return rows


def numbered(columns: Sequence[Ids]) -> tuple[Ids, Ids]:
    """A number for every different row, in the order of rows, and where each stands first.

    >>> numbers, firsts = numbered([np.array([4, 0, 4]), np.array([1, 1, 1])])
    >>> numbers.tolist(), firsts.tolist()
    ([1, 0, 1], [1, 0])
    """
    order, is_first = _runs(combined(columns))
    numbers = np.empty(order.size, dtype=np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    return numbers, order[is_first]


def equal_rows(rows: Sequence[NDArray[np.integer]], wanted: Sequence[Ids]) -> tuple[Ids, Ids, Ids]:
    """An order of rows in which those equal to a wanted row follow each other: the order, their starts and numbers.

    >>> order, starts, lengths = equal_rows([np.array([3, 5, 3])], [np.array([5, 3, 4])])
    >>> order.tolist(), starts.tolist(), lengths.tolist()
    ([0, 2, 1], [2, 0, 2], [1, 2, 0])
    """
    numbers, _ = numbered([np.concatenate(pair) for pair in zip(rows, wanted, strict=True)])
    keys, wanted_keys = numbers[: rows[0].size], numbers[rows[0].size :]
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], wanted_keys)
    return order, starts, np.searchsorted(keys[order], wanted_keys, side="right") - starts


def ranges(starts: Ids, lengths: Ids) -> Ids:
    """The numbers start, start + 1, … of every range, one range after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def distinct(key: Ids, weights: Ids | None) -> tuple[Ids, Ids]:
    """A row of each different number, in the order of numbers, and the people who have it.

    >>> distinct(np.array([7, 3, 7]), np.array([5, 1, 1]))
    (array([1, 0]), array([1, 6]))
    """
    if _span(key) <= CLOSE * len(key):
        first, occurrences = firsts_of(key, _span(key))
        occurs = occurrences > 0
        counts = occurrences if weights is None else tally(key, weights, 0)
        return first[occurs], counts[occurs]
    order, is_first = _runs(key)
    first = order[is_first]
    if weights is None:
        return first, np.diff(np.flatnonzero(is_first), append=order.size)
    return first, tally((np.cumsum(is_first) - 1), weights[order], 0)


@kernel
def firsts_of(key: Ids, span: int) -> tuple[Ids, Ids]:
    """Where each number below `span` stands first, and how often it occurs."""
    first, counts = np.zeros(span, np.int64), np.zeros(span, np.int64)
    for row in range(key.size):
        if not counts[key[row]]:
            first[key[row]] = row
        counts[key[row]] += 1
    return first, counts


@firsts_of.of_many(EASE)
def _firsts_written_last(key: Ids, span: int) -> tuple[Ids, Ids]:
    first = np.zeros(span, dtype=np.int64)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    return first, np.bincount(key, minlength=span)


def with_people(rows: pl.DataFrame, weights: Ids | None) -> pl.DataFrame:
    """The rows beside the people they stand for; as they are where each stands for one."""
    return rows if weights is None else rows.with_columns(pl.Series(PEOPLE, weights, dtype=pl.Int64))


def people_in(rows: pl.DataFrame) -> pl.Expr:
    """The people of each group of rows that went through `with_people`."""
    return pl.col(PEOPLE).sum() if PEOPLE in rows.columns else pl.len().cast(pl.Int64)


def _runs(key: Ids) -> tuple[Ids, Bools]:
    """The rows in the order of their numbers, and which of them have another number than the row before."""
    order = in_order(key)
    is_first = np.ones(order.size, dtype=bool)
    is_first[1:] = np.diff(key[order]) > 0
    return order, is_first


def _span(column: Numbers) -> int:
    return int(column.max(initial=0)) + 1
