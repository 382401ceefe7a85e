"""Where targets may stand in a view: the rows of each column that match what is known, bucket by bucket."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.matching import Matches, matches_of, numbered
from manyveils.reading.views import PublishedView

AT_ONCE, FEWEST_AT_ONCE = 16_384, 512
MOST_PAIRS = 10_000_000
MOST_KEPT = 20_000_000


@dataclass(frozen=True, repr=False)
class Sighting:
    """Some targets in one view; every target is a combination of known values."""

    shape: PublishedView
    tuples: Mapping[str, Ids]
    n: int

    @cached_property
    def matches(self) -> dict[int, Matches]:
        """The matching rows of every column that shows something known, by the column's place."""
        return {
            place: matches_of(part, self.tuples, {})
            for place, part in enumerate(self.shape.parts)
            if any(name in self.tuples for name in part.attributes)
        }

    @cached_property
    def located(self) -> tuple[Ids, Ids, Floats]:
        """Target, bucket, and how many rows of it are expected to match in all columns."""
        found = sorted(self.matches.values(), key=lambda each: each.n_expanded)
        targets, buckets, rows = found[0].expanded(self.shape.n_buckets)
        sizes = np.maximum(self.shape.sizes, 1)
        for other in found[1:]:
            rows = rows * other.at(targets, buckets, self.shape.n_buckets) / sizes[buckets]
        real = rows > 0
        return targets[real], buckets[real], rows[real]

    def expected(self) -> Floats:
        """How many rows are expected to match each target, over all buckets."""
        targets, _, rows = self.located
        return np.bincount(targets, weights=rows, minlength=self.n).astype(np.float64)

    def counted(self) -> tuple[Ids, Ids, Floats]:
        """Target, bucket, and by column how many rows of the bucket match; labels count whole."""
        targets, buckets, _ = self.located
        counts = [
            replace(each, weights=each.part.counts[each.rows].astype(np.float64)).at(
                targets, buckets, self.shape.n_buckets
            )
            for each in self.matches.values()
        ]
        return targets, buckets, np.stack(counts)

    def is_bare(self) -> Bools:
        """Whether what is known of each target is published as it is, wherever it matches."""
        bare = np.ones(self.n, dtype=bool)
        for each in self.matches.values():
            coarse = np.zeros(each.rows.size, dtype=bool)
            for name in each.part.attributes:
                if name in self.tuples:
                    coarse |= (each.part.spreads[name].sizes > 1)[each.part.labels[name][each.rows]]
            hidden = np.zeros(int(each.combination_of.max(initial=-1)) + 1, dtype=bool)
            hidden[each.combinations[coarse]] = True
            bare &= ~hidden[each.combination_of]
        return bare


@dataclass(frozen=True, repr=False)
class Sightings:
    """All targets in one view, some at a time; `of` is the place of each among the different ones, -1 for strangers to it."""

    each: tuple[Sighting, ...]
    of: Ids
    n: int

    @property
    def n_located(self) -> int:
        """How many pairs of target and bucket there are."""
        return sum(each.located[0].size for each in self.each)

    def gathered(self, found: list[Floats], otherwise: Floats | float) -> Floats:
        """What was found for the different targets, for all of them; strangers get what is given otherwise."""
        joined = np.concatenate([*found, np.broadcast_to(np.asarray(otherwise), (1, *found[0].shape[1:]))])
        return joined[self.of]


def sightings(shape: PublishedView, known: Mapping[str, Ids]) -> Sightings:
    """Look for n targets in a view; at least one attribute of the view must be known.

    Originals under the same labels look alike, so one of them stands for all.
    """
    asked = {name: _alike(shape, name, known[name]) for name in shape.attributes if name in known}
    usual: Bools = np.logical_and.reduce([codes >= 0 for codes in asked.values()])
    of = np.full(usual.size, -1, dtype=np.int64)
    if not usual.any() or not shape.n_rows:
        return Sightings((), of, 0)
    sizes = [shape.spread_of(name).n_originals for name in asked]
    of[usual], firsts = numbered([codes[usual] for codes in asked.values()], sizes)
    distinct = {name: codes[usual][firsts] for name, codes in asked.items()}
    starts = range(0, firsts.size, AT_ONCE)
    each = [
        one for start in starts for one in _some(shape, distinct, start, min(start + AT_ONCE, firsts.size))
    ]
    return Sightings(tuple(each), of, firsts.size)


def _some(shape: PublishedView, distinct: Mapping[str, Ids], start: int, stop: int) -> Iterator[Sighting]:
    """Some of the different targets, in as many parts as keep the pairs of target and row few."""
    half = (start + stop) // 2
    if shape_overlaps(shape, distinct) and stop - start > AT_ONCE // 8:
        yield from _some(shape, distinct, start, half)
        yield from _some(shape, distinct, half, stop)
        return
    one = Sighting(shape, {name: codes[start:stop] for name, codes in distinct.items()}, stop - start)
    fewest = min(each.n_expanded for each in one.matches.values())
    if fewest <= MOST_PAIRS or stop - start <= FEWEST_AT_ONCE:
        yield one
    else:
        yield from _some(shape, distinct, start, half)
        yield from _some(shape, distinct, half, stop)


def shape_overlaps(shape: PublishedView, names: Iterable[str]) -> bool:
    """Whether some of these attributes have labels that overlap, so that rows must be looked at one by one."""
    return any(shape.spread_of(name).overlaps for name in names)


def _alike(shape: PublishedView, name: str, codes: Ids) -> Ids:
    """For each original the first one under its label; where labels overlap, and without one, itself."""
    spread = shape.spread_of(name)
    if spread.overlaps or not spread.is_coarse:
        return codes
    labels = spread.label_of[np.maximum(codes, 0)]
    firsts = spread.firsts[np.maximum(labels, 0)]
    return np.where((codes >= 0) & (labels >= 0), firsts, codes)


def part_with(shape: PublishedView, name: str) -> tuple[int, PublishedColumn]:
    """The column that shows an attribute, and its place."""
    return next((place, part) for place, part in enumerate(shape.parts) if name in part.attributes)
