"""From groups that may leak to groups that do not: by the hierarchy rule, and by merging where it cannot help."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.alpha_beta_k.boxes import Boxes, boxes_of
from manyveils.methods.alpha_beta_k.rule import Rule, rule_of
from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.labels import alike, label_groups
from manyveils.methods.generalize.mondrian import Segments
from manyveils.policy.guarantees import Elimination
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release import Recoding
from manyveils.release.dealing import arranged

UNKNOWN = -1


@dataclass(frozen=True, repr=False)
class Division:
    """Rows in groups: group g is `order[starts[g]:starts[g + 1]]`, and rows of one group are in random order.

    `turns` are the places of rows in that random order, and `originals` the sensitive values of every row.
    """

    groups: Ids
    order: Ids
    turns: Ids
    starts: Ids
    originals: NDArray[np.int32]


@dataclass(frozen=True, repr=False)
class Repaired:
    """Groups that leak nothing, the sensitive labels of every row, how both are published, and what that took.

    `lost_quasi` and `lost_sensitive` are QI.DisR and SA.DisR: the mean losses of a cell of either kind.
    """

    groups: Ids
    labels: NDArray[np.int32]
    rule: Rule
    mergers: int
    recodings: Mapping[str, Recoding]
    lost_quasi: float
    lost_sensitive: float

    @property
    def lost(self) -> float:
        """The total distortion, T.DisR."""
        return self.lost_quasi + self.lost_sensitive


def division_of(work: Work, groups: Ids) -> Division:
    """The rows of each group next to each other."""
    shuffled = shuffled_rows(work, "alpha-beta-k.order")
    order = arranged(shuffled, groups)
    starts = np.append(0, np.cumsum(np.bincount(groups)))
    # The values of one row stand together, as groups are looked at row by row.
    originals = np.stack(work.table.codes(work.sensitive), axis=1).T
    return Division(groups, order, np.argsort(shuffled), starts, originals)


@dataclass(frozen=True, repr=False)
class Start:
    """What every way of repairing starts from: the boxes of the groups, those that leak, and the nearest of each of these.

    `nearest` is -1 for the other groups.
    """

    boxes: Boxes
    leaking: Ids
    nearest: Ids

    def nearest_of(self, which: Ids) -> Ids | None:
        """The nearest of some groups while none has been merged; None where one of them did not leak."""
        nearest = self.nearest[which]
        return nearest if (nearest != UNKNOWN).all() else None


def start_of(work: Work, division: Division, labels_as: Labels, leaks: NDArray[np.bool_]) -> Start:
    """Lay out the groups, and find the neighbours of those that leak."""
    boxes = boxes_of(work, division.order, division.starts, labels_as)
    nearest, which = np.full(leaks.size, UNKNOWN), np.flatnonzero(leaks)
    if which.size and leaks.size > 1:
        nearest[which] = boxes.nearest(which, np.arange(leaks.size))
    return Start(boxes, which, nearest)


def leaking(work: Work, division: Division) -> NDArray[np.bool_]:
    """Which groups leak as they are."""
    if work.table.persons is not None:
        return _leaking_persons(work, division.groups, division.starts.size - 1)
    originals = division.originals
    return ~rule_of(work, raising=False).mend(originals, originals, division.order, division.starts)


def _leaking_persons(work: Work, groups: Ids, n_groups: int) -> NDArray[np.bool_]:
    """Which groups leak, where somebody has several rows: rows of a negative group are nowhere."""
    promises = tuple(promise for promise in work.promises if isinstance(promise.guarantee, Elimination))
    watches = watch(promises, work.table, work.sensitive)
    return ~kept_by_groups(watches, groups, n_groups)


def repaired(work: Work, division: Division, labels_as: Labels, rule: Rule, start: Start) -> Repaired | None:
    """Mend every group by the rule, if labels may be raised, and merge what is left with its nearest neighbours.

    Merged groups start from their values again, so that nothing stays raised that need not be.
    Nothing is returned if even one group of all rows leaks. Where somebody has several rows nothing may be raised: a
    person whose value becomes a label may be the only one who could stand for it.

    Claim: the groups keep every promise.
    Why: a group is left alone only after the rule found no leak in it; merging takes no value away, so k and
    diversity stay; promises that merging can break are asked again at the end.
    Tested by: tests/claims/test_alpha_beta_k.py
    """
    labels = division.originals.copy(order="F")
    boxes = start.boxes.copied()
    merged_into = np.arange(division.starts.size - 1)
    # The rule changes nothing in a group that does not leak.
    bad = _mended(work, rule, labels, division, merged_into, start.leaking)
    n_bad, mergers = bad.size, 0
    while True:
        if not bad.size:
            bad = _fragile(work, merged_into[division.groups], labels_as)
            if not bad.size:
                break
        left = distinct(merged_into)
        if left.size == 1:
            return None
        nearest = None if mergers else start.nearest_of(bad)
        into, gone = _pairs(bad, boxes.nearest(bad, left) if nearest is None else nearest)
        boxes.merge(into, gone)
        step = np.arange(merged_into.size)
        step[gone] = into
        merged_into, mergers = step[merged_into], mergers + into.size
        still_bad = _mended(work, rule, labels, division, merged_into, into)
        bad = np.append(still_bad, np.setdiff1d(bad, np.append(into, gone)))
        work.progress("repairing groups", 1 - bad.size / max(n_bad, bad.size, 1))
    _, groups = np.unique(merged_into[division.groups], return_inverse=True)
    recodings = label_groups(work, groups, labels_as, work.quasi)
    of_quasi = [
        axis.mean_loss(work.table[name].codes, recodings.get(name))
        for axis, name in zip(boxes.axes, work.quasi, strict=True)
    ]
    of_sensitive = [ladder.loss(shown) for ladder, shown in zip(rule.ladders, labels, strict=True)]
    recodings |= rule.recodings(labels)
    lost = (fmean(losses) if losses else 0.0 for losses in (of_quasi, of_sensitive))
    return Repaired(groups, labels, rule, mergers, recodings, *lost)


def _mended(
    work: Work, rule: Rule, labels: NDArray[np.int32], division: Division, merged_into: Ids, which: Ids
) -> Ids:
    """Apply the rule to some groups from their values on; returns those it cannot mend, as they were."""
    if work.table.persons is not None:
        place_of = np.full(merged_into.size, -1)
        place_of[which] = np.arange(which.size)
        leaks = _leaking_persons(work, place_of[merged_into[division.groups]], which.size)
        return which[leaks]
    pieces = np.flatnonzero(np.isin(merged_into, which))
    pieces = pieces[np.argsort(merged_into[pieces], kind="stable")]
    rows = Segments(division.order, division.starts[pieces], division.starts[pieces + 1]).listed()
    # The pieces of a merged group one after another would raise the rows of one piece only.
    rows = rows[np.lexsort((division.turns[rows], merged_into[division.groups[rows]]))]
    groups, sizes = np.unique(merged_into[division.groups[rows]], return_counts=True)
    labels[:, rows] = division.originals[:, rows]
    is_mended = rule.mend(labels, division.originals, rows, np.append(0, np.cumsum(sizes)))
    back = rows[np.repeat(~is_mended, sizes)]
    labels[:, back] = division.originals[:, back]
    return groups[~is_mended]


def _pairs(bad: Ids, nearest: Ids) -> tuple[Ids, Ids]:
    """Of the mergers that are proposed, those in which no group takes part twice; the rest wait."""
    turn = np.arange(bad.size)
    first = np.full(max(int(bad.max()), int(nearest.max())) + 1, bad.size)
    np.minimum.at(first, bad, turn)
    np.minimum.at(first, nearest, turn)
    is_free = (first[bad] == turn) & (first[nearest] == turn)
    return nearest[is_free], bad[is_free]


def _fragile(work: Work, groups: Ids, labels: Labels) -> Ids:
    """Groups that break a promise which a union can break though all groups in it keep it.

    Where somebody has several rows, groups that read alike are one.
    """
    watches = watch(work.promises, work.table, work.sensitive)
    # What may leak was judged by the rule, on what is published.
    fragile = tuple(
        watched
        for watched in watches
        if not (watched.merging_keeps or isinstance(watched.promise.guarantee, Elimination))
    )
    if not fragile:
        return np.zeros(0, dtype=np.int64)
    numbers, dense = np.unique(groups, return_inverse=True)
    if work.table.persons is None:
        return numbers[~kept_by_groups(fragile, dense, numbers.size)]
    one_of = alike(work, dense, labels)
    return numbers[~kept_by_groups(fragile, one_of[dense], int(one_of.max()) + 1)[one_of]]
