"""Deal rows into buckets so that equal values are spread as evenly as can be."""

import numpy as np

from manyveils.methods.entries import Ids

WIDEST_ALIGNED = 256


def deal(order: Ids, values: Ids, n_buckets: int) -> Ids:
    """Deal rows in turn; `order` lists them value by value, near ones next to each other within a value.

    Claim: a bucket gets a value at most once if the value has no more rows than there are buckets,
    and any two buckets get it equally often, give or take one, otherwise.
    Why: equal values sit in one run, and dealing in turn gives every bucket each n_buckets-th row of it.
    Tested by: tests/claims/test_deal.py
    """
    rows = _aligned(order, values, n_buckets)
    buckets = np.empty(order.size, dtype=np.int64)
    buckets[rows] = np.arange(order.size) % n_buckets
    return buckets


def _aligned(order: Ids, values: Ids, n_buckets: int) -> Ids:
    """Turn each run that crosses the last bucket so that its first rows meet the first buckets.

    Rows of one value may be dealt in any order; this one keeps near rows of different values together.
    """
    rows = order.copy()
    if order.size > WIDEST_ALIGNED * n_buckets:
        return rows
    sorted_values = values[order]
    for wrap in range(n_buckets, order.size, n_buckets):
        start = int(np.searchsorted(sorted_values, sorted_values[wrap], side="left"))
        stop = int(np.searchsorted(sorted_values, sorted_values[wrap], side="right"))
        if start < wrap and stop - start <= n_buckets:
            rows[start:stop] = np.roll(rows[start:stop], -(stop - wrap))
    return rows


def excess(counts: Ids, l: int) -> Ids:
    """How many rows of each value must go so that no value fills more than one l-th of what is left.

    >>> excess(np.array([5, 1, 1]), 2)
    array([3, 0, 0])
    """
    kept = counts.copy()
    while kept.sum() and kept.max() * l > kept.sum():
        kept = np.minimum(kept, kept.sum() // l)
    return counts - kept
