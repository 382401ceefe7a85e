"""Counted rows in order: equal ones as one, and two runs as one."""

import numpy as np

from manyveils.compiling import kernel

Columns = tuple[np.ndarray, ...]


@kernel
def _beside(rows: Columns, row: int, others: Columns, other: int) -> int:
    """Below 0 where a row comes before another, above 0 where it comes after, and 0 where they are equal."""
    for place in range(len(rows)):
        own, beside = rows[place][row], others[place][other]
        if own != beside:
            return -1 if own < beside else 1
    return 0


@kernel
def counted(rows: Columns, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the first of equal rows, which stand together, and how often each is there.

    `times` says how often each row is there, or that of all of them, if it is one number.
    """
    n_rows = rows[0].size
    firsts = np.empty(n_rows, np.int64)
    sums = np.empty(n_rows, np.int64)
    n_counted = 0
    for row in range(n_rows):
        own = times[row] if times.size > 1 else times[0]
        if row == 0 or _beside(rows, row - 1, rows, row) != 0:
            firsts[n_counted] = row
            sums[n_counted] = own
            n_counted += 1
        else:
            sums[n_counted - 1] += own
    return firsts[:n_counted], sums[:n_counted]


@counted.of_few
def _counted_few(rows: Columns, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    is_new = np.ones(rows[0].size, dtype=bool)
    is_new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in rows])
    firsts = np.flatnonzero(is_new)
    own = np.broadcast_to(times, rows[0].shape)
    return firsts, np.add.reduceat(own, firsts) if firsts.size else own.astype(np.int64)


@kernel
def merged(
    rows: Columns, times: np.ndarray, others: Columns, beside: np.ndarray, into: Columns, sums: np.ndarray
) -> int:
    """Write the rows of two runs, in each of which all differ, in order; how many there are."""
    row, other, n_merged = 0, 0, 0
    n_rows, n_others = times.size, beside.size
    while row < n_rows or other < n_others:
        if row == n_rows:
            order = 1
        elif other == n_others:
            order = -1
        else:
            order = _beside(rows, row, others, other)
        for place in range(len(into)):
            into[place][n_merged] = rows[place][row] if order <= 0 else others[place][other]
        total = 0
        if order <= 0:
            total += times[row]
            row += 1
        if order >= 0:
            total += beside[other]
            other += 1
        sums[n_merged] = total
        n_merged += 1
    return n_merged


@merged.of_few
def _merged_few(
    rows: Columns, times: np.ndarray, others: Columns, beside: np.ndarray, into: Columns, sums: np.ndarray
) -> int:
    together = [np.concatenate(pair) for pair in zip(rows, others, strict=True)]
    order = np.lexsort(together[::-1])
    in_order = tuple(key[order] for key in together)
    firsts, counts = _counted_few(in_order, np.concatenate([times, beside])[order])
    for target, key in zip(into, in_order, strict=True):
        target[: firsts.size] = key[firsts]
    sums[: firsts.size] = counts
    return firsts.size
