"""How far rows stand out by combinations of columns, and which columns follow from which."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.table import Attribute, Table
from manyveils.table.dependencies import find_dependencies

Ids = NDArray[np.int64]
Names = tuple[str, ...]

SAMPLE = 20_000
# Pairs and threes are looked at among so many columns, those with the most values.
LOOKED_AT = 20
SHOWN = 5
# Pairs on the left are looked for among so many columns at most.
FEW_COLUMNS = 16
# Unrelated columns would show the dependency in less than one table in a billion.
UNLIKELY = math.log(1e9)


@dataclass(frozen=True)
class Combination:
    """Columns that someone may know together, and the share of rows that are unique in them."""

    names: Names
    alone: float


@dataclass(frozen=True)
class Uniqueness:
    """How rows stand out; all shares are of the `n_rows` rows looked at, a sample if there are more.

    `without` is the share of rows that are unique by all columns but one.
    """

    n_rows: int
    is_sample: bool
    pairs: tuple[Combination, ...] = ()
    threes: tuple[Combination, ...] = ()
    growing: tuple[Combination, ...] = ()
    without: Mapping[str, float] = field(default_factory=dict)

    @property
    def together(self) -> float:
        """The share of rows that are unique by all columns."""
        return self.growing[-1].alone if self.growing else 0.0


def uniqueness_of(attributes: Sequence[Attribute], n_rows: int) -> Uniqueness:
    """Measure how rows stand out, on a sample that is the same for the same number of rows."""
    rows = np.arange(n_rows)
    if n_rows > SAMPLE:
        rows = np.random.Generator(np.random.PCG64(0)).permutation(n_rows)[:SAMPLE]
    codes = {attribute.name: attribute.codes[rows].astype(np.int64) for attribute in attributes}
    pairs, threes = _pairs_and_threes(codes)
    return Uniqueness(rows.size, rows.size < n_rows, pairs, threes, _growing(codes), _without(codes))


def share_alone(columns: Sequence[Ids]) -> float:
    """The share of rows that no other row equals in all columns.

    >>> share_alone([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])])
    0.5
    """
    ids = joined(columns)
    return float((np.bincount(ids) == 1).sum()) / ids.size if ids.size else 0.0


def joined(columns: Sequence[Ids]) -> Ids:
    """One number per combination of values, from 0 without gaps."""
    ids = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        # Numbers stay below the number of rows, so that products stay small.
        numbers = ids * (int(codes.max(initial=0)) + 1) + codes
        ids = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    return ids


def _growing(codes: Mapping[str, Ids]) -> tuple[Combination, ...]:
    """Each time the column that splits the groups of rows into the most, until none splits any."""
    left, chosen = dict(codes), list[Combination]()
    ids = np.zeros(len(next(iter(codes.values()), ())), dtype=np.int64)
    while left:
        finer = {name: joined((ids, column)) for name, column in left.items()}
        best = max(finer, key=lambda name: _n_groups(finer[name]))
        if _n_groups(finer[best]) == _n_groups(ids):
            break
        ids = finer[best]
        del left[best]
        names = (*(chosen[-1].names if chosen else ()), best)
        chosen.append(Combination(names, share_alone([ids])))
    return tuple(chosen)


def _n_groups(ids: Ids) -> int:
    return int(ids.max(initial=-1)) + 1


def _without(codes: Mapping[str, Ids]) -> Mapping[str, float]:
    if len(codes) < 2:
        return {}
    return {left_out: share_alone([codes[name] for name in codes if name != left_out]) for left_out in codes}


def _pairs_and_threes(
    codes: Mapping[str, Ids],
) -> tuple[tuple[Combination, ...], tuple[Combination, ...]]:
    """The pairs by which most rows are unique, and of the threes that hold such a pair the same."""
    varied = sorted(codes, key=lambda name: -int(codes[name].max(initial=0)))[:LOOKED_AT]
    pairs = _most_telling(codes, combinations(varied, 2))
    threes = {
        tuple(sorted((*pair.names, name))) for pair in pairs for name in varied if name not in pair.names
    }
    return pairs, _most_telling(codes, threes)


def _most_telling(codes: Mapping[str, Ids], sets: Iterable[Names]) -> tuple[Combination, ...]:
    telling = [Combination(names, share_alone([codes[name] for name in names])) for names in sets]
    return tuple(sorted(telling, key=lambda measured: (-measured.alone, measured.names))[:SHOWN])


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
