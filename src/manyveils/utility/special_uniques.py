"""Special uniques: people whom few attributes single out, and which attributes these are (SUDA2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import PublishedColumn
from manyveils.reading.keys import Bools, Floats, Ids, combined, dense, example, numbered
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


@dataclass(frozen=True, repr=False)
class Keys:
    """Different rows of what is known: labels, where a cell is missing, how many persons are alike in all, and whose it is.

    Where every row is a person of its own, equal rows are one here, and whose it is only says that it is another's.
    """

    labels: Mapping[str, Ids]
    missing: Mapping[str, Bools]
    counts: Ids
    persons: Ids
    # The persons of every group, and in all.
    sizes: Ids
    n_persons: int


def special_uniques_of(keys: Keys) -> SpecialUniques:
    """The minimal sample uniques of different rows.

    A missing value makes nobody unique.

    Claim: a set of attributes is counted for a row exactly if no row of another person has its values, and of no smaller
    set is that so.
    Why: who is unique by a set is so by every larger one, so that it is enough to ask the sets with one attribute less.
    Tested by: tests/claims/test_special_uniques.py
    """
    labels, names = keys.labels, tuple(keys.labels)
    m, n_rows = len(names), keys.counts.size
    alone = np.flatnonzero(keys.counts == 1)
    most = _most(m, n_rows) if alone.size else m
    found = np.zeros((max(most, 1), n_rows), dtype=np.int64)
    scores, contributions = np.zeros(n_rows), {name: np.zeros(n_rows) for name in names}
    below: dict[tuple[str, ...], Bools] = {}
    for size in range(1, most + 1) if alone.size else ():
        level: dict[tuple[str, ...], Bools] = {}
        weight = float(factorial(m - size))
        for some in combinations(names, size):
            unique = _unique([labels[name] for name in some], keys, alone)
            unique &= ~np.logical_or.reduce([keys.missing[name][alone] for name in some])
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


def _unique(columns: list[Ids], keys: Keys, alone: NDArray[np.intp]) -> Bools:
    """Which of some rows have values that only rows of the same person have."""
    numbers = dense(combined(columns))
    whose = keys.persons[example(numbers)]
    is_shared = (keys.persons != whose[numbers]) | (keys.counts > 1)
    unique: Bools = np.bincount(numbers, weights=is_shared)[numbers[alone]] == 0
    return unique


def dis_scores(scores: Floats, sizes: Ids, fraction: float, n_attributes: int) -> Floats:
    """The chance of each row that a match with it is right, as DIS-SUDA has it, where a share of the population is sampled."""
    uniques, pairs = int((sizes == 1).sum()), 2 * int((sizes == 2).sum())
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
    measured = [_told(comparison, keys) for keys in _keys(comparison)]
    if not measured:
        return {}
    worst = max(measured, key=lambda own: own.summary["people"])
    return {"special_uniques": worst.summary, "special_uniques_by_attribute": worst.by_attribute}


@dataclass(frozen=True)
class _Told:
    """What is told of one column."""

    summary: dict[str, float]
    by_attribute: dict[str, float]


def _told(comparison: Comparison, keys: Keys) -> _Told:
    special, n_population = special_uniques_of(keys), population_size(comparison)
    summary = {
        "people": np.unique(keys.persons[special.scores > 0]).size / keys.n_persons,
        "highest_score": float(special.scores.max(initial=0)),
        "attributes_looked_at": float(special.most),
    }
    if n_population is not None and n_population >= keys.n_persons:
        fraction = keys.n_persons / n_population
        chances = dis_scores(special.scores, keys.sizes, fraction, len(keys.labels))
        summary["highest_chance"] = float(chances.max(initial=0))
    return _Told(summary, special.by_attribute)


def _keys(comparison: Comparison) -> Iterator[Keys]:
    """What is known in every column of views without buckets, as far as it is told whose the rows are."""
    for known in known_columns(comparison):
        column, names = known.column, known.names
        if comparison.table.persons is None:
            counts, rows = column.counts, np.arange(column.counts.size)
            yield _keyed(column, names, rows, counts, rows, counts, int(counts.sum()))
        elif known.view.name in comparison.placed:
            placing = comparison.placed[known.view.name][known.file]
            of_row, groups = placing.groups(names)
            inside = np.flatnonzero(groups >= 0)
            _, firsts = numbered([groups[inside], placing.persons[inside]])
            groups, persons = groups[inside][firsts], placing.persons[inside][firsts]
            sizes = np.bincount(groups)
            rows, n_persons = example(of_row)[groups], np.unique(persons).size
            yield _keyed(placing.column, names, rows, sizes[groups], persons, sizes[sizes > 0], n_persons)


def _keyed(
    column: PublishedColumn,
    names: tuple[str, ...],
    rows: Ids,
    counts: Ids,
    persons: Ids,
    sizes: Ids,
    n_persons: int,
) -> Keys:
    labels = {name: column.labels[name].astype(np.int64)[rows] for name in names}
    missing = {name: (column.texts[name] == "").to_numpy()[labels[name]] for name in names}
    return Keys(labels, missing, counts, persons, sizes, n_persons)
