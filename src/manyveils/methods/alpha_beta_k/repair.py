"""From groups that may leak to groups that do not: by the hierarchy rule, and by merging where it cannot help."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.alpha_beta_k.boxes import boxes_of
from manyveils.methods.alpha_beta_k.losses import mean_loss
from manyveils.methods.alpha_beta_k.rule import Rule, rule_of
from manyveils.methods.generalize.cutting import Labels
from manyveils.methods.generalize.mondrian import Segments
from manyveils.methods.generalize.tables import label_groups
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.keeping import all_kept, count_for, watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release import Recoding
from manyveils.release.dealing import arranged


@dataclass(frozen=True, repr=False)
class Divided:
    """Rows in groups: group g is `order[starts[g]:starts[g + 1]]`, and rows of one group are in random order."""

    groups: Ids
    order: Ids
    starts: Ids


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


def divided(work: Work, groups: Ids) -> Divided:
    """The rows of each group next to each other."""
    order = arranged(shuffled_rows(work, "alpha-beta-k.order"), groups)
    return Divided(groups, order, np.append(0, np.cumsum(np.bincount(groups))))


def values_of(work: Work) -> NDArray[np.int32]:
    """The sensitive values of every row."""
    return np.stack(work.table.codes(work.sensitive))


def leaking(work: Work, division: Divided) -> NDArray[np.bool_]:
    """Which groups leak as they are."""
    values = values_of(work)
    return ~rule_of(work, raising=False).mend(values, values, division.order, division.starts)


def repaired(work: Work, division: Divided, labels_as: Labels, rule: Rule) -> Repaired | None:
    """Mend every group by the rule, if labels may be raised, and merge what is left with its nearest neighbours.

    Merged groups start from their values again, so that nothing stays raised that need not be.
    Nothing is returned if even one group of all rows leaks.

    Claim: the groups keep every promise.
    Why: a group is left alone only after the rule found no leak in it; merging takes no value away, so k and
    diversity stay; promises that merging can break are asked again at the end.
    Tested by: tests/claims/test_alpha_beta_k.py
    """
    originals = values_of(work)
    labels = originals.copy()
    boxes = boxes_of(work, division.order, division.starts, labels_as)
    became = np.arange(division.starts.size - 1)
    bad = _mended(rule, labels, originals, division, became, became)
    n_bad, mergers = bad.size, 0
    while True:
        if not bad.size:
            bad = _fragile(work, became[division.groups])
            if not bad.size:
                break
        left = distinct(became)
        if left.size == 1:
            return None
        into, gone = _pairs(bad, boxes.nearest(bad, left))
        boxes.merge(into, gone)
        step = np.arange(became.size)
        step[gone] = into
        became, mergers = step[became], mergers + into.size
        still = _mended(rule, labels, originals, division, became, into)
        bad = np.append(still, np.setdiff1d(bad, np.append(into, gone)))
        work.progress("repairing groups", 1 - bad.size / max(n_bad, bad.size, 1))
    _, groups = np.unique(became[division.groups], return_inverse=True)
    recodings = label_groups(work, groups, labels_as) | rule.recodings(labels)
    lost = (_lost(work, names, recodings) for names in (work.quasi, work.sensitive))
    return Repaired(groups, labels, rule, mergers, recodings, *lost)


def _mended(
    rule: Rule,
    labels: NDArray[np.int32],
    originals: NDArray[np.int32],
    division: Divided,
    became: Ids,
    which: Ids,
) -> Ids:
    """Apply the rule to some groups from their values on; returns those it cannot mend, as they were."""
    parts = np.flatnonzero(np.isin(became, which))
    parts = parts[np.argsort(became[parts], kind="stable")]
    rows = Segments(division.order, division.starts[parts], division.starts[parts + 1]).listed()
    groups, sizes = np.unique(became[division.groups[rows]], return_counts=True)
    starts = np.append(0, np.cumsum(sizes))
    labels[:, rows] = originals[:, rows]
    fine = rule.mend(labels, originals, rows, starts)
    back = rows[np.repeat(~fine, sizes)]
    labels[:, back] = originals[:, back]
    return groups[~fine]


def _pairs(bad: Ids, nearest: Ids) -> tuple[Ids, Ids]:
    """Of the mergers that are proposed, those in which no group takes part twice; the others wait."""
    turn = np.arange(bad.size)
    first = np.full(max(int(bad.max()), int(nearest.max())) + 1, bad.size)
    np.minimum.at(first, bad, turn)
    np.minimum.at(first, nearest, turn)
    agreed = (first[bad] == turn) & (first[nearest] == turn)
    return nearest[agreed], bad[agreed]


def _fragile(work: Work, groups: Ids) -> Ids:
    """Groups that break a promise which two groups can keep and their union not."""
    promises = tuple(promise for promise in work.promises if not promise.merging_keeps)
    if not promises:
        return np.zeros(0, dtype=np.int64)
    numbers, dense = np.unique(groups, return_inverse=True)
    watches = watch(promises, work.table, work.sensitive)
    fine = all_kept(watches, count_for(watches, dense, numbers.size), np.bincount(dense))
    return numbers[~fine]


def _lost(work: Work, names: tuple[str, ...], recodings: Mapping[str, Recoding]) -> float:
    """The mean loss of a cell of some columns."""
    losses = [mean_loss(work.table[name], work.policy.lines(name), recodings.get(name)) for name in names]
    return fmean(losses) if losses else 0.0
