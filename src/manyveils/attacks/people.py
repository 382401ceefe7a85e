"""The people who are attacked: those in the data, and those who are not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.table import Table

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class People:
    """Some people, by the codes of the original's columns; -1 is a value that the original does not have."""

    name: str
    codes: Mapping[str, Ids]
    n: int

    def __repr__(self) -> str:
        return f"<People: {self.n} {self.name}>"


def members(table: Table, most: int, rng: np.random.Generator) -> People:
    """Everybody in the data, or a random sample of very many."""
    chosen = slice(None) if table.n_rows <= most else np.sort(rng.choice(table.n_rows, most, replace=False))
    codes = {name: column.codes[chosen].astype(np.int64) for name, column in table.attributes.items()}
    return People("members", codes, min(table.n_rows, most))


def outsiders(table: Table, others: Table, most: int, rng: np.random.Generator) -> People:
    """People of another table, in the codes of this one."""
    chosen = np.arange(others.n_rows)
    if others.n_rows > most:
        chosen = np.sort(rng.choice(others.n_rows, most, replace=False))
    codes = {}
    for name, column in table.attributes.items():
        if name in others.attributes:
            meant = places_of(others[name].texts, column.texts)
            codes[name] = meant[others[name].codes[chosen]]
        else:
            # A value nobody outside has makes no 0/1 column there.
            codes[name] = np.full(chosen.size, max(column.absence, -1), dtype=np.int64)
    return People("outsiders", codes, chosen.size)


def places_of(texts: Sequence[str], among: Sequence[str]) -> Ids:
    """Where each text stands among others, -1 where it does not; numbers are the same however they are written.

    >>> places_of(("1", "x", "2.0", "z"), ("x", "1.0", "2")).tolist()
    [1, 0, 2, -1]
    """
    place = {_spelt(text): code for code, text in enumerate(among)} | {t: c for c, t in enumerate(among)}
    return np.array([place.get(text, place.get(_spelt(text), -1)) for text in texts], dtype=np.int64)


def _spelt(text: str) -> str:
    """A whole number without a fraction of nothing; anything else as it is."""
    whole = text.removesuffix(".0")
    return whole if whole.removeprefix("-").isdecimal() else text
