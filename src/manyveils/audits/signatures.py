"""Who is seen in which groups: persons with the same set of groups are told apart by nobody, and judged once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import Bools, Ids, dense, numbered, ranges

Bits = NDArray[np.uint64]


@dataclass(frozen=True, repr=False)
class Pairs:
    """Every person with every group she is seen in, in this order."""

    persons: Ids
    groups: Ids

    def among(self, chosen: Bools) -> "Pairs":
        """The pairs of some persons only."""
        kept = chosen[self.persons]
        return Pairs(self.persons[kept], self.groups[kept])

    def within(self, chosen: Bools) -> "Pairs":
        """The pairs with some groups only."""
        kept = chosen[self.groups]
        return Pairs(self.persons[kept], self.groups[kept])

    def numbered_from(self, n_groups: int) -> "Pairs":
        """The same with groups that are numbered after so many others."""
        return replace(self, groups=self.groups + n_groups)


def paired(persons: Ids, groups: Ids) -> Pairs:
    """Pairs in their order, each once."""
    span = int(groups.max(initial=0)) + 1
    keys = persons * span + groups
    if (np.diff(keys) <= 0).any():
        keys = np.sort(keys)
        keys = keys[np.diff(keys, prepend=-1) > 0]
    return Pairs(*np.divmod(keys, span))


def joined(told: Sequence[Pairs]) -> Pairs:
    """All of several lists of pairs."""
    if len(told) == 1:
        return told[0]
    persons, groups = (
        np.concatenate([pairs.persons for pairs in told]),
        np.concatenate([pairs.groups for pairs in told]),
    )
    return paired(persons, groups)


@dataclass(frozen=True, repr=False)
class Signatures:
    """The different sets of groups in which persons are seen.

    Groups are numbered through all columns; those of signature i are `groups[starts[i] : starts[i + 1]]`. `persons` says
    how many persons have each signature, and `of_person` which one each has, -1 where she is seen nowhere.
    """

    groups: Ids
    starts: Ids
    persons: Ids
    of_person: Ids

    @property
    def lengths(self) -> Ids:
        """How many groups each signature has."""
        return np.diff(self.starts)

    def rows(self, n_rows: Ids) -> Ids:
        """How many rows the persons of each signature have, from the rows of each person."""
        seen = np.flatnonzero(self.of_person >= 0)
        summed = np.bincount(self.of_person[seen], weights=n_rows[seen], minlength=self.persons.size)
        return summed.astype(np.int64)


def signatures_in(pairs: Pairs, n_persons: int) -> Signatures:
    """The signatures of all who are in some pair.

    Claim: two persons have one signature exactly where they are seen in the same groups.
    Why: sets are numbered by sums of what groups are scrambled to, and then compared group by group with the set that
    stands for the number; should two sets ever share a sum, groups are told apart one after the other instead.
    Tested by: tests/claims/test_signatures.py
    """
    lengths = np.bincount(pairs.persons, minlength=n_persons)
    starts = np.cumsum(lengths) - lengths
    seen = np.flatnonzero(lengths)
    of_seen = _by_sums(pairs.groups, starts[seen], lengths[seen])
    if of_seen is None:
        of_seen = _one_by_one(pairs.groups, starts[seen], lengths[seen])
    n_sets = int(of_seen.max(initial=-1)) + 1
    of_person = np.full(n_persons, -1, dtype=np.int64)
    of_person[seen] = of_seen
    shown = np.zeros(n_sets, dtype=np.int64)
    shown[of_seen] = seen
    groups = pairs.groups[ranges(starts[shown], lengths[shown])]
    counts = np.bincount(of_seen, minlength=n_sets)
    return Signatures(groups, np.append(0, np.cumsum(lengths[shown])), counts, of_person)


def _by_sums(groups: Ids, starts: Ids, lengths: Ids) -> Ids | None:
    """The number of each set by the sum of its scrambled groups; None where different sets have one sum."""
    if not starts.size:
        return starts
    sums = np.add.reduceat(scrambled(groups), starts)
    # A bit less makes them numbers from 0; what then falls together is compared anyway.
    numbers, firsts = numbered([(sums >> np.uint64(1)).astype(np.int64)])
    standing = firsts[numbers]
    if not np.array_equal(lengths[standing], lengths):
        return None
    is_same = np.array_equal(groups[ranges(starts[standing], lengths)], groups[ranges(starts, lengths)])
    return numbers if is_same else None


def scrambled(numbers: Ids) -> Bits:
    """Numbers of 64 bits that look random, different ones for different numbers (SplitMix64)."""
    bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Bits = bits ^ (bits >> np.uint64(31))
    return mixed


def _one_by_one(groups: Ids, starts: Ids, lengths: Ids) -> Ids:
    """The number of each set; sets with equal groups so far are told apart by the next."""
    number = dense(lengths.copy())
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        parts = np.zeros(lengths.size, dtype=np.int64)
        parts[longer] = groups[starts[longer] + place] + 1
        number = dense(number * (int(parts.max(initial=0)) + 1) + parts)
    return number
