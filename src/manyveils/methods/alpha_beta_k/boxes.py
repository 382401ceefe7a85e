"""Groups as boxes in the space of quasi-identifiers: what their cells lose, and which lie near each other."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.spatial import KDTree

from manyveils.kernels.cuts import LABEL, RANGE
from manyveils.methods.alpha_beta_k.rule import mean_loss
from manyveils.methods.generalize.cutting import Labels, style_of
from manyveils.policy.hierarchies import Lines
from manyveils.promises.entries import Ids, tally
from manyveils.promises.work import Work
from manyveils.release import Recoding
from manyveils.table import Attribute

NEIGHBOURS = 16
Shares = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Axis:
    """One quasi-identifier: its values in a line on which every label of its hierarchy is a run.

    `position` is where each code stands. `steps` has, level by level, the label at each position and what a cell of
    that label loses; without steps a cell loses by the run of the domain it covers, where `rank` is each position's.
    """

    position: Ids
    steps: tuple[tuple[Ids, Shares], ...]
    rank: Ids
    n_domain: int
    missing: int = -1
    is_set: bool = False

    def lost(self, low: Ids, high: Ids) -> Shares:
        """What a cell loses whose values lie between two positions: (values under it - 1) / domain."""
        if not self.steps:
            # A missing value among numbers leaves no range.
            is_mixed = (high == self.missing) & (low < high)
            added = np.where(is_mixed, self.n_domain - 1, self.rank[high] - self.rank[low])
            run: Shares = np.minimum(added, self.n_domain - 1) / self.n_domain
            return run
        lost, is_done = np.zeros(low.shape), low == high
        for labels, losses in self.steps:
            is_shared = ~is_done & (labels[low] == labels[high])
            lost[is_shared] = losses[low[is_shared]]
            is_done |= is_shared
        return lost

    def mean_loss(self, codes: NDArray[np.int32], recoding: Recoding | None) -> float:
        """The mean loss of the published cells.

        A reader knows a label by its text, so labels that read alike are one, whatever groups they were made for.
        """
        if recoding is None:
            return 0.0
        texts, n_codes = recoding.values.fill_null(""), self.position.size
        text_of = texts.rank("dense").to_numpy().astype(np.int64) - 1
        keys, counts = tally(text_of[recoding.codes] * n_codes + self.position[codes], len(texts) * n_codes)
        owners, positions = np.divmod(keys, n_codes)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        stops = np.append(starts[1:], owners.size)
        n_leaves = stops - starts
        if not self.is_set:
            # Positions are in order, so the first and the last of a text are its ends.
            lost = self.lost(positions[starts], positions[stops - 1])
            n_leaves = 1 + np.rint(lost * self.n_domain).astype(np.int64)
        return mean_loss(n_leaves, np.add.reduceat(counts, starts), self.n_domain)


def axis_of(attribute: Attribute, lines: Lines | None, labels: Labels) -> Axis:
    """Lay out an attribute; a set is taken for the run of values it lies in."""
    style, size = style_of(attribute, labels), len(lines or ()) or attribute.n_values
    codes = np.arange(attribute.n_values)
    if style == RANGE:
        missing = attribute.n_values - 1 if attribute.has_missing else -1
        return Axis(codes, (), _ranks(attribute, lines), size, missing)
    if style != LABEL:
        return Axis(codes, (), codes, size, is_set=True)
    # The coarsest level decides first, so that each label's values stand together.
    order = np.lexsort([level.label_of for level in attribute.levels.each])
    position = np.empty(order.size, dtype=np.int64)
    position[order] = codes
    steps = tuple(
        (level.label_of[order].astype(np.int64), _lost(level.label_of[order], level.loss, lines))
        for level in attribute.levels.each[1:]
    )
    return Axis(position, steps, codes, size)


def _ranks(attribute: Attribute, lines: Lines | None) -> Ids:
    """How many numbers of the domain lie below each value; those of the data if the hierarchy lists none."""
    texts = pl.Series([line[0] for line in lines or ()], dtype=pl.String)
    listed = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    numbers: Shares = np.unique(listed if listed.size else attribute.numbers)
    return np.searchsorted(numbers[np.isfinite(numbers)], attribute.numbers)


def _lost(labels: NDArray[np.int32], losses: Shares, lines: Lines | None) -> Shares:
    if lines:
        return np.asarray(losses[labels] * (len(lines) - 1) / len(lines))
    return np.asarray((np.bincount(labels)[labels] - 1) / labels.size)


@dataclass(frozen=True, repr=False)
class Boxes:
    """For every group the lowest and highest position on each axis, and its rows; merging happens in place."""

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
        scale = np.array([max(axis.position.size - 1, 1) for axis in self.axes], dtype=np.float64)[:, None]
        middles = ((self.low + self.high) / (2 * scale)).T
        n_candidates = min(NEIGHBOURS + 1, among.size)
        _, candidates = KDTree(middles[among]).query(middles[which], k=n_candidates)
        others = among[np.asarray(candidates).reshape(which.size, n_candidates)]
        low = np.minimum(self.low[:, others], self.low[:, which, None])
        high = np.maximum(self.high[:, others], self.high[:, which, None])
        theirs, own = self.sizes[others], self.sizes[which, None]
        added = (theirs + own) * self._lost(low, high)
        added -= theirs * self.lost(others) + own * self.lost(which)[:, None]
        added[others == which[:, None]] = np.inf
        nearest: Ids = others[np.arange(which.size), np.argmin(added, axis=1)]
        return nearest

    def copied(self) -> "Boxes":
        """The same boxes, to be merged by themselves."""
        return replace(self, low=self.low.copy(), high=self.high.copy(), sizes=self.sizes.copy())

    def merge(self, into: Ids, gone: Ids) -> None:
        """Let groups take in others; each group takes part in one merger."""
        self.low[:, into] = np.minimum(self.low[:, into], self.low[:, gone])
        self.high[:, into] = np.maximum(self.high[:, into], self.high[:, gone])
        self.sizes[into] += self.sizes[gone]


def boxes_of(work: Work, order: Ids, starts: Ids, labels: Labels) -> Boxes:
    """The boxes of groups that are runs of `order`."""
    attributes = [work.table[name] for name in work.quasi]
    axes = tuple(axis_of(attribute, work.policy.lines(attribute.name), labels) for attribute in attributes)
    positions = [axis.position[a.codes[order]] for axis, a in zip(axes, attributes, strict=True)]
    shape = (len(axes), starts.size - 1)
    low = np.array([np.minimum.reduceat(along, starts[:-1]) for along in positions]).reshape(shape)
    high = np.array([np.maximum.reduceat(along, starts[:-1]) for along in positions]).reshape(shape)
    return Boxes(axes, low, high, np.diff(starts))
