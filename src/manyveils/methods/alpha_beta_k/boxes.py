"""Groups as boxes in the space of quasi-identifiers: what their cells lose, and which lie near each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from manyveils.kernels.cuts import LABEL, RANGE
from manyveils.methods.alpha_beta_k.domain import domain_numbers, domain_size
from manyveils.methods.generalize.cutting import Labels, style_of
from manyveils.policy.hierarchies import Lines
from manyveils.promises.entries import Ids
from manyveils.promises.work import Work
from manyveils.table import Attribute

NEIGHBOURS = 16
Shares = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Axis:
    """One quasi-identifier: its values in a line on which every label of its hierarchy is a run.

    `place` is the place of each code. `steps` has, level by level, the label at each place and what a cell of that
    label loses; without steps a cell loses by the run of the domain it covers, where `rank` is each place's.
    """

    place: Ids
    steps: tuple[tuple[Ids, Shares], ...]
    rank: Ids
    n_domain: int
    missing: int = -1

    def lost(self, low: Ids, high: Ids) -> Shares:
        """What a cell loses whose values lie between two places: (values under it - 1) / domain."""
        if not self.steps:
            # A missing value among numbers leaves no range.
            mixed = (high == self.missing) & (low < high)
            added = np.where(mixed, self.n_domain - 1, self.rank[high] - self.rank[low])
            run: Shares = np.minimum(added, self.n_domain - 1) / self.n_domain
            return run
        lost, found = np.zeros(low.shape), low == high
        for labels, losses in self.steps:
            here = ~found & (labels[low] == labels[high])
            lost[here] = losses[low[here]]
            found |= here
        return lost


def axis_of(column: Attribute, lines: Lines | None, labels: Labels) -> Axis:
    """Lay out an attribute; a set is taken for the run of values it lies in."""
    style, size = style_of(column, labels), domain_size(column, lines)
    if style == RANGE:
        rank = np.searchsorted(domain_numbers(column, lines), column.numbers)
        missing = column.n_values - 1 if column.has_missing else -1
        return Axis(np.arange(column.n_values), (), rank, size, missing)
    if style != LABEL:
        return Axis(np.arange(column.n_values), (), np.arange(column.n_values), size)
    # The coarsest level decides first, so that each label's values stand together.
    order = np.lexsort([level.label_of for level in column.levels.each])
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    steps = tuple(
        (level.label_of[order].astype(np.int64), _lost(level.label_of[order], level.loss, lines))
        for level in column.levels.each[1:]
    )
    return Axis(place, steps, np.arange(order.size), size)


def _lost(labels: NDArray[np.int32], losses: Shares, lines: Lines | None) -> Shares:
    if lines:
        written: Shares = losses[labels] * (len(lines) - 1) / len(lines)
        return written
    found: Shares = (np.bincount(labels)[labels] - 1) / labels.size
    return found


@dataclass(frozen=True, repr=False)
class Boxes:
    """For every group the lowest and highest place on each axis, and its rows; merging happens in place."""

    axes: tuple[Axis, ...]
    low: Ids
    high: Ids
    sizes: Ids

    def lost(self, which: Ids) -> Shares:
        """What the cells of one row lose, added up, in some groups."""
        return self._lost(self.low[:, which], self.high[:, which])

    def _lost(self, low: Ids, high: Ids) -> Shares:
        lost = np.zeros(low.shape[1:])
        for axis, first, last in zip(self.axes, low, high, strict=True):
            lost += axis.lost(first, last)
        return lost

    def nearest(self, which: Ids, among: Ids) -> Ids:
        """For each group of `which` the other group of `among` whose union with it loses least.

        Candidates are those whose middles lie nearest; of them, the rows of both count.
        """
        scale = np.array([max(axis.place.size - 1, 1) for axis in self.axes], dtype=np.float64)[:, None]
        middles = ((self.low + self.high) / (2 * scale)).T
        n_candidates = min(NEIGHBOURS + 1, among.size)
        _, found = KDTree(middles[among]).query(middles[which], k=n_candidates)
        others = among[np.asarray(found).reshape(which.size, n_candidates)]
        low = np.minimum(self.low[:, others], self.low[:, which, None])
        high = np.maximum(self.high[:, others], self.high[:, which, None])
        rows, mine = self.sizes[others], self.sizes[which, None]
        more = (rows + mine) * self._lost(low, high)
        more -= rows * self.lost(others) + mine * self.lost(which)[:, None]
        more[others == which[:, None]] = np.inf
        nearest: Ids = others[np.arange(which.size), np.argmin(more, axis=1)]
        return nearest

    def merge(self, into: Ids, gone: Ids) -> None:
        """Let groups take in others; each group takes part in one merger."""
        self.low[:, into] = np.minimum(self.low[:, into], self.low[:, gone])
        self.high[:, into] = np.maximum(self.high[:, into], self.high[:, gone])
        self.sizes[into] += self.sizes[gone]


def boxes_of(work: Work, order: Ids, starts: Ids, labels: Labels) -> Boxes:
    """The boxes of groups that are runs of `order`."""
    columns = [work.table[name] for name in work.quasi]
    axes = tuple(axis_of(column, work.policy.lines(column.name), labels) for column in columns)
    places = [axis.place[column.codes[order]] for axis, column in zip(axes, columns, strict=True)]
    shape = (len(axes), starts.size - 1)
    low = np.array([np.minimum.reduceat(place, starts[:-1]) for place in places]).reshape(shape)
    high = np.array([np.maximum.reduceat(place, starts[:-1]) for place in places]).reshape(shape)
    return Boxes(axes, low, high, np.diff(starts))
