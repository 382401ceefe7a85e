"""The people who are attacked, as codes of the original's attributes, and people who are not in the data.

Non-members are those of a control table, or drawn so that they resemble members: each attribute follows from one other,
along the tree that keeps as much of the relations between two attributes as a tree can (Chow and Liu, 1968). Such
people share the data's shares and its main relations, and nobody's row.

A person may have several rows. Then codes have all of them, and what is found row by row is taken together by person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.domains import Domain
from manyveils.reading.keys import dense, numbered
from manyveils.table import Table

MOST_ROWS = 20_000
LARGEST_GRID = 1_000_000

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class People:
    """Some people, by the codes of the original's attributes; -1 is a value that the original does not have.

    There are n rows. `persons` numbers the person of each, without gaps; None where everybody has one. `rows` says
    which rows of the data they are, if they are in it.
    """

    name: str
    codes: Mapping[str, Ids]
    n: int
    persons: Ids | None = None
    rows: Ids | None = None

    @cached_property
    def n_persons(self) -> int:
        """How many different people there are."""
        return self.n if self.persons is None else int(self.persons.max(initial=-1)) + 1

    def among(self, rows: Ids, name: str) -> "People":
        """The people behind some rows, with these alone."""
        return People(
            name,
            {attribute: codes[rows] for attribute, codes in self.codes.items()},
            rows.size,
            None if self.persons is None else dense(self.persons[rows]),
            None if self.rows is None else self.rows[rows],
        )

    def anyone(self, flags: Bools) -> Bools:
        """Of which people some row has a flag."""
        if self.persons is None:
            return flags
        return np.bincount(self.persons[flags], minlength=self.n_persons) > 0

    def summed(self, numbers: Floats | Bools) -> Floats:
        """The sum of a number over the rows of each person."""
        if self.persons is None:
            return numbers.astype(np.float64)
        return np.bincount(self.persons, weights=numbers, minlength=self.n_persons).astype(np.float64)

    def mean(self, numbers: Floats | Bools, among: Bools | None = None) -> Floats:
        """The mean of a number over some rows of each person, as each is as likely to be known; 0 without such a row."""
        if among is None:
            among = np.ones(self.n, dtype=bool)
        if self.persons is None:
            return np.where(among, numbers, 0.0)
        return self.summed(np.where(among, numbers, 0.0)) / np.maximum(self.summed(among), 1.0)

    @property
    def mean_weights(self) -> Floats | None:
        """The share that each row is of its person's; None where everybody has one row."""
        return None if self.persons is None else (1.0 / self.summed(np.ones(self.n)))[self.persons]

    def one_row_each(self) -> "People":
        """As many people of whom each has a row, and nothing is known but that."""
        return People(self.name, {}, self.n_persons)

    def greatest(self, numbers: Floats) -> Floats:
        """The greatest number of each person's rows, none below 0."""
        if self.persons is None:
            return numbers
        greatest = np.zeros(self.n_persons)
        np.maximum.at(greatest, self.persons, numbers)
        return greatest


def members(table: Table, most: int, rng: np.random.Generator) -> People:
    """Everybody in the data, or a random sample of very many."""
    rows = sampled_persons(table, most, rng)
    codes = {name: attribute.codes[rows].astype(np.int64) for name, attribute in table.attributes.items()}
    return People("members", codes, rows.size, persons_of(table, rows), rows)


def persons_of(table: Table, rows: Ids) -> Ids | None:
    """The person of each of some rows, numbered without gaps; None where everybody has one row."""
    return None if table.persons is None else dense(table.persons[rows])


