"""What may not meet in a bucket: the values of each sensitive attribute, or their labels where promises count labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyveils.policy.guarantees import FrequencyDiversity
from manyveils.promises.entries import Ids, dense
from manyveils.promises.work import Work
from manyveils.table import Attribute, Table


def level_of(work: Work, name: str) -> int:
    """The coarsest level that a promise counts of an attribute: where labels differ there, values and finer labels do."""
    levels = [promise.guarantee.level for promise in work.promises if name in promise.protects]
    return min(max(levels, default=0), work.table[name].levels.highest)


def protected(work: Work, name: str) -> tuple[Attribute, NDArray[np.bool_]]:
    """What may not meet of an attribute, as the code of each row, and which of those codes are protected."""
    attribute = work.table[name]
    flags = np.zeros(attribute.n_values, dtype=bool)
    for promise in work.promises:
        if name in promise.protects:
            flags |= np.array([text not in promise.insensitive for text in attribute.texts])
    level = level_of(work, name)
    return attribute.at_level(level), attribute.labels_of(flags, level)


def numbered_by_kind(work: Work, table: Table, names: Sequence[str]) -> tuple[Ids, int]:
    """The number of each row's combination of values, as `numbered`, but with those of one label next to each other."""
    levels = {name: level_of(work, name) for name in names}
    labels = [table[name].at_level(level) for name, level in levels.items() if level]
    columns = [*labels, *(table[name] for name in names)]
    codes, sizes = zip(*((column.codes, column.n_values) for column in columns), strict=True)
    return dense(tuple(codes), tuple(sizes), table.n_rows)


def shares_owed(work: Work, name: str) -> Ids:
    """For what may not meet of an attribute, how many times it must fit into what is published."""
    labels, _ = protected(work, name)
    owed = np.ones(labels.n_values, dtype=np.int64)
    for promise in work.promises:
        guarantee = promise.guarantee
        if isinstance(guarantee, FrequencyDiversity) and guarantee.level == level_of(work, name):
            owed = np.maximum(owed, [guarantee.l_for(text) for text in labels.texts])
        else:
            owed = np.maximum(owed, guarantee.variety)
    return owed


def shared_out(gone: Ids, kind_of: Ids, counts: Ids) -> Ids:
    """How many rows go of each combination, if so many go of each kind: in proportion to how many it has.

    >>> shared_out(np.array([3, 0]), np.array([0, 0, 1]), np.array([4, 2, 5]))
    array([2, 1, 0])
    """
    order = np.argsort(kind_of, kind="stable")
    ends = np.cumsum(counts[order])
    totals = np.bincount(kind_of, weights=counts).astype(np.int64)[kind_of[order]]
    before = ends - counts[order]
    starts = before[np.searchsorted(kind_of[order], kind_of[order])]
    due = gone[kind_of[order]]
    shares = (ends - starts) * due // np.maximum(totals, 1) - (before - starts) * due // np.maximum(totals, 1)
    shared = np.empty_like(counts)
    shared[order] = shares
    return shared
