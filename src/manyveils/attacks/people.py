"""The people who are attacked, as codes of the original's attributes, and people who are not in the data.

Non-members are those of a control table, or drawn so that they resemble members: each attribute follows from one other,
along the tree that keeps as much of the relations between two attributes as a tree can (Chow and Liu, 1968). Such
people share the data's shares and its main relations, and nobody's row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.domains import Domain
from manyveils.reading.keys import numbered
from manyveils.table import Table

MOST_ROWS = 20_000
LARGEST_GRID = 1_000_000

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class People:
    """Some people, by the codes of the original's attributes; -1 is a value that the original does not have."""

    name: str
    codes: Mapping[str, Ids]
    n: int


def members(table: Table, most: int, rng: np.random.Generator) -> People:
    """Everybody in the data, or a random sample of very many."""
    rows = sampled_rows(table, most, rng)
    codes = {name: attribute.codes[rows].astype(np.int64) for name, attribute in table.attributes.items()}
    return People("members", codes, rows.size)


def sampled_rows(table: Table, most: int, rng: np.random.Generator) -> Ids:
    """All rows of a table, or a random sample of very many, in order."""
    if table.n_rows <= most:
        return np.arange(table.n_rows)
    return np.sort(rng.choice(table.n_rows, most, replace=False))


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
    rows = sampled_rows(control, most, rng)
    codes = {}
    for name, attribute in table.attributes.items():
        if name in control.attributes:
            codes[name] = Domain(name, attribute.texts).codes_of(control[name].texts)[
                control[name].codes[rows]
            ]
        else:
            # A value that nobody in the control has makes no derived attribute there.
            codes[name] = np.full(rows.size, max(attribute.absence, -1), dtype=np.int64)
    return People("control", codes, rows.size)


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
