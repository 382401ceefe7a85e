"""Which rows of a published column a tuple may be, and how much of each row it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import Ids, Masks, PublishedColumn, Shares

MOST_BITS = 2**28
MOST_PAIRS = 2**25
# Looking at one pair takes as long as looking at so many bits.
PER_PAIR = 64
LARGEST_KEY = 2**62


@dataclass(frozen=True, repr=False)
class Matches:
    """Pairs of a tuple's combination and a row of a column, with the number of rows it takes.

    Tuples that are alike in the column's attributes share a combination.
    """

    combination_of: Ids
    combinations: Ids
    rows: Ids
    weights: Shares
    part: PublishedColumn

    @property
    def n_expanded(self) -> int:
        """How many pairs of tuple and row there are."""
        per_combination = np.bincount(
            self.combinations, minlength=int(self.combination_of.max(initial=-1)) + 1
        )
        return int(per_combination[self.combination_of].sum())

    @cached_property
    def _by_bucket(self) -> tuple[Ids, Ids, Shares]:
        """Combination, bucket and rows taken, summed over rows, in order."""
        buckets = self.part.buckets[self.rows]
        order = np.lexsort((buckets, self.combinations))
        combinations, buckets, weights = self.combinations[order], buckets[order], self.weights[order]
        if not order.size:
            return combinations, buckets, weights
        first = np.append(True, (np.diff(combinations) != 0) | (np.diff(buckets) != 0))
        starts = np.flatnonzero(first)
        return combinations[first], buckets[first], np.add.reduceat(weights, starts)

    def expanded(self, n_buckets: int) -> tuple[Ids, Ids, Shares]:
        """Tuple, bucket and rows taken."""
        combinations, buckets, weights = self._by_bucket
        starts = np.searchsorted(combinations, self.combination_of)
        lengths = np.searchsorted(combinations, self.combination_of, side="right") - starts
        picked = ranges(starts, lengths)
        return np.repeat(np.arange(self.combination_of.size), lengths), buckets[picked], weights[picked]

    def at(self, tuples: Ids, buckets: Ids, n_buckets: int) -> Shares:
        """Rows taken by given tuples in given buckets."""
        combinations, held, weights = self._by_bucket
        keys = combinations * n_buckets + held
        wanted = self.combination_of[tuples] * n_buckets + buckets
        if not keys.size:
            return np.zeros(wanted.size)
        places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[places] == wanted, weights[places], 0.0)


def ranges(starts: Ids, lengths: Ids) -> Ids:
    """The numbers start, start + 1, … of every range, one range after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def matches_of(part: PublishedColumn, tuples: Mapping[str, Ids], masks: Masks) -> Matches:
    """Match tuples against the rows of a column."""
    names = [name for name in part.attributes if name in tuples]
    combination_of, firsts = numbered(
        [tuples[name] for name in names], [part.spreads[n].n_originals for n in names]
    )
    wanted = {name: tuples[name][firsts] for name in names}
    plain = [name for name in names if not part.spreads[name].overlaps]
    others = [name for name in names if part.spreads[name].overlaps]
    if not others:
        combinations, rows = _joined(part, wanted, plain)
    elif plain and _n_joined(part, wanted, plain) <= min(
        MOST_PAIRS, firsts.size * part.counts.size // PER_PAIR
    ):
        combinations, rows = _covered(part, wanted, others, *_joined(part, wanted, plain))
    else:
        combinations, rows = _by_bits(part, wanted, names)
    weights = part.weights(masks, tuple(n for n in part.attributes if n not in names))[rows]
    for name in names:
        weights = weights / part.spreads[name].sizes[part.labels[name][rows]]
    return Matches(combination_of, combinations, rows, weights, part)


