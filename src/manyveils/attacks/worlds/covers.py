"""What published labels may stand for: sets of originals, numbered, attribute by attribute."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids

EMPTY = -1


class Covers:
    """The sets of originals that are spoken of in one attribute; equal sets have one number."""

    def __init__(self, n_originals: int) -> None:
        self.n_originals = n_originals
        self.sets: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._shared: dict[tuple[int, int], int] = {}

    def number(self, originals: Iterable[int]) -> int:
        """The number of a set; a new one gets the next."""
        members = frozenset(originals)
        if members not in self._numbers:
            self._numbers[members] = len(self.sets)
            self.sets.append(members)
        return self._numbers[members]

    def everything(self) -> int:
        """The number of the set of all originals."""
        return self.number(range(self.n_originals))

    def shared(self, left: int, right: int) -> int:
        """The number of what two sets share, EMPTY if it is nothing."""
        pair = (min(left, right), max(left, right))
        if pair not in self._shared:
            members = self.sets[left] & self.sets[right]
            self._shared[pair] = self.number(members) if members else EMPTY
        return self._shared[pair]

    @property
    def sizes(self) -> Ids:
        """How many originals each set has."""
        return np.array([len(members) for members in self.sets], dtype=np.int64)

    def are_single(self, numbers: Ids) -> bool:
        """Whether every one of these sets has one original."""
        return all(len(self.sets[number]) == 1 for number in np.unique(numbers))

    def members(self, numbers: Ids) -> pl.DataFrame:
        """The originals of some sets, row by row, and the share that each has of its set: set, original, share."""
        pairs = [
            (number, original, 1 / len(self.sets[number]))
            for number in np.unique(numbers).tolist()
            for original in sorted(self.sets[number])
        ]
        schema = {"set": pl.Int64, "original": pl.Int64, "share": pl.Float64}
        return pl.DataFrame(pairs, schema=schema, orient="row")
