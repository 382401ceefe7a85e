"""Several small numbers as few of 64 bits, which are sent, compared and sorted faster."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release.dealing import LARGEST_KEY

Keys = NDArray[np.int64]
Numbers = NDArray[np.integer]
# So many numbers have 31 bits.
FEW = 2**31


@dataclass(frozen=True)
class Packing:
    """How numbers below `sizes` stand together in keys below `most`.

    Claim: keys have the order of what they hold.
    Why: a key counts through all combinations of its numbers, the first of which weighs most.
    Tested by: tests/claims/test_packing.py
    """

    sizes: tuple[int, ...]
    most: int = LARGEST_KEY

    @property
    def groups(self) -> list[list[int]]:
        """The places of the numbers that every key holds."""
        groups: list[list[int]] = []
        room = 0
        for index, size in enumerate(self.sizes):
            if not groups or size > room:
                groups.append([])
                room = self.most
            groups[-1].append(index)
            room //= max(size, 1)
        return groups

    @property
    def names(self) -> list[str]:
        """The fields of the keys."""
        return [f"k{number}" for number in range(len(self.groups))]

    def packed(self, numbers: Sequence[Numbers]) -> list[Keys]:
        """The keys of rows."""
        keys = []
        for group in self.groups:
            key = np.zeros(len(numbers[0]), dtype=np.int64)
            for index in group:
                key *= max(self.sizes[index], 1)
                key += numbers[index]
            keys.append(key)
        return keys

    def first(self, keys: Sequence[Keys]) -> Numbers:
        """The first number of rows."""
        beside = [max(self.sizes[index], 1) for index in self.groups[0][1:]]
        return keys[0] // math.prod(beside)

    def unpacked(self, keys: Sequence[Keys]) -> list[Numbers]:
        """The numbers of rows, in 32 bits where they fit."""
        numbers: list[Numbers] = [np.zeros(0, dtype=np.int64)] * len(self.sizes)
        for group, packed in zip(self.groups, keys, strict=True):
            key = packed
            for index in reversed(group):
                size = max(self.sizes[index], 1)
                # NumPy divides faster than it tells what is left over.
                above = key // size
                numbers[index] = (key - above * size).astype(np.int32 if size < FEW else np.int64)
                key = above
        return numbers


def packing_of(values: Mapping[str, pl.Series]) -> Packing:
    """How the ranks of some values stand together."""
    return Packing(tuple(len(domain) for domain in values.values()))
