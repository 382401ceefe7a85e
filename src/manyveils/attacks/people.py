"""The people who are attacked, as codes of the original's attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import numbered
from manyveils.table import Table

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
    return numbered([codes + 1 for codes in columns], [int(codes.max(initial=0)) + 2 for codes in columns])


def looked_up(values: NDArray[Any], codes: Ids, otherwise: Any) -> NDArray[Any]:
    """The value of each code; something else for the code -1.

    >>> looked_up(np.array([7, 8]), np.array([1, -1]), 0).tolist()
    [8, 0]
    """
    return np.where(codes >= 0, values[np.maximum(codes, 0)], otherwise)


def places_of(texts: Sequence[str], among: Sequence[str]) -> Ids:
    """Where each text stands among others, -1 where it does not; numbers are the same however they are written.

    >>> places_of(("1", "x", "2.0", "z"), ("x", "1.0", "2")).tolist()
    [1, 0, 2, -1]
    """
    place_of = {_spelt(text): place for place, text in enumerate(among)}
    place_of |= {text: place for place, text in enumerate(among)}
    return np.array([place_of.get(text, place_of.get(_spelt(text), -1)) for text in texts], dtype=np.int64)


def _spelt(text: str) -> str:
    """A whole number without a fraction of nothing; anything else as it is."""
    whole = text.removesuffix(".0")
    return whole if whole.removeprefix("-").isdecimal() else text
