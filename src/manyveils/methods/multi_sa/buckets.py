"""Rows to buckets: those with like quasi-identifiers together, and buckets merged until every promise is kept."""

import numpy as np

from manyveils.methods.entries import Ids
from manyveils.methods.keeping import Watch, all_kept, count_for
from manyveils.methods.multi_sa.divide import Block
from manyveils.methods.tally import Kept


def placed(blocks: tuple[Block, ...], combination_of: Ids, near: Ids) -> Ids:
    """The bucket of each row, where a row has its combination and a rank among like rows.

    Equal blocks are spread evenly over the ranks, and every combination gives its rows in the order of rank:
    so the rows that meet in a bucket have like ranks, as far as the combinations have them.
    """
    buckets, combinations, amounts, places = _entries(blocks)
    order = np.lexsort((buckets, places, combinations))
    of_row = np.empty(combination_of.size, dtype=np.int64)
    of_row[np.lexsort((near, combination_of))] = np.repeat(buckets[order], amounts[order])
    return of_row


def _entries(blocks: tuple[Block, ...]) -> tuple[Ids, Ids, Ids, np.ndarray]:
    """Bucket, combination, amount and place of every combination in every bucket."""
    firsts = np.cumsum([0, *(block.times for block in blocks)])
    parts = []
    for first, block in zip(firsts[:-1], blocks, strict=True):
        repeats, width = np.arange(block.times), block.combinations.size
        parts.append(
            (
                np.repeat(first + repeats, width),
                np.tile(block.combinations, block.times),
                np.tile(block.amounts, block.times),
                np.repeat((repeats + 0.5) / block.times, width),
            )
        )
    buckets, combinations, amounts, places = (np.concatenate(column) for column in zip(*parts, strict=True))
    return buckets, combinations, amounts, places


def settled(buckets: Ids, near: Ids, watches: tuple[Watch, ...]) -> Ids | None:
    """The buckets with those that break a promise merged; nothing if even a single bucket breaks one.

    Rows without a bucket have -1. Broken buckets join their neighbours among each other; the last one joins ever more
    of the others. Merging never breaks a cap.
    """
    reach = 1
    while True:
        n_buckets = int(buckets.max()) + 1
        broken = np.flatnonzero(~_fine(buckets, n_buckets, watches))
        if not broken.size:
            return buckets
        if n_buckets == 1:
            return None
        middles = _middles(buckets, n_buckets, near)
        if broken.size > 1:
            joined = _paired(broken, middles)
        else:
            joined = _absorbed(int(broken[0]), middles, reach)
            reach *= 2
        _, numbers = np.unique(joined, return_inverse=True)
        buckets = np.where(buckets < 0, -1, numbers[buckets])


def _fine(buckets: Ids, n_buckets: int, watches: tuple[Watch, ...]) -> Kept:
    # Rows without a bucket are counted in one of their own, which is not judged.
    owners = np.where(buckets < 0, n_buckets, buckets)
    sizes = np.bincount(owners, minlength=n_buckets + 1)
    return all_kept(watches, count_for(watches, owners, n_buckets + 1), sizes)[:n_buckets]


def broken_together(buckets: Ids, watches: tuple[Watch, ...]) -> tuple[Watch, ...]:
    """The promises that all rows with a bucket break as a single one."""
    together = np.minimum(buckets, 0)
    return tuple(each for each in watches if not _fine(together, 1, (each,))[0])


def _middles(buckets: Ids, n_buckets: int, near: Ids) -> np.ndarray:
    """The mean rank of each bucket's rows."""
    rows = np.flatnonzero(buckets >= 0)
    sums = np.bincount(buckets[rows], weights=near[rows], minlength=n_buckets)
    return sums / np.bincount(buckets[rows], minlength=n_buckets)


def _paired(broken: Ids, middles: np.ndarray) -> Ids:
    """Every other broken bucket joined to its neighbour among them; an odd one out joins the last pair."""
    joined = np.arange(middles.size)
    ordered = broken[np.lexsort((broken, middles[broken]))]
    pair = np.minimum(np.arange(ordered.size) // 2, ordered.size // 2 - 1)
    joined[ordered] = ordered[2 * pair]
    return joined


def _absorbed(broken: int, middles: np.ndarray, reach: int) -> Ids:
    """The nearest buckets joined to one."""
    joined = np.arange(middles.size)
    distances = np.abs(middles - middles[broken])
    distances[broken] = -1
    joined[np.argsort(distances, kind="stable")[: reach + 1]] = broken
    return joined
