"""How far rows stand out by combinations of columns: alone, in pairs and threes, and one column after another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.table import Attribute

Ids = NDArray[np.int64]
Names = tuple[str, ...]

SAMPLE = 20_000
# Pairs and threes are looked at among so many columns, those that single out most by themselves.
LOOKED_AT = 20
SHOWN = 5


@dataclass(frozen=True)
class Combination:
    """Columns that someone may know together, and the share of rows that are then the only one of their kind."""

    names: Names
    alone: float


@dataclass(frozen=True)
class Uniqueness:
    """How rows stand out; all shares are of the `n_rows` rows looked at, a sample if there are more.

    `without` is the share that stands alone by all columns but one.
    """

    n_rows: int
    is_sample: bool
    pairs: tuple[Combination, ...] = ()
    threes: tuple[Combination, ...] = ()
    growing: tuple[Combination, ...] = ()
    without: Mapping[str, float] = field(default_factory=dict)

    @property
    def together(self) -> float:
        """The share of rows that stand alone by all columns."""
        return self.growing[-1].alone if self.growing else 0.0


def uniqueness_of(columns: Sequence[Attribute], n_rows: int) -> Uniqueness:
    """Measure how rows stand out by the columns, on a sample that is the same for the same number of rows."""
    rows = _sample(n_rows)
    codes = {column.name: column.codes[rows].astype(np.int64) for column in columns}
    growing = _growing(codes)
    pairs, threes = _small(codes)
    return Uniqueness(rows.size, rows.size < n_rows, pairs, threes, growing, _without(codes))


def _sample(n_rows: int) -> NDArray[np.intp]:
    if n_rows <= SAMPLE:
        return np.arange(n_rows)
    return np.random.Generator(np.random.PCG64(0)).permutation(n_rows)[:SAMPLE]


def share_alone(columns: Sequence[Ids]) -> float:
    """The share of rows that no other row equals in all columns.

    >>> share_alone([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])])
    0.5
    """
    return _alone(joined(columns))


def joined(columns: Sequence[Ids]) -> Ids:
    """One number per combination of values, from 0 without gaps."""
    ids = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        ids = _narrow(ids * (int(codes.max(initial=0)) + 1) + codes)
    return ids


def _narrow(ids: Ids) -> Ids:
    """The same groups with numbers below the number of rows, so that products stay small."""
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _alone(ids: Ids) -> float:
    return float((np.bincount(ids) == 1).sum()) / ids.size if ids.size else 0.0


def _growing(codes: Mapping[str, Ids]) -> tuple[Combination, ...]:
    """Each time the column that parts most rows from each other, until none parts any more."""
    left, chosen = dict(codes), list[Combination]()
    n_rows = len(next(iter(codes.values()))) if codes else 0
    ids = np.zeros(n_rows, dtype=np.int64)
    while left:
        finer = {name: joined((ids, column)) for name, column in left.items()}
        parts = {name: int(each.max(initial=-1)) + 1 for name, each in finer.items()}
        best = max(parts, key=lambda name: parts[name])
        if parts[best] == int(ids.max(initial=-1)) + 1:
            break
        ids = finer[best]
        del left[best]
        names = (*(chosen[-1].names if chosen else ()), best)
        chosen.append(Combination(names, _alone(ids)))
    return tuple(chosen)


def _without(codes: Mapping[str, Ids]) -> Mapping[str, float]:
    if len(codes) < 2:
        return {}
    return {name: share_alone([column for other, column in codes.items() if other != name]) for name in codes}


def _small(codes: Mapping[str, Ids]) -> tuple[tuple[Combination, ...], tuple[Combination, ...]]:
    """The pairs by which most rows stand alone, and of the threes that hold such a pair the same."""
    varied = sorted(codes, key=lambda name: -int(codes[name].max(initial=0)))[:LOOKED_AT]
    pairs = _first(Combination(pair, share_alone([codes[name] for name in pair])) for pair in _pairs(varied))
    wider = {
        tuple(sorted((*pair.names, name))) for pair in pairs for name in varied if name not in pair.names
    }
    threes = _first(
        Combination(three, share_alone([codes[name] for name in three])) for three in sorted(wider)
    )
    return pairs, threes


def _pairs(names: Sequence[str]) -> list[Names]:
    return list(combinations(names, 2))


def _first(found: Iterable[Combination]) -> tuple[Combination, ...]:
    each = sorted(found, key=lambda combination: (-combination.alone, combination.names))
    return tuple(each[:SHOWN])
