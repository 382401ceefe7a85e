"""Where targets may stand in a view: the rows of each column that match what is known, bucket by bucket."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.attacks.people import Bools, Floats, Ids, alike, looked_up
from manyveils.reading.matching import Matches, matches_of
from manyveils.reading.views import PublishedView

AT_ONCE, FEWEST_AT_ONCE = 16_384, 512
MOST_PAIRS = 10_000_000


@dataclass(frozen=True, repr=False)
class Batch:
    """Some targets in one view; every target is a combination of known values."""

    view: PublishedView
    tuples: Mapping[str, Ids]
    n: int

    @cached_property
    def matches(self) -> dict[int, Matches]:
        """The matching rows of every column that shows something known, by the column's index."""
        return {
            index: matches_of(column, self.tuples, {})
            for index, column in enumerate(self.view.columns)
            if any(name in self.tuples for name in column.attributes)
        }

    @cached_property
    def located(self) -> tuple[Ids, Ids, Floats]:
        """Target, bucket, and how many rows of it are expected to match in all columns."""
        first, *rest = sorted(self.matches.values(), key=lambda matches: matches.n_expanded)
        targets, buckets, rows = first.expanded(self.view.n_buckets)
        sizes = np.maximum(self.view.sizes, 1)
        for matches in rest:
            rows = rows * matches.at(targets, buckets, self.view.n_buckets) / sizes[buckets]
        real = rows > 0
        return targets[real], buckets[real], rows[real]

    def summed(self, targets: Ids, rows: Floats) -> Floats:
        """The sum of some numbers for each target."""
        return np.bincount(targets, weights=rows, minlength=self.n).astype(np.float64)

    def expected(self) -> Floats:
        """How many rows are expected to match each target, over all buckets."""
        targets, _, rows = self.located
        return self.summed(targets, rows)

    def counted(self) -> tuple[Ids, Ids, dict[int, Floats]]:
        """Target, bucket, and by column how many rows of the bucket match; labels count whole."""
        targets, buckets, _ = self.located
        counts = {}
        for index, matches in self.matches.items():
            whole = replace(matches, weights=matches.column.counts[matches.rows].astype(np.float64))
            counts[index] = whole.at(targets, buckets, self.view.n_buckets)
        return targets, buckets, counts

    def is_bare(self) -> Bools:
        """Whether what is known of each target is published as it is, wherever it matches."""
        bare = np.ones(self.n, dtype=bool)
        for matches in self.matches.values():
            column, coarse = matches.column, np.zeros(matches.rows.size, dtype=bool)
            for name in column.attributes:
                if name in self.tuples:
                    coarse |= (column.covers[name].sizes > 1)[column.labels[name][matches.rows]]
            hidden = np.zeros(int(matches.combination_of.max(initial=-1)) + 1, dtype=bool)
            hidden[matches.combinations[coarse]] = True
            bare &= ~hidden[matches.combination_of]
        return bare


@dataclass(frozen=True, repr=False)
class Search:
    """All targets in one view, in batches of different ones.

    `number_of` is the number of each person among the different targets, -1 for values that the view does not have.
    """

    batches: tuple[Batch, ...]
    number_of: Ids

    @property
    def n_located(self) -> int:
        """How many pairs of target and bucket there are."""
        return sum(batch.located[0].size for batch in self.batches)

    def gathered(
        self, find: Callable[[Batch], NDArray[Any]], otherwise: Floats | float = 0.0
    ) -> NDArray[Any]:
        """What is found batch by batch, for everybody; `otherwise` for people whose values the view does not have."""
        batches = [find(batch) for batch in self.batches]
        return np.concatenate([*batches, np.asarray(otherwise)[np.newaxis]])[self.number_of]


def searched(view: PublishedView, known: Mapping[str, Ids]) -> Search:
    """Look for people in a view; at least one attribute of the view must be known.

    Originals under the same label look alike, so one of them stands for all.
    """
    codes = {name: _standing_for(view, name, known[name]) for name in view.attributes if name in known}
    usual: Bools = np.logical_and.reduce([column >= 0 for column in codes.values()])
    number_of = np.full(usual.size, -1, dtype=np.int64)
    if not usual.any() or not view.n_rows:
        return Search((), number_of)
    number_of[usual], firsts = alike([column[usual] for column in codes.values()], int(usual.sum()))
    distinct = {name: column[usual][firsts] for name, column in codes.items()}
    n = firsts.size
    batches = [
        batch
        for start in range(0, n, AT_ONCE)
        for batch in _batches(view, distinct, start, min(start + AT_ONCE, n))
    ]
    return Search(tuple(batches), number_of)


def _batches(view: PublishedView, distinct: Mapping[str, Ids], start: int, stop: int) -> Iterator[Batch]:
    """Some of the different targets, in as many batches as keep the pairs of target and row few."""
    n, half = stop - start, (start + stop) // 2
    if n <= AT_ONCE // 8 or not has_overlaps(view, distinct):
        batch = Batch(view, {name: codes[start:stop] for name, codes in distinct.items()}, n)
        fewest = min(matches.n_expanded for matches in batch.matches.values())
        if fewest <= MOST_PAIRS or n <= FEWEST_AT_ONCE:
            yield batch
            return
    yield from _batches(view, distinct, start, half)
    yield from _batches(view, distinct, half, stop)


def has_overlaps(view: PublishedView, names: Iterable[str]) -> bool:
    """Whether some of these attributes have labels that overlap, so that rows must be looked at one by one."""
    return any(view.cover_of(name).overlaps for name in names)


def labels_of(view: PublishedView, name: str, codes: Ids) -> Ids:
    """The label of each original; -1 where there is none, or several overlap."""
    cover = view.cover_of(name)
    if cover.overlaps:
        return np.full(codes.size, -1, dtype=np.int64)
    return looked_up(cover.label_of, codes, -1)


def _standing_for(view: PublishedView, name: str, codes: Ids) -> Ids:
    """For each original the first one under its label; where labels overlap, and without one, itself."""
    cover = view.cover_of(name)
    if cover.overlaps or not cover.is_coarse:
        return codes
    return looked_up(cover.firsts, labels_of(view, name, codes), codes)
