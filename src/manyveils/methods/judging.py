"""Which groups of persons keep every promise of their own."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.mondrian import Judged
from manyveils.promises.entries import Ids
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import Watch
from manyveils.table import Table

Bools = NDArray[np.bool_]
Watched = Callable[[Table], tuple[Watch, ...]]


def judge_of(watched: Watched, table: Table) -> Judged:
    """What says which groups of persons keep every promise of their own; whoever has none is in no group.

    Where nobody has several rows, rows are counted, which is quicker.
    """
    persons = table.persons
    assert persons is not None
    if table.n_persons < table.n_rows:
        watches = watched(table)
        return lambda groups, n_groups: kept_by_groups(watches, groups[persons], n_groups)
    return partial(_judged_by_rows, watched(replace(table, persons=None)), persons)


def _judged_by_rows(watches: tuple[Watch, ...], persons: Ids, groups: Ids, n_groups: int) -> Bools:
    # Rows without a group are counted in one of their own, which is not judged.
    owners = np.where(groups < 0, n_groups, groups)[persons]
    return kept_by_groups(watches, owners, n_groups + 1)[:n_groups]
