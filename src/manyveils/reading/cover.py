"""Which originals each label of an attribute stands for, as runs of neighbouring codes.

An exact value is a run of one, a range is one run however long it is, `*` is one run over everything, and a set or
a label of a hierarchy has a run for each stretch of originals under it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import Bools, Floats, Ids, ranges

__all__ = ["NOTHING", "Bools", "Cover", "Floats", "Ids", "cover_of_lists", "cover_of_pairs", "joined_covers"]

MOST_SIGNS = 50_000_000
NOTHING: Ids = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Cover:
    """The originals under every label: `low` to `high`, both included, for the runs `starts[label]` to `starts[label + 1]`.

    Runs of one label are disjoint and in order. A label that covers nothing has no run.
    """

    starts: Ids
    low: Ids
    high: Ids
    n_originals: int

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.starts.size - 1

    @cached_property
    def owners(self) -> Ids:
        """The label of each run."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.starts))

    @cached_property
    def sizes(self) -> Ids:
        """How many originals each label covers."""
        return self.sums(np.ones(self.n_originals, dtype=bool))

    @cached_property
    def is_coarse(self) -> bool:
        """Whether some label covers several originals."""
        return bool(self.sizes.max(initial=1) > 1)

    @cached_property
    def depth(self) -> Ids:
        """Under how many labels each original stands."""
        steps = np.bincount(self.low, minlength=self.n_originals + 1)
        return np.cumsum(steps - np.bincount(self.high + 1, minlength=self.n_originals + 1))[:-1]

    @cached_property
    def overlaps(self) -> bool:
        """Whether some original stands under several labels."""
        return bool(self.depth.max(initial=0) > 1)

    @cached_property
    def label_of(self) -> Ids:
        """The one label of each original, -1 where there is none; only without overlaps."""
        label_of = np.full(self.n_originals, -1, dtype=np.int64)
        labels, codes = self.pairs()
        label_of[codes] = labels
        return label_of

    @cached_property
    def firsts(self) -> Ids:
        """The lowest original under each label, -1 where there is none."""
        return self._ends(self.low, self.starts[:-1])

    @cached_property
    def lasts(self) -> Ids:
        """The highest original under each label, -1 where there is none."""
        return self._ends(self.high, self.starts[1:] - 1)

    def _ends(self, codes: Ids, runs: Ids) -> Ids:
        """The code at one run of each label, -1 where a label has none."""
        ends = np.full(self.n_labels, -1, dtype=np.int64)
        filled = np.diff(self.starts) > 0
        ends[filled] = codes[runs[filled]]
        return ends

    @cached_property
    def signs(self) -> Ids:
        """A row of numbers for each original; originals with equal rows stand under the same labels."""
        if not self.overlaps:
            return self.label_of[:, np.newaxis]
        if self.n_originals * self.n_labels > MOST_SIGNS:
            return self.classes[0][:, np.newaxis]
        codes = np.arange(self.n_originals)
        packed: Ids = np.packbits(self.among(codes, np.arange(self.n_labels)), axis=1).astype(np.int64)
        return packed

    @cached_property
    def classes(self) -> tuple[Ids, Ids, Ids]:
        """Originals that no label tells apart: the class of each original, and pairs of class and label."""
        ends = np.bincount(np.append(self.low, self.high + 1), minlength=self.n_originals + 1)
        # No run begins or ends between two originals of one class.
        of_code = np.cumsum(ends[:-1] > 0, dtype=np.int64)
        if not self.overlaps:
            of_code = self.label_of + 1
            return of_code, self.owners + 1, self.owners
        lengths = of_code[self.high] - of_code[self.low] + 1
        return of_code, ranges(of_code[self.low], lengths), np.repeat(self.owners, lengths)

    def taking(self, labels: Ids) -> "Cover":
        """The cover of some labels, in another order."""
        lengths = np.diff(self.starts)[labels]
        runs = ranges(self.starts[labels], lengths)
        return Cover(np.append(0, np.cumsum(lengths)), self.low[runs], self.high[runs], self.n_originals)

    def with_values(self, codes: Ids) -> "Cover":
        """The cover with a label more for each of some originals, which stands for it alone."""
        starts = np.append(self.starts, self.low.size + 1 + np.arange(codes.size))
        return Cover(starts, np.append(self.low, codes), np.append(self.high, codes), self.n_originals)

    def pairs(self) -> tuple[Ids, Ids]:
        """Every label with every original under it."""
        lengths = self.high - self.low + 1
        return np.repeat(self.owners, lengths), ranges(self.low, lengths)

    def sums(self, amounts: Ids | Bools) -> Ids:
        """The sum over each label's originals of a count per original."""
        before = np.append(0, np.cumsum(amounts, dtype=np.int64))
        total = np.append(0, np.cumsum(before[self.high + 1] - before[self.low]))
        return total[self.starts[1:]] - total[self.starts[:-1]]

    def share_in(self, mask: Bools) -> Floats:
        """For each label the share of its originals that a predicate holds for."""
        return self.sums(mask) / np.maximum(self.sizes, 1)

    def covers(self, labels: NDArray[np.integer], codes: Ids) -> Bools:
        """For pairs of label and original whether the one covers the other."""
        if not self.low.size:
            return np.zeros(labels.size, dtype=bool)
        keys = self.owners * self.n_originals + self.low
        wanted = labels.astype(np.int64) * self.n_originals + codes
        runs = np.maximum(np.searchsorted(keys, wanted, side="right") - 1, 0)
        is_covered: Bools = (
            (keys[runs] <= wanted) & (self.owners[runs] == labels) & (self.high[runs] >= codes)
        )
        return is_covered

    def picked(self, labels: NDArray[np.integer], shares: Floats) -> Ids:
        """For each label the original at a share, from 0 to below 1, of the way through those it covers."""
        ends = np.cumsum(self.high - self.low + 1)
        before = np.append(0, ends)[self.starts[labels]]
        wanted = before + (shares * self.sizes[labels]).astype(np.int64)
        runs = np.searchsorted(ends, wanted, side="right")
        return self.high[runs] - (ends[runs] - 1 - wanted)

    def constant(self, classes: NDArray[np.integer]) -> Ids:
        """The class that all originals under a label share, -1 where they have several or there are none."""
        if not self.low.size:
            return np.full(self.n_labels, -1, dtype=np.int64)
        changes = np.append(0, np.cumsum(classes[1:] != classes[:-1]))
        shared = np.where(changes[self.low] == changes[self.high], classes[self.low], -1).astype(np.int64)
        least, most = np.full(self.n_labels, np.iinfo(np.int64).max), np.full(self.n_labels, -1)
        np.minimum.at(least, self.owners, shared)
        np.maximum.at(most, self.owners, shared)
        return np.where(least == most, most, -1)

    def among(self, codes: Ids, labels: Ids) -> Bools:
        """Which of some originals, in rising order, stand under which of some labels: a row per original."""
        number = np.full(self.n_labels, -1, dtype=np.int64)
        number[labels] = np.arange(labels.size)
        runs = np.flatnonzero(number[self.owners] >= 0)
        columns = number[self.owners[runs]]
        steps = np.zeros((codes.size + 1, labels.size), dtype=np.int8)
        np.add.at(steps, (np.searchsorted(codes, self.low[runs]), columns), 1)
        np.add.at(steps, (np.searchsorted(codes, self.high[runs], side="right"), columns), -1)
        inside: Bools = np.cumsum(steps[:-1], axis=0, dtype=np.int8) > 0
        return inside


