"""Cut a whole table into groups top-down, and give each group its labels."""

import numpy as np

from manyveils.methods.generalize.cutting import Labels, cutting_of, style_of
from manyveils.methods.generalize.labels import recoding_of_groups
from manyveils.methods.generalize.mondrian import partition
from manyveils.promises.entries import Ids, dense
from manyveils.promises.keeping import Watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.release import Recoding


def cut_table(work: Work, watches: tuple[Watch, ...], *, labels: Labels, relaxed: bool) -> Ids:
    """The group of every row, by Mondrian; the whole table must keep the promises."""
    columns = tuple(work.table[name] for name in work.quasi)
    leaves = tuple(len(work.policy.lines(name) or ()) or work.table[name].n_values for name in work.quasi)
    return partition(
        cutting_of(columns, leaves, labels),
        _near_order(work),
        watches,
        relaxed=relaxed,
        progress=lambda share: work.progress("cutting", share),
    )


def label_groups(work: Work, groups: Ids, labels: Labels) -> dict[str, Recoding]:
    """The recodings that give every group of rows its own ranges, sets or labels."""
    n_groups = int(groups.max(initial=-1)) + 1
    recodings: dict[str, Recoding] = {}
    for name in work.quasi:
        column = work.table[name]
        recoding = recoding_of_groups(column, groups, n_groups, style_of(column, labels))
        if recoding is not None:
            recodings[name] = recoding
    return recodings


def _near_order(work: Work) -> Ids:
    """All rows with like quasi-identifiers next to each other, and equal ones shuffled.

    Where a cut must part equal values, the rows that stay behind are then alike in other attributes too.
    """
    shuffled = shuffled_rows(work, "mondrian.order")
    keys, _ = dense(work.table.codes(work.quasi), work.table.sizes(work.quasi), work.table.n_rows)
    near: Ids = shuffled[np.argsort(keys[shuffled], kind="stable")]
    return near
