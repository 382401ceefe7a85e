"""Which columns follow from which, and how likely that is an accident."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.profiling.uniqueness import Names, joined
from manyveils.table import Attribute, Table
from manyveils.table.dependencies import find_dependencies

# Pairs on the left are looked for among so many columns at most.
FEW_COLUMNS = 16
# Unrelated columns would show the dependency in less than one table in a billion.
UNLIKELY = math.log(1e9)


@dataclass(frozen=True)
class FoundDependency:
    """Equal values on the left always go with equal values on the right; `repeated` left sides show it."""

    left: Names
    right: str
    repeated: int
    is_solid: bool


Found = Sequence[FoundDependency]


def dependencies_of(attributes: Sequence[Attribute], n_rows: int) -> tuple[FoundDependency, ...]:
    """The exact dependencies between columns, with one on the left, or two where columns are few."""
    table = Table({attribute.name: attribute for attribute in attributes}, n_rows)
    most = 2 if len(attributes) <= FEW_COLUMNS else 1
    pairs = find_dependencies(table, tuple(table.attributes), most=most).found
    return tuple(_weighed(left, right, table) for left, right in pairs)


def _weighed(left: Names, right: str, table: Table) -> FoundDependency:
    counts = np.bincount(joined([table[name].codes.astype(np.int64) for name in left]))
    shares = table[right].counts / table.n_rows
    # Each row beyond the first of its left side would have to meet its right side by chance.
    surprise = (table.n_rows - counts.size) * -math.log(min(float((shares**2).sum()), 1.0))
    return FoundDependency(left, right, int((counts > 1).sum()), surprise > UNLIKELY)


def solid_pairs(dependencies: Found) -> list[tuple[str, str]]:
    """Single columns and what follows from them, beyond accident."""
    return [
        (dependency.left[0], dependency.right)
        for dependency in dependencies
        if dependency.is_solid and len(dependency.left) == 1
    ]
