"""Buckets in which several sensitive attributes differ at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.buckets import fill, place_rest
from manyveils.promises.entries import Ids, dense, examples
from manyveils.release.dealing import arranged

REACH = 64


@dataclass(frozen=True)
class Kinds:
    """Rows by kind: rows of one kind hold the same protected values."""

    kind_of_row: Ids
    id_starts: Ids
    ids: Ids
    n_ids: int

    @property
    def n_kinds(self) -> int:
        """How many kinds there are."""
        return self.id_starts.size - 1


def kinds_of(values: Sequence[NDArray[np.integer]], protected: list[NDArray[np.bool_]]) -> Kinds:
    """Sort rows by the protected values they hold; `protected` says which values of each attribute may not meet."""
    masked = [np.where(flags[codes], codes + 1, 0) for codes, flags in zip(values, protected, strict=True)]
    n_rows = masked[0].size
    sizes = tuple(flags.size + 1 for flags in protected)
    kind_of_row, n_kinds = dense(tuple(column.astype(np.int32) for column in masked), sizes, n_rows)
    example = examples(kind_of_row, n_kinds)
    offsets = np.cumsum([0, *sizes[:-1]])
    held = np.stack(
        [
            np.where(column[example] > 0, column[example] + offset, -1)
            for column, offset in zip(masked, offsets, strict=True)
        ]
    )
    present = held.T >= 0
    return Kinds(kind_of_row, np.append(0, np.cumsum(present.sum(axis=1))), held.T[present], int(sum(sizes)))


def least_left(kinds: Kinds, size: int) -> int:
    """How many rows stay without a place in any case: those of one value that are more than there are buckets.

    >>> least_left(kinds_of([np.array([0, 0, 0, 1])], [np.ones(2, dtype=bool)]), 2)
    1
    """
    n_rows = np.bincount(kinds.kind_of_row, minlength=kinds.n_kinds)
    held = np.repeat(n_rows, np.diff(kinds.id_starts))
    fullest = np.bincount(kinds.ids, weights=held, minlength=1).max()
    return max(int(fullest) - kinds.kind_of_row.size // size, 0)


@dataclass(frozen=True)
class Allowance:
    """How many of a bucket may share a protected value, which kinds come first, and how hard is tried.

    `seeds` are kinds that buckets begin with. So many buckets may turn out not to be filled as `patience` says, after
    `tries` values in vain; one of `enough` kinds that fit is taken, and `reach` buckets are looked at for each of those
    who are left in the end.
    """

    most: int = 1
    seeds: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    patience: int = 0
    tries: int = 2**62
    enough: int = 2**62
    reach: int = REACH * REACH


def gather(
    kinds: Kinds,
    shuffled: Ids,
    size: int,
    rng: np.random.Generator,
    most_left: int,
    allowance: Allowance | None = None,
) -> Ids:
    """Put rows into buckets of `size` or one more without a protected value twice; -1 for rows without a place.

    `shuffled` lists all rows: those of one kind are used in its order. The last rows are not placed where more than
    `most_left` would stay without a place all the same. With an allowance, more of a bucket may share a value.

    Claim: no bucket holds a protected value more often than is allowed, and every bucket has `size` rows or one more.
    Why: a kind is chosen only if none of its values is in the bucket yet; leftovers join by the same test.
    Tested by: tests/claims/test_gather.py
    """
    allowance = allowance or Allowance()
    counts = np.bincount(kinds.kind_of_row, minlength=kinds.n_kinds)
    ids = kinds.id_starts, kinds.ids
    most, seeds = allowance.most, allowance.seeds
    effort = allowance.patience, allowance.tries, allowance.enough
    chosen = fill(counts, *ids, kinds.n_ids, size, REACH, rng, most, seeds, *effort)
    by_kind = arranged(shuffled, kinds.kind_of_row)
    starts = np.cumsum(counts) - counts
    buckets = np.full(kinds.kind_of_row.size, -1, dtype=np.int64)
    rows = by_kind[starts[chosen] + _occurrence(chosen)]
    buckets[rows] = np.arange(chosen.size) // size
    left = by_kind[buckets[by_kind] < 0]
    n_buckets = chosen.size // size
    if left.size and n_buckets and left.size - n_buckets <= most_left:
        kinds_left, reach = kinds.kind_of_row[left], allowance.reach
        buckets[left] = place_rest(kinds_left, *ids, chosen, size, reach, most)
    return buckets


def _occurrence(kinds: Ids) -> Ids:
    """How many times each entry has stood before in the list."""
    order = np.argsort(kinds, kind="stable")
    ordered = kinds[order]
    first = np.searchsorted(ordered, ordered, side="left")
    times = np.empty(kinds.size, dtype=np.int64)
    times[order] = np.arange(kinds.size) - first
    return times
