"""The test kit: oracles that say in plain Python what every guarantee means; imported by nothing shipped."""

from typing import Any

import numpy as np

from manyveils.policy import Policy
from manyveils.release import Draft, Release, seal
from manyveils.table import Table, hold
from tests.kit.oracles import Verdict, holds, verdict

__all__ = ["Verdict", "holds", "sealed", "verdict"]


def sealed(
    data: object, policy: Policy, *drafts: Draft, columns: Any = None, buckets: Any = None
) -> tuple[Release, Table]:
    """Publish hand-made drafts, or all rows as one view of the given columns and buckets, whatever that breaks."""
    table, restore = hold(data, policy)
    if not drafts:
        rows = np.arange(table.n_rows, dtype=np.intp)
        grouped = None if buckets is None else np.asarray(buckets, dtype=np.int64)
        drafts = (Draft("main", tuple(tuple(column) for column in columns), rows, grouped),)
    return seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(7)), table
