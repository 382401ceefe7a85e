"""Rows to buckets, and buckets merged until every promise is kept."""

import numpy as np

from manyveils.methods.multi_sa.divide import Block
from manyveils.promises.entries import Ids
from manyveils.promises.keeping import Watch, all_kept, count_for
from manyveils.promises.tally import Kept


def placed(blocks: tuple[Block, ...]) -> Ids:
    """The bucket of each row of a list in which the rows of one combination stand together."""
    buckets, combinations, amounts = _entries(blocks)
    order = np.argsort(combinations, kind="stable")
    return np.repeat(buckets[order], amounts[order])


def _entries(blocks: tuple[Block, ...]) -> tuple[Ids, Ids, Ids]:
    """Bucket, combination and amount of every combination in every bucket."""
    firsts = np.cumsum([0, *(block.times for block in blocks)])
    parts = []
    for first, block in zip(firsts[:-1], blocks, strict=True):
        repeats, width = np.arange(block.times), block.combinations.size
        parts.append(
            (
                np.repeat(first + repeats, width),
                np.tile(block.combinations, block.times),
                np.tile(block.amounts, block.times),
            )
        )
    buckets, combinations, amounts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return buckets, combinations, amounts


def settled(buckets: Ids, watches: tuple[Watch, ...]) -> Ids | None:
    """The buckets with those that break a promise merged; nothing if even a single bucket breaks one.

    Rows without a bucket have -1; the numbers of buckets should be random. Broken buckets join their neighbours among
    each other; the last one joins ever more of the others. Merging never breaks a cap.
    """
    reach = 1
    while True:
        n_buckets = int(buckets.max()) + 1
        broken = np.flatnonzero(~_fine(buckets, n_buckets, watches))
        if not broken.size:
            return buckets
        if n_buckets == 1:
            return None
        if broken.size > 1:
            joined = _paired(broken, n_buckets)
        else:
            joined = _absorbed(int(broken[0]), n_buckets, reach)
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


def _paired(broken: Ids, n_buckets: int) -> Ids:
    """Every other broken bucket joined to its neighbour among them; an odd one out joins the last pair."""
    joined = np.arange(n_buckets)
    pair = np.minimum(np.arange(broken.size) // 2, broken.size // 2 - 1)
    joined[broken] = broken[2 * pair]
    return joined


def _absorbed(broken: int, n_buckets: int, reach: int) -> Ids:
    """The next buckets joined to one."""
    joined = np.arange(n_buckets)
    joined[(broken + np.arange(1, reach + 1)) % n_buckets] = broken
    return joined
