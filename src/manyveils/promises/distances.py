"""How far the distribution in each group is from the whole table's: the earth mover's distance."""

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.tallies import differences, ordered_distance
from manyveils.policy.guarantees import Ground
from manyveils.promises.entries import Entries, Ids
from manyveils.promises.tally import Tally

Scaled = NDArray[np.int64] | NDArray[np.float64]
LARGEST_EXACT = 2.0**62


def distances(ground: Ground, tally: Tally) -> tuple[Scaled, Scaled]:
    """The distance of every group as a fraction: what to divide, and by what.

    Both are whole numbers, unless they would not fit 64 bits.
    """
    scale = tally.sizes * tally.n_rows
    if ground == "ordered":
        return _ordered(tally)
    if ground == "equal":
        return _differences(tally), 2 * scale
    levels = tally.columns[0].levels
    total = np.zeros(tally.sizes.size, dtype=np.int64)
    for level in levels.each[:-1]:
        total += _differences(_lifted(tally, level.label_of.astype(np.int64), len(level.labels)))
    return total, 2 * scale * (len(levels) - 1)


def _ordered(tally: Tally) -> tuple[Scaled, Scaled]:
    steps = max(len(tally.reference) - 1, 1)
    arrays = (tally.counts, tally.sizes, np.cumsum(tally.reference))
    if float(tally.sizes.max(initial=0)) * tally.n_rows * (steps + 1) < LARGEST_EXACT:
        return ordered_distance(tally.owners, tally.values, *arrays), tally.sizes * tally.n_rows * steps
    distance = ordered_distance(tally.owners, tally.values, *(array.astype(np.float64) for array in arrays))
    return distance, tally.sizes.astype(np.float64) * tally.n_rows * steps


def _differences(tally: Tally) -> Ids:
    return differences(tally.owners, tally.values, tally.counts, tally.sizes, tally.reference)


def _lifted(tally: Tally, label_of: Ids, n_labels: int) -> Tally:
    """The same counts with values replaced by coarser labels."""
    labels = label_of[tally.values]
    order = np.argsort(labels, kind="stable")
    merged = Entries(tally.owners[order], labels[order], tally.counts[order]).under(
        np.arange(tally.sizes.size), tally.sizes.size
    )
    reference = np.bincount(label_of, weights=tally.reference, minlength=n_labels).astype(np.int64)
    every = np.ones(n_labels, dtype=bool)
    return Tally(merged.owners, merged.codes, merged.counts, tally.sizes, reference, every, tally.columns)
