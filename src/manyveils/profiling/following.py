"""Which columns follow from which, and how likely that is an accident."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.profiling.uniqueness import joined
from manyveils.table import Attribute, Table
from manyveils.table.dependencies import find_dependencies

Names = tuple[str, ...]

# Pairs on the left are looked for among so many columns at most.
FEW_COLUMNS = 16
# Columns that had nothing to do with each other would show the dependency less than once in a billion tables.
UNLIKELY = math.log(1e9)


@dataclass(frozen=True)
class Following:
    """Equal values on the left always go with equal values on the right; `repeated` left sides show it."""

    left: Names
    right: str
    repeated: int
    is_solid: bool


def following_of(columns: Sequence[Attribute], n_rows: int) -> tuple[Following, ...]:
    """The exact dependencies between columns, with one on the left, or two where columns are few."""
    held = {column.name: column for column in columns}
    table = Table(held, n_rows)
    found = find_dependencies(table, tuple(held), most=2 if len(held) <= FEW_COLUMNS else 1)
    return tuple(_weighed(left, right, held, n_rows) for left, right in found.found)


def _weighed(left: Names, right: str, held: Mapping[str, Attribute], n_rows: int) -> Following:
    counts = np.bincount(joined([held[name].codes.astype(np.int64) for name in left]))
    shares = held[right].counts / n_rows
    # Each row beyond the first of its left side would have to meet its right side by chance.
    surprise = (n_rows - counts.size) * -math.log(min(float((shares**2).sum()), 1.0))
    return Following(left, right, int((counts > 1).sum()), surprise > UNLIKELY)


def deciders(found: Sequence[Following], right: str) -> tuple[str, ...]:
    """The single columns from which another follows, beyond accident."""
    return tuple(
        each.left[0] for each in found if each.right == right and len(each.left) == 1 and each.is_solid
    )
