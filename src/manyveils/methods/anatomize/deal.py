"""Deal rows into buckets so that equal values are spread as evenly as can be."""

import numpy as np

from manyveils.promises.entries import Ids


def deal(n_rows: int, n_buckets: int) -> Ids:
    """The bucket of each row of a list, dealt in turn."""
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
