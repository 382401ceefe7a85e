"""Counts of people: a row stands for one, unless weights say for how many that look alike."""

import numpy as np
import polars as pl

from manyveils.reading.keys import Numbers

# No attribute is named so.
PEOPLE = "\0people"


def tally(numbers: Numbers, weights: Numbers | None, n: int = 0) -> Numbers:
    """People per number, from 0 to the largest number or to n - 1.

    >>> tally(np.array([0, 1, 1]), None), tally(np.array([0, 1, 1]), np.array([5, 1, 1]), 3)
    (array([1, 2]), array([5, 2, 0]))
    """
    if weights is None:
        return np.bincount(numbers, minlength=n)
    # Exact: sums of whole numbers below 2^53.
    return np.bincount(numbers, weights=weights, minlength=n).astype(np.int64)


def distinct(key: Numbers, weights: Numbers | None) -> tuple[Numbers, Numbers]:
    """A row of each different number, in the order of numbers, and the people who have it.

    >>> distinct(np.array([7, 3, 7]), np.array([5, 1, 1]))
    (array([1, 0]), array([1, 6]))
    """
    if weights is None:
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        return first.astype(np.int64), counts.astype(np.int64)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), tally(place, weights)


def with_people(rows: pl.DataFrame, weights: Numbers | None) -> pl.DataFrame:
    """The rows beside the people they stand for; as they are where each stands for one."""
    return rows if weights is None else rows.with_columns(pl.Series(PEOPLE, weights, dtype=pl.Int64))


def people_in(rows: pl.DataFrame) -> pl.Expr:
    """The people of each group of rows that went through `with_people`."""
    return pl.col(PEOPLE).sum() if PEOPLE in rows.columns else pl.len().cast(pl.Int64)