def sampled_persons(table: Table, most: int, rng: np.random.Generator) -> Ids:
    """All rows of a table, or of so many people, drawn at random, that there are about as many as allowed."""
    if table.persons is None or table.n_rows <= most:
        return sampled_rows(table, most, rng)
    is_drawn = np.zeros(table.n_persons, dtype=bool)
    n = max(1, table.n_persons * most // table.n_rows)
    is_drawn[rng.choice(table.n_persons, n, replace=False)] = True
    return np.flatnonzero(is_drawn[table.persons])


def sampled_rows(table: Table, most: int, rng: np.random.Generator) -> Ids:
    """All rows of a table, or a random sample of very many, in order."""
    if table.n_rows <= most:
        return np.arange(table.n_rows)
    return np.sort(rng.choice(table.n_rows, most, replace=False))


def n_people(groups: Ids, persons: Ids | None, n_groups: int) -> Ids:
    """How many different people each group has rows of.

    >>> n_people(np.array([0, 0, 1]), np.array([7, 7, 7]), 2).tolist()
    [1, 1]
    """
    if persons is not None:
        groups = groups[numbered([groups, persons])[1]] if groups.size else groups
    return np.bincount(groups, minlength=n_groups)


def alike(columns: Sequence[NDArray[Any]], n: int) -> tuple[Ids, Ids]:
    """A number for all n people with the same codes, -1 included, and the place where each number stands first.

    >>> [array.tolist() for array in alike([np.array([5, -1, 5])], 3)]
    [[1, 0, 1], [1, 0]]
    >>> [array.tolist() for array in alike([], 3)]
    [[0, 0, 0], [0]]
    """
    if not columns:
        return np.zeros(n, dtype=np.int64), np.zeros(min(n, 1), dtype=np.int64)
    return numbered([codes + 1 for codes in columns])


def looked_up(values: NDArray[Any], codes: Ids, otherwise: Any) -> NDArray[Any]:
    """The value of each code; something else for the code -1.

    >>> looked_up(np.array([7, 8]), np.array([1, -1]), 0).tolist()
    [8, 0]
    """
    return np.where(codes >= 0, values[np.maximum(codes, 0)], otherwise)


def controls(table: Table, control: Table, most: int, rng: np.random.Generator) -> People:
    """The people of a control table, in the codes of the original."""
    rows = sampled_persons(control, most, rng)
    codes = {}
    for name, attribute in table.attributes.items():
        if name in control.attributes:
            codes[name] = Domain(name, attribute.texts).codes_of(control[name].texts)[
                control[name].codes[rows]
            ]
        else:
            # A value that nobody in the control has makes no derived attribute there.
            codes[name] = np.full(rows.size, max(attribute.absence, -1), dtype=np.int64)
    return People("control", codes, rows.size, persons_of(control, rows))


def drawn_people(table: Table, names: tuple[str, ...], n: int, rng: np.random.Generator) -> People:
    """Draw n people from a tree of the relations between two attributes."""
    rows = sampled_rows(table, MOST_ROWS, rng)
    codes = {name: table[name].codes[rows].astype(np.int64) for name in names}
    sizes = {name: table[name].n_values for name in names}
    drawn: dict[str, Ids] = {}
    for name, parent in _tree(codes, sizes, rng):
        if parent is None:
            drawn[name] = codes[name][rng.integers(0, rows.size, n)]
        else:
            drawn[name] = _follow(codes[name], codes[parent], drawn[parent], rng)
    return People("drawn", {name: drawn[name] for name in names}, n)


def _follow(child: Ids, parent: Ids, given: Ids, rng: np.random.Generator) -> Ids:
    """For each given value of the parent the child's value in a random row that has it."""
    order = np.argsort(parent, kind="stable")
    starts = np.searchsorted(parent[order], given)
    lengths = np.searchsorted(parent[order], given, side="right") - starts
    return child[order[starts + (rng.random(given.size) * lengths).astype(np.int64)]]


def _tree(
    codes: dict[str, Ids], sizes: dict[str, int], rng: np.random.Generator
) -> list[tuple[str, str | None]]:
    """The attributes in an order in which each follows its parent; one that relates to none has no parent."""
    tree: list[tuple[str, str | None]] = []
    best: dict[str, tuple[float, str | None]] = dict.fromkeys(codes, (0.0, None))
    while best:
        parent = max(best, key=lambda name: best[name][0])
        tree.append((parent, best.pop(parent)[1]))
        mixed = rng.permutation(codes[parent])
        for name, (most, _) in best.items():
            # What is shared with a shuffled attribute is chance.
            chance = information(mixed, codes[name], sizes[parent], sizes[name])
            shared = information(codes[parent], codes[name], sizes[parent], sizes[name]) - chance
            if shared > most and shared > _noise(sizes[parent], sizes[name], mixed.size):
                best[name] = (shared, parent)
    return tree


def _noise(n_left: int, n_right: int, n: int) -> float:
    """How much two unrelated attributes may seem to share beyond what is usual: three standard deviations."""
    freedom = min((n_left - 1) * (n_right - 1), n)
    return max(3 * sqrt(2 * freedom) / (2 * n), 1e-9)


def information(left: Ids, right: Ids, n_left: int, n_right: int) -> float:
    """The mutual information of two attributes in nats.

    >>> codes = np.arange(400) % 2
    >>> round(information(codes, codes, 2, 2), 3)
    0.693
    """
    keys = left * n_right + right
    if n_left * n_right <= LARGEST_GRID:
        counts = np.bincount(keys)
        keys, counts = np.flatnonzero(counts), counts[counts > 0]
    else:
        keys, counts = np.unique(keys, return_counts=True)
    n = left.size
    lefts, rights = np.bincount(left, minlength=n_left), np.bincount(right, minlength=n_right)
    expected = lefts[keys // n_right] * rights[keys % n_right] / n
    return float((counts * np.log(counts / expected)).sum() / n)