def cover_of_lists(lists: Sequence[Sequence[int] | Ids], n_originals: int) -> Cover:
    """A cover from the codes under each label.

    >>> cover = cover_of_lists([[3, 1, 2], [0], []], 5)
    >>> cover.sizes.tolist(), cover.low.tolist(), cover.high.tolist(), cover.label_of.tolist()
    ([3, 1, 0], [1, 0], [3, 0], [1, 0, 0, 0, -1])
    """
    arrays = [np.asarray(codes, dtype=np.int64) for codes in lists]
    labels = np.repeat(np.arange(len(arrays)), [codes.size for codes in arrays])
    return cover_of_pairs(labels, np.concatenate([NOTHING, *arrays]), len(arrays), n_originals)


def cover_of_pairs(labels: Ids, codes: Ids, n_labels: int, n_originals: int) -> Cover:
    """A cover from pairs of label and original, in any order."""
    keys = np.unique(labels * (n_originals + 1) + codes)
    # Codes that follow each other under one label are one run; the key leaves a gap between labels.
    breaks = np.flatnonzero(np.diff(keys) != 1)
    first = keys[np.append(0, breaks + 1)] if keys.size else keys
    last = keys[np.append(breaks, keys.size - 1)] if keys.size else keys
    owners = first // (n_originals + 1)
    starts = np.searchsorted(owners, np.arange(n_labels + 1))
    return Cover(starts, first % (n_originals + 1), last % (n_originals + 1), n_originals)


def joined_covers(cover: Cover, low: Ids, high: Ids) -> Cover:
    """A cover with one more run for some labels: `low` to `high`, where `high` does not lie below `low`."""
    more = np.flatnonzero(high >= low)
    owners = np.append(cover.owners, more)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(cover.n_labels + 1))
    lows, highs = np.append(cover.low, low[more]), np.append(cover.high, high[more])
    return Cover(starts, lows[order], highs[order], cover.n_originals)
