"""Special uniques: people whom few attributes single out, and which attributes these are (SUDA2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import Bools, Floats, Ids, combined, dense
from manyveils.utility.comparison import Comparison, Measures
from manyveils.utility.risk import known_columns, population_size

# So many labels of different rows are read at most, over all sets of attributes.
MOST_READ = 200_000_000
# What every set takes beside that.
OF_ITS_OWN = 2_000


@dataclass(frozen=True, repr=False)
class SpecialUniques:
    """The rows that are unique, and the least sets of attributes by which each is.

    `found[size - 1]` says how many minimal sets of a size each row has, `scores` weigh a set of size s of m attributes
    by (m - s)!, and `contributions` has of every attribute the scores of the sets it is in. Only sets of up to `most`
    attributes were looked at.
    """

    found: Ids
    scores: Floats
    contributions: Mapping[str, Floats]
    most: int

    @property
    def by_attribute(self) -> dict[str, float]:
        """The share of all scores that comes of sets with each attribute; they add up to more than 1."""
        total = max(float(self.scores.sum()), 1e-300)
        return {name: float(own.sum()) / total for name, own in self.contributions.items()}


def special_uniques_of(
    labels: Mapping[str, Ids], counts: Ids, missing: Mapping[str, Bools]
) -> SpecialUniques:
    """The minimal sample uniques of different rows, of which there are `counts` each.

    A missing value makes nobody unique.

    Claim: a set of attributes is counted for a row exactly if no other row has its values, and of no smaller set is that so.
    Why: who is unique by a set is so by every larger one, so that it is enough to ask the sets with one attribute less.
    Tested by: tests/claims/test_special_uniques.py
    """
    names = tuple(labels)
    m, n_rows = len(names), counts.size
    alone = np.flatnonzero(counts == 1)
    most = _most(m, n_rows) if alone.size else m
    found = np.zeros((max(most, 1), n_rows), dtype=np.int64)
    scores, contributions = np.zeros(n_rows), {name: np.zeros(n_rows) for name in names}
    below: dict[tuple[str, ...], Bools] = {}
    for size in range(1, most + 1) if alone.size else ():
        level: dict[tuple[str, ...], Bools] = {}
        weight = float(factorial(m - size))
        for some in combinations(names, size):
            unique = _unique([labels[name] for name in some], counts, alone)
            unique &= ~np.logical_or.reduce([missing[name][alone] for name in some])
            level[some] = unique
            smaller = [below[less] for less in combinations(some, size - 1)] if size > 1 else []
            minimal = alone[unique & ~np.logical_or.reduce([np.zeros_like(unique), *smaller])]
            found[size - 1, minimal] += 1
            scores[minimal] += weight
            for name in some:
                contributions[name][minimal] += weight
        below = level
    return SpecialUniques(found, scores, contributions, most)


def _most(m: int, n_rows: int) -> int:
    """How many attributes sets may have so that all of these can be looked at."""
    read = 0
    for size in range(1, m + 1):
        read += comb(m, size) * (size * n_rows + OF_ITS_OWN)
        if read > MOST_READ and size > 1:
            return size - 1
    return m


def _unique(columns: list[Ids], counts: Ids, alone: NDArray[np.intp]) -> Bools:
    """Which of some rows are the only ones with their values."""
    numbers = dense(combined(columns))
    people: Bools = np.bincount(numbers, weights=counts)[numbers[alone]] == 1
    return people


def dis_scores(scores: Floats, counts: Ids, fraction: float, n_attributes: int) -> Floats:
    """The chance of each row that a match with it is right, as DIS-SUDA has it, where a share of the population is sampled."""
    uniques, pairs = int((counts == 1).sum()), 2 * int((counts == 2).sum())
    known = uniques * fraction
    if not known:
        return np.zeros(scores.size)
    dis = known / (known + pairs * (1 - fraction))
    power = 1 + (8 - n_attributes) / 20
    is_special = scores > 0
    raised = np.where(is_special, scores, 1.0) ** power
    adjusted = raised * float((1 / raised[is_special]).sum())
    return np.where(is_special, 1 / (1 + (uniques / dis - uniques) / np.maximum(adjusted, 1e-300)), 0.0)


def special_uniques(comparison: Comparison) -> Measures:
    """How many people few attributes single out, and which: of the view in which they are most."""
    if comparison.table.persons is not None:
        return {}
    measured = list(_of_columns(comparison))
    if not measured:
        return {}
    worst = max(measured, key=lambda own: own.summary["people"])
    return {"special_uniques": worst.summary, "special_uniques_by_attribute": worst.by_attribute}


@dataclass(frozen=True)
class _Told:
    """What is told of one column."""

    summary: dict[str, float]
    by_attribute: dict[str, float]


def _of_columns(comparison: Comparison) -> Iterator[_Told]:
    n_population = population_size(comparison)
    for known in known_columns(comparison):
        counts = known.column.counts
        labels = {name: known.column.labels[name].astype(np.int64) for name in known.names}
        empty = {name: (known.column.texts[name] == "").to_numpy() for name in known.names}
        missing = {name: empty[name][labels[name]] for name in known.names}
        special = special_uniques_of(labels, counts, missing)
        told = {
            "people": float((special.scores > 0).sum() / counts.sum()),
            "highest_score": float(special.scores.max(initial=0)),
            "attributes_looked_at": float(special.most),
        }
        if n_population is not None and n_population >= int(counts.sum()):
            fraction = int(counts.sum()) / n_population
            chances = dis_scores(special.scores, counts, fraction, len(known.names))
            told["highest_chance"] = float(chances.max(initial=0))
        yield _Told(told, special.by_attribute)
