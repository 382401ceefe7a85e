"""Which rows of a published column a tuple may be, and how much of each row it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.cover import Floats, Ids
from manyveils.reading.keys import numbered, ranges

MOST_BITS = 2**28
MOST_PAIRS = 2**25
# Looking at one pair takes as long as looking at so many bits.
PER_PAIR = 64
# Fewer combinations are not worth halving.
FEWEST = 256
NONE: Ids = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Matches:
    """Pairs of a tuple's combination and a row of a column, with the number of rows it takes.

    Tuples that are alike in the column's attributes share a combination.
    """

    combination_of: Ids
    combinations: Ids
    rows: Ids
    weights: Floats
    part: PublishedColumn

    @property
    def n_expanded(self) -> int:
        """How many pairs of tuple and row there are."""
        per_combination = np.bincount(
            self.combinations, minlength=int(self.combination_of.max(initial=-1)) + 1
        )
        return int(per_combination[self.combination_of].sum())

    @cached_property
    def _by_bucket(self) -> tuple[Ids, Ids, Floats]:
        """Combination, bucket and rows taken, summed over rows, in order."""
        buckets = self.part.buckets[self.rows]
        order = np.lexsort((buckets, self.combinations))
        combinations, buckets, weights = self.combinations[order], buckets[order], self.weights[order]
        if not order.size:
            return combinations, buckets, weights
        first = np.append(True, (np.diff(combinations) != 0) | (np.diff(buckets) != 0))
        starts = np.flatnonzero(first)
        return combinations[first], buckets[first], np.add.reduceat(weights, starts)

    def expanded(self, n_buckets: int) -> tuple[Ids, Ids, Floats]:
        """Tuple, bucket and rows taken."""
        combinations, buckets, weights = self._by_bucket
        starts = np.searchsorted(combinations, self.combination_of)
        lengths = np.searchsorted(combinations, self.combination_of, side="right") - starts
        picked = ranges(starts, lengths)
        return np.repeat(np.arange(self.combination_of.size), lengths), buckets[picked], weights[picked]

    def at(self, tuples: Ids, buckets: Ids, n_buckets: int) -> Floats:
        """Rows taken by given tuples in given buckets."""
        combinations, held, weights = self._by_bucket
        keys = combinations * n_buckets + held
        wanted = self.combination_of[tuples] * n_buckets + buckets
        if not keys.size:
            return np.zeros(wanted.size)
        places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[places] == wanted, weights[places], 0.0)


def matches_of(part: PublishedColumn, tuples: Mapping[str, Ids], masks: Masks) -> Matches:
    """Match tuples against the rows of a column."""
    names = [name for name in part.attributes if name in tuples]
    combination_of, firsts = numbered([tuples[name] for name in names])
    wanted = {name: tuples[name][firsts] for name in names}
    plain = [name for name in names if not part.covers[name].overlaps]
    others = [name for name in names if part.covers[name].overlaps]
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
        weights = weights / part.covers[name].sizes[part.labels[name][rows]]
    return Matches(combination_of, combinations, rows, weights, part)


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
        inside = part.covers[name].covers(part.labels[name][rows], wanted[name][combinations])
        combinations, rows = combinations[inside], rows[inside]
    return combinations, rows


def _runs(part: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> tuple[Ids, Ids, Ids, Ids]:
    """The combinations whose labels are known, the rows in an order, and the run of rows each combination agrees with."""
    labels = [part.covers[name].label_of[wanted[name]] for name in names]
    known = np.logical_and.reduce([each >= 0 for each in labels])
    n_rows = part.counts.size
    both = [
        np.concatenate([part.labels[name], each[known]]) for name, each in zip(names, labels, strict=True)
    ]
    keys, _ = numbered(both)
    order = np.argsort(keys[:n_rows], kind="stable")
    ordered, asked = keys[:n_rows][order], keys[n_rows:]
    starts = np.searchsorted(ordered, asked)
    lengths = np.searchsorted(ordered, asked, side="right") - starts
    return np.flatnonzero(known), order, starts, lengths


def _by_bits(column: PublishedColumn, wanted: Mapping[str, Ids], names: list[str]) -> tuple[Ids, Ids]:
    """Pairs of combination and row, where labels overlap: rows as bits, one attribute after the other.

    Many combinations against many rows are halved first, along the attribute that parts them best, so that most
    rows need not be looked at.
    """
    pairs = [(NONE, NONE)]
    spans = {name: _spans(column, name) for name in names}
    waiting = [(np.arange(next(iter(wanted.values())).size), np.arange(column.counts.size))]
    while waiting:
        combinations, rows = waiting.pop()
        halves = _halves(wanted, spans, combinations, rows)
        if halves is not None:
            waiting += halves
        elif combinations.size and rows.size:
            pairs.append(_matched_bits(column, wanted, names, combinations, rows))
    found = [np.concatenate(side) for side in zip(*pairs, strict=True)]
    order = np.lexsort((found[1], found[0])) if len(pairs) > 2 else slice(None)
    return found[0][order], found[1][order]


def _spans(column: PublishedColumn, name: str) -> tuple[Ids, Ids]:
    """The lowest and the highest original under the label of each row."""
    cover, labels = column.covers[name], column.labels[name]
    return cover.firsts[labels], cover.lasts[labels]


def _halves(
    wanted: Mapping[str, Ids], spans: Mapping[str, tuple[Ids, Ids]], combinations: Ids, rows: Ids
) -> list[tuple[Ids, Ids]] | None:
    """Combinations up to the middle of an attribute, and those beyond it, each with the rows they may be.

    None where there are few enough, or where no attribute keeps a fifth of the rows from one of the halves.
    """
    if combinations.size * rows.size <= MOST_BITS or combinations.size < FEWEST:
        return None
    best: tuple[int, list[tuple[Ids, Ids]]] | None = None
    for name, (low, high) in spans.items():
        codes = wanted[name][combinations]
        middle = int(np.partition(codes, codes.size // 2)[codes.size // 2])
        below = codes < middle
        sides = [rows[low[rows] < middle], rows[high[rows] >= middle]]
        work = int(below.sum()) * sides[0].size + int((~below).sum()) * sides[1].size
        if below.any() and (best is None or work < best[0]):
            best = work, [(combinations[below], sides[0]), (combinations[~below], sides[1])]
    if best is None or best[0] > 0.9 * combinations.size * rows.size:
        return None
    return best[1]


def _matched_bits(
    column: PublishedColumn, wanted: Mapping[str, Ids], names: list[str], combinations: Ids, rows: Ids
) -> tuple[Ids, Ids]:
    """The pairs among some combinations and some rows."""
    bits = {name: _row_bits(column, name, wanted[name][combinations], rows) for name in names}
    step = max(1, MOST_BITS // rows.size)
    pairs = [(NONE, NONE)]
    for start in range(0, combinations.size, step):
        chosen = slice(start, start + step)
        both: NDArray[np.uint8] | None = None
        for packed, numbers in bits.values():
            own = packed[numbers[chosen]]
            both = own if both is None else both & own
        assert both is not None
        which, eight = np.nonzero(both)
        byte, bit = np.nonzero(np.unpackbits(both[which, eight][:, np.newaxis], axis=1))
        pairs.append((combinations[which[byte] + start], rows[8 * eight[byte] + bit]))
    found = [np.concatenate(side) for side in zip(*pairs, strict=True)]
    return found[0], found[1]


def _row_bits(column: PublishedColumn, name: str, codes: Ids, rows: Ids) -> tuple[NDArray[np.uint8], Ids]:
    """For each different code, the rows whose label covers it, as bits; and the number of each code."""
    distinct, numbers = np.unique(codes, return_inverse=True)
    labels, label_of_row = np.unique(column.labels[name][rows], return_inverse=True)
    covers = column.covers[name].among(distinct, labels.astype(np.int64))
    packed = np.empty((distinct.size, -(-rows.size // 8)), dtype=np.uint8)
    for number in range(distinct.size):
        packed[number] = np.packbits(covers[number][label_of_row])
    return packed, numbers.astype(np.int64)