def numbered(columns: list[Ids], sizes: list[int]) -> tuple[Ids, Ids]:
    """A number for every different combination of codes, and the place where each stands first."""
    keys = np.zeros(columns[0].size, dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= LARGEST_KEY:
            _, keys = np.unique(keys, return_inverse=True)
            span = int(keys.max(initial=0)) + 1
        keys = keys * size + column
        span *= size
    _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return numbers.astype(np.int64), firsts


def _n_joined(part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> int:
    """How many pairs of combination and row agree in attributes whose originals have one label at most."""
    _, _, _, lengths = _runs(part, wanted, names)
    return int(lengths.sum())


def _joined(part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> tuple[Ids, Ids]:
    """Pairs of combination and row, where every original has one label at most."""
    known, order, starts, lengths = _runs(part, wanted, names)
    return np.repeat(known, lengths), order[ranges(starts, lengths)]


def _covered(
    part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str], combinations: Ids, rows: Ids
) -> tuple[Ids, Ids]:
    """Those pairs of combination and row in which the row's labels cover what is wanted."""
    for name in names:
        spread = part.spreads[name]
        listed = np.sort(spread.labels * spread.n_originals + spread.originals)
        asked = part.labels[name][rows].astype(np.int64) * spread.n_originals + wanted[name][combinations]
        found = listed[np.minimum(np.searchsorted(listed, asked), listed.size - 1)] == asked
        combinations, rows = combinations[found], rows[found]
    return combinations, rows


def _runs(part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> tuple[Ids, Ids, Ids, Ids]:
    """The combinations whose labels are known, the rows in an order, and the run of rows each combination agrees with."""
    labels = [part.spreads[name].label_of[wanted[name]] for name in names]
    known = np.logical_and.reduce([each >= 0 for each in labels])
    sizes = [part.spreads[name].sizes.size for name in names]
    n_rows = part.counts.size
    both = [
        np.concatenate([part.labels[name], each[known]]) for name, each in zip(names, labels, strict=True)
    ]
    keys, _ = numbered(both, sizes)
    order = np.argsort(keys[:n_rows], kind="stable")
    ordered, asked = keys[:n_rows][order], keys[n_rows:]
    starts = np.searchsorted(ordered, asked)
    lengths = np.searchsorted(ordered, asked, side="right") - starts
    return np.flatnonzero(known), order, starts, lengths


def _by_bits(part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> tuple[Ids, Ids]:
    """Pairs of combination and row, where labels overlap: rows as bits, one attribute after the other."""
    n_rows, n_tuples = part.counts.size, next(iter(wanted.values())).size
    bits = {name: _row_bits(part, name, wanted[name]) for name in names}
    step = max(1, MOST_BITS // max(n_rows, 1))
    combinations, rows = [], []
    for start in range(0, n_tuples, step):
        chosen = slice(start, start + step)
        both: NDArray[np.uint8] | None = None
        for name in names:
            packed, place = bits[name]
            own = packed[place[chosen]]
            both = own if both is None else both & own
        assert both is not None
        which, eight = np.nonzero(both)
        place, bit = np.nonzero(np.unpackbits(both[which, eight][:, np.newaxis], axis=1))
        combinations.append(which[place] + start)
        rows.append(8 * eight[place] + bit)
    return np.concatenate(combinations), np.concatenate(rows)


def _row_bits(part: PublishedColumn, name: str, codes: Ids) -> tuple[NDArray[np.uint8], Ids]:
    """For each original that is asked for, the rows whose label covers it, as bits; and where each code's bits stand."""
    spread = part.spreads[name]
    asked, place = np.unique(codes, return_inverse=True)
    number = np.full(spread.n_originals, -1, dtype=np.int64)
    number[asked] = np.arange(asked.size)
    covers = np.zeros((asked.size, spread.sizes.size), dtype=bool)
    inside = number[spread.originals] >= 0
    covers[number[spread.originals[inside]], spread.labels[inside]] = True
    packed = np.empty((asked.size, -(-part.counts.size // 8)), dtype=np.uint8)
    for row in range(asked.size):
        packed[row] = np.packbits(covers[row][part.labels[name]])
    return packed, place.astype(np.int64)
