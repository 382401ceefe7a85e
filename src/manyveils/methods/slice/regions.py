"""Column generalization: the known attributes of a column in regions that are large and varied enough."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from manyveils.methods.generalize.cutting import cutting_of, style_of
from manyveils.methods.generalize.labels import recoding_of_groups
from manyveils.methods.generalize.mondrian import partition
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Ids, dense
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import Watch, all_kept, count_for, watch
from manyveils.promises.work import Work
from manyveils.release import Recoding


@dataclass(frozen=True)
class Region:
    """The known attributes of one column as one number per row, and how their values are published."""

    column: tuple[str, ...]
    of_row: Ids
    n_regions: int
    recodings: Mapping[str, Recoding]


def regions_of(work: Work, column: tuple[str, ...], order: Ids, *, column_k: int) -> Region:
    """The values of a column as they are, if each occurs often enough and keeps the promises; otherwise regions that do."""
    known = tuple(name for name in column if name in work.quasi)
    values, n_values = dense(work.table.codes(known), work.table.sizes(known), work.table.n_rows)
    watches = _watches(work, column, column_k)
    if bool(
        all_kept(watches, count_for(watches, values, n_values), np.bincount(values, minlength=n_values)).all()
    ):
        return Region(column, values, n_values, {})
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    columns = tuple(work.table[name] for name in known)
    cutting = cutting_of(
        columns, tuple(len(work.policy.lines(c.name) or ()) or c.n_values for c in columns), "ranges"
    )
    groups = partition(
        cutting, order, watches, relaxed=False, progress=lambda share: work.progress("generalizing", share)
    )
    n_groups = int(groups.max()) + 1
    recodings = {}
    for each in columns:
        recoding = recoding_of_groups(each, groups, n_groups, style_of(each, "ranges"))
        if recoding is not None:
            recodings[each.name] = recoding
    return Region(column, groups, n_groups, recodings)


def _watches(work: Work, column: tuple[str, ...], column_k: int) -> tuple[Watch, ...]:
    """What a value of a column must keep in the whole table: its number of rows, and the promises of its column."""
    large = (Promise(KAnonymity(column_k), work.quasi),) if column_k > 1 else ()
    rows = (
        tuple(promise for promise in work.promises if not promise.protects) if is_judged(work, column) else ()
    )
    together = tuple(name for name in column if name in work.sensitive)
    return watch((*large, *rows, *promises_in(work, column)), work.table, together)


def is_judged(work: Work, column: tuple[str, ...]) -> bool:
    """Whether promises are judged from a column: it has a sensitive attribute, or no column has."""
    return not work.sensitive or bool(set(column) & set(work.sensitive))


def promises_in(work: Work, column: tuple[str, ...]) -> tuple[Promise, ...]:
    """The promises about what stands in a column."""
    return tuple(
        promise for promise in work.promises if promise.protects and set(promise.protects) <= set(column)
    )
