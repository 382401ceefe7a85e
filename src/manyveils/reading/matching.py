"""Which rows of a published column a tuple may be, and how much of each row it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import NOBODY, Masks, PublishedColumn
from manyveils.reading.cover import NOTHING
from manyveils.reading.keys import LARGEST, Floats, Ids, numbered, ranges

MOST_BITS = 2**28
MOST_REMEMBERED = 10_000_000
MOST_PAIRS = 5_000_000
# So few pairs of combination and row, or so few combinations, are not worth halving.
FEW_PAIRS, FEWEST = 2**19, 256


@dataclass(frozen=True, repr=False)
class Matches:
    """Pairs of a tuple's combination and a row of a column, with the number of rows it takes.

    Tuples that are alike in the column's attributes share a combination.
    """

    combination_of: Ids
    combinations: Ids
    rows: Ids
    weights: Floats
    column: PublishedColumn

    @property
    def n_expanded(self) -> int:
        """How many pairs of tuple and row there are."""
        n_combinations = int(self.combination_of.max(initial=-1)) + 1
        per_combination = np.bincount(self.combinations, minlength=n_combinations)
        return int(per_combination[self.combination_of].sum())

    @cached_property
    def _by_bucket(self) -> tuple[Ids, Ids, Floats]:
        """Combination, bucket and rows taken, summed over rows, in order."""
        buckets = self.column.buckets[self.rows]
        # Mostly in order already, which a stable sort of single numbers is quick with.
        keys = self.combinations * (int(buckets.max(initial=0)) + 1) + buckets
        order = np.argsort(keys, kind="stable")
        combinations, buckets, weights = self.combinations[order], buckets[order], self.weights[order]
        if not order.size:
            return combinations, buckets, weights
        first = np.append(True, (np.diff(combinations) != 0) | (np.diff(buckets) != 0))
        starts = np.flatnonzero(first)
        return combinations[first], buckets[first], np.add.reduceat(weights, starts)

    def expanded(self, n_buckets: int) -> tuple[Ids, Ids, Floats]:
        """Tuple, bucket and rows taken."""
        combinations, buckets, weights = self._by_bucket
        n_of_each = np.bincount(combinations, minlength=int(self.combination_of.max(initial=-1)) + 1)
        lengths = n_of_each[self.combination_of]
        picked = ranges((np.cumsum(n_of_each) - n_of_each)[self.combination_of], lengths)
        return np.repeat(np.arange(self.combination_of.size), lengths), buckets[picked], weights[picked]

    def at(self, tuples: Ids, buckets: Ids, n_buckets: int) -> Floats:
        """Rows taken by given tuples in given buckets."""
        combinations, own_buckets, weights = self._by_bucket
        keys = combinations * n_buckets + own_buckets
        wanted = self.combination_of[tuples] * n_buckets + buckets
        if not keys.size:
            return np.zeros(wanted.size)
        nearest = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[nearest] == wanted, weights[nearest], 0.0)


def matches_of(column: PublishedColumn, tuples: Mapping[str, Ids], masks: Masks) -> Matches:
    """Match tuples against the rows of a column."""
    names = [name for name in column.attributes if name in tuples]
    combination_of, firsts = numbered([tuples[name] for name in names])
    wanted = {name: tuples[name][firsts] for name in names}
    combinations, rows = _matched(column, wanted, firsts.size)
    weights = column.weights(masks, tuple(name for name in column.attributes if name not in names))[rows]
    for name in names:
        weights = weights / column.covers[name].sizes[column.labels[name][rows]]
    return Matches(combination_of, combinations, rows, weights, column)


def _matched(column: PublishedColumn, wanted: Mapping[str, Ids], n_combinations: int) -> tuple[Ids, Ids]:
    """Pairs of combination and row: joined by labels, where originals have one each; otherwise by groups."""
    if any(column.covers[name].overlaps for name in wanted):
        return _by_groups(column, wanted, n_combinations)
    everyone = np.arange(n_combinations)
    return _with_equal(column, wanted, ((), tuple(wanted)), everyone, np.zeros_like(everyone))


def _by_groups(column: PublishedColumn, wanted: Mapping[str, Ids], n_combinations: int) -> tuple[Ids, Ids]:
    """Pairs where labels overlap: groups of rows by these labels first, and in them rows by the other attributes."""
    overlapping = tuple(name for name in wanted if column.covers[name].overlaps)
    # Who knows more of the same people looks into the groups that are remembered of them, if these are small.
    asked = (names for names in column.met if {*names} <= {*overlapping})
    first = max(asked, key=len, default=overlapping)
    combinations, groups = _in_groups(column, wanted, first, n_combinations)
    if first != overlapping and column.sizes_of(first)[groups].sum() > MOST_PAIRS:
        first = overlapping
        combinations, groups = _in_groups(column, wanted, first, n_combinations)
    plain = tuple(name for name in wanted if name not in overlapping)
    combinations, rows = _with_equal(column, wanted, (first, plain), combinations, groups)
    for name in (name for name in overlapping if name not in first):
        inside = column.covers[name].covers(column.labels[name][rows], wanted[name][combinations])
        combinations, rows = combinations[inside], rows[inside]
    return combinations, rows


def _in_groups(
    column: PublishedColumn, wanted: Mapping[str, Ids], names: tuple[str, ...], n_combinations: int
) -> tuple[Ids, Ids]:
    """Pairs of combination and group of rows by the labels of some attributes."""
    number_of, distinct = numbered([wanted[name] for name in names])
    numbers, groups = _groups(column, {name: wanted[name][distinct] for name in names})
    starts = np.searchsorted(numbers, number_of)
    lengths = np.searchsorted(numbers, number_of, side="right") - starts
    return np.repeat(np.arange(n_combinations), lengths), groups[ranges(starts, lengths)]


def _with_equal(
    column: PublishedColumn,
    wanted: Mapping[str, Ids],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    combinations: Ids,
    groups: Ids,
) -> tuple[Ids, Ids]:
    """Pairs of combination and row, from those of group: rows that have the labels of attributes with one for each."""
    labels = {name: column.covers[name].label_of[wanted[name]] for name in names[1]}
    for own in labels.values():
        known = own[combinations] >= 0
        combinations, groups = combinations[known], groups[known]
    keyed, keys, order = column.sorted_by(*names)
    for name in keyed:
        groups = groups * column.covers[name].n_labels + labels[name][combinations]
    starts = np.searchsorted(keys, groups)
    lengths = np.searchsorted(keys, groups, side="right") - starts
    combinations, rows = np.repeat(combinations, lengths), order[ranges(starts, lengths)]
    for name in names[1][len(keyed) :]:
        equal = column.labels[name][rows] == labels[name][combinations]
        combinations, rows = combinations[equal], rows[equal]
    return combinations, rows


def _groups(column: PublishedColumn, wanted: Mapping[str, Ids]) -> tuple[Ids, Ids]:
    """Pairs of combination and group of rows whose overlapping labels cover it.

    The column remembers them: whoever knows more of the same people asks again.
    """
    names, keys = tuple(wanted), _keys(column, wanted)
    if keys is None:
        return _found(column, wanted)
    met = column.met.get(names, NOBODY)
    is_new = ~np.isin(keys, met.keys)
    if is_new.any():
        numbers, groups = _found(column, {name: codes[is_new] for name, codes in wanted.items()})
        met = met.joined(keys[is_new], np.bincount(numbers, minlength=int(is_new.sum())), groups)
        if met.groups.size <= MOST_REMEMBERED:
            column.met[names] = met
    places = np.searchsorted(met.keys, keys)
    lengths = met.lengths[places]
    return np.repeat(np.arange(keys.size), lengths), met.groups[ranges(met.starts[places], lengths)]


def _keys(column: PublishedColumn, wanted: Mapping[str, Ids]) -> Ids | None:
    """One number for each combination, the same whenever it is asked for; None where there is no room for it."""
    keys, span = np.zeros(next(iter(wanted.values())).size, dtype=np.int64), 1
    for name, codes in wanted.items():
        n_codes = column.covers[name].n_originals + 1
        keys, span = keys * n_codes + codes + 1, span * n_codes
    return keys if span < LARGEST else None


def _found(column: PublishedColumn, wanted: Mapping[str, Ids]) -> tuple[Ids, Ids]:
    """Pairs of combination and group, in order."""
    group_of, firsts = column.grouped(tuple(wanted))
    numbers, rows = _by_bits(column, wanted, firsts)
    return numbers, group_of[rows]


def _by_bits(column: PublishedColumn, wanted: Mapping[str, Ids], rows: Ids) -> tuple[Ids, Ids]:
    """Pairs of combination and one of some rows, where labels overlap: rows as bits, one attribute after the other.

    Many combinations against many rows are halved first, along the attribute that parts them best, so that most
    rows need not be looked at.
    """
    pairs = [(NOTHING, NOTHING)]
    spans = {name: _spans(column, name) for name in wanted}
    waiting = [(np.arange(next(iter(wanted.values())).size), rows)]
    while waiting:
        combinations, rows = waiting.pop()
        halves = _halves(wanted, spans, combinations, rows)
        if halves is not None:
            waiting += halves
        elif combinations.size and rows.size:
            pairs.append(_matched_bits(column, wanted, combinations, rows))
    every_combination, every_row = _concatenated(pairs)
    order = np.lexsort((every_row, every_combination)) if len(pairs) > 2 else slice(None)
    return every_combination[order], every_row[order]


def _concatenated(pairs: list[tuple[Ids, Ids]]) -> tuple[Ids, Ids]:
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


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
    if combinations.size * rows.size <= FEW_PAIRS or combinations.size < FEWEST:
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
    column: PublishedColumn, wanted: Mapping[str, Ids], combinations: Ids, rows: Ids
) -> tuple[Ids, Ids]:
    """The pairs among some combinations and some rows."""
    bits = [_row_bits(column, name, codes[combinations], rows) for name, codes in wanted.items()]
    step = max(1, MOST_BITS // rows.size)
    pairs = [(NOTHING, NOTHING)]
    for start in range(0, combinations.size, step):
        chosen = (packed[numbers[start : start + step]] for packed, numbers in bits)
        both = reduce(np.bitwise_and, chosen)
        which, eight = np.nonzero(both)
        byte, bit = np.nonzero(np.unpackbits(both[which, eight][:, np.newaxis], axis=1))
        pairs.append((combinations[which[byte] + start], rows[8 * eight[byte] + bit]))
    return _concatenated(pairs)


def _row_bits(column: PublishedColumn, name: str, codes: Ids, rows: Ids) -> tuple[NDArray[np.uint8], Ids]:
    """For each different code, the rows whose label covers it, as bits; and the number of each code."""
    distinct, numbers = np.unique(codes, return_inverse=True)
    labels, label_of_row = np.unique(column.labels[name][rows], return_inverse=True)
    covers = column.covers[name].among(distinct, labels.astype(np.int64))
    packed = np.empty((distinct.size, -(-rows.size // 8)), dtype=np.uint8)
    for number in range(distinct.size):
        packed[number] = np.packbits(covers[number][label_of_row])
    return packed, numbers.astype(np.int64)
