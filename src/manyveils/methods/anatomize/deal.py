"""Deal rows into buckets so that equal values are spread as evenly as can be."""

import numpy as np

from manyveils.methods.entries import Ids


def deal(n_rows: int, n_buckets: int) -> Ids:
    """Deal rows in turn: the bucket of each row of a list in which equal values stand together.

    Claim: a bucket gets a value at most once if the value has no more rows than there are buckets,
    and any two buckets get it equally often, give or take one, otherwise.
    Why: equal values sit in one run, and dealing in turn gives every bucket each n_buckets-th row of it.
    Tested by: tests/claims/test_deal.py
    """
    return np.arange(n_rows) % n_buckets


def excess(counts: Ids, l: int) -> Ids:
    """How many rows of each value must go so that no value fills more than one l-th of what is left.

    >>> excess(np.array([5, 1, 1]), 2)
    array([3, 0, 0])
    """
    kept = counts.copy()
    while kept.sum() and kept.max() * l > kept.sum():
        kept = np.minimum(kept, kept.sum() // l)
    return counts - kept
