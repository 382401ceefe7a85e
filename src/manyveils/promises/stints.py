"""How long persons stood in groups from release to release.

A stint is the time from when somebody comes into a group until she is no longer in the one that follows it. Those whose
stints begin in one group are of one class; those who left one group at once ended alike, and so do those who are in one
now.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.entries import Ids
from manyveils.promises.parting import Parting, parting
from manyveils.table.earlier import Earlier

Bools = NDArray[np.bool_]
A = TypeVar("A", Ids, int)
# How a stint ended: not at all, by leaving a group that goes on, or with the group.
OPEN, LEFT, VANISHED = range(3)


@dataclass(frozen=True, repr=False)
class Stints:
    """Stints of persons: the group in which each began, and how it ended; those that go on end in the group they are in."""

    persons: Ids
    entries: Ids
    ends: Ids

    def and_those(self, others: "Stints") -> "Stints":
        """These and others."""
        return Stints(*(np.append(own, more) for own, more in zip(self._all, others._all, strict=True)))

    def some(self, which: Bools) -> "Stints":
        """Only some of them."""
        return Stints(*(own[which] for own in self._all))

    @property
    def _all(self) -> tuple[Ids, Ids, Ids]:
        return self.persons, self.entries, self.ends


@dataclass(frozen=True, repr=False)
class Past:
    """The stints that are over, and those that go on, with the last group of each; groups of all releases are numbered through."""

    over: Stints
    going_on: Stints
    last_groups: Ids
    first: int
    n_groups: int

    def then(self, own: tuple[Ids, Ids], parted: Parting) -> "Past":
        """What they are after one more release; its groups are numbered after all others."""
        persons, groups = own
        following = parted.successors[self.last_groups]
        span = parted.n_groups + 1
        keys, wanted = persons * span + groups, self.going_on.persons * span + following
        place = _place_in(keys, wanted, persons, self.going_on.persons)
        stays = (following >= 0) & (keys[place] == wanted) if keys.size else np.zeros(wanted.size, dtype=bool)
        # Whose group nobody is in anymore ended with that.
        left = end_of(self.n_groups + following[~stays], LEFT)
        vanished = end_of(self.first + self.last_groups[~stays], VANISHED)
        ended = self.going_on.some(~stays)
        ended = Stints(ended.persons, ended.entries, np.where(following[~stays] >= 0, left, vanished))
        begins = np.ones(keys.size, dtype=bool)
        begins[place[stays]] = False
        last = np.append(following[stays], groups[begins])
        going_on = Stints(
            np.append(self.going_on.persons[stays], persons[begins]),
            np.append(self.going_on.entries[stays], self.n_groups + groups[begins]),
            end_of(self.n_groups + last, OPEN),
        )
        return Past(
            self.over.and_those(ended), going_on, last, self.n_groups, self.n_groups + parted.n_groups
        )

    @property
    def every(self) -> Stints:
        """All stints."""
        return self.over.and_those(self.going_on)


def _place_in(keys: Ids, wanted: Ids, persons: Ids, others: Ids) -> Ids:
    """Where each of some keys stands among others in order, if it does; both are of persons, who mostly have one."""
    if (np.diff(persons) > 0).all():
        place_of = np.zeros(
            1 + max(int(persons.max(initial=-1)), int(others.max(initial=-1))), dtype=np.int64
        )
        place_of[persons] = np.arange(persons.size)
        return place_of[others]
    return np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))


def end_of(groups: A, kind: int) -> A:
    """A number for how stints end: in a group, by leaving one that goes on without her, or with one."""
    return 3 * groups + kind


NONE = np.zeros(0, dtype=np.int64)
NO_PAST = Past(Stints(NONE, NONE, NONE), Stints(NONE, NONE, NONE), NONE, 0, 0)


@dataclass(frozen=True, repr=False)
class Releases:
    """The groups in which earlier releases show some attributes, release by release."""

    earlier: Earlier
    names: set[str]

    @cached_property
    def _is_meant(self) -> Bools:
        """Which groups show the attributes."""
        return self.earlier.telling(self.names) & self.earlier.is_shown

    def _of(self, release: int) -> tuple[tuple[Ids, Ids], int]:
        """Pairs of a person and her group in one release, numbered from 0, and how many groups there are."""
        ids = np.flatnonzero(self._is_meant & (self.earlier.release_of == release))
        numbers = np.full(self.earlier.n_groups, -1, dtype=np.int64)
        numbers[ids] = np.arange(ids.size)
        own = numbers[self.earlier.groups]
        return (self.earlier.persons[own >= 0], own[own >= 0]), ids.size

    @property
    def n_apart(self) -> int:
        """How many persons, at most, were in several groups of one release."""
        numbers = (np.bincount(self._of(release)[0][0]) for release in range(self.earlier.n_releases))
        return max((int((number > 1).sum()) for number in numbers), default=0)

    @property
    def last(self) -> tuple[Ids, Ids]:
        """The groups of the last release."""
        return self._of(self.earlier.n_releases - 1)[0]

    @property
    def n_last(self) -> int:
        """How many groups the last release shows."""
        return self._of(self.earlier.n_releases - 1)[1]

    @cached_property
    def past(self) -> Past:
        """The stints of all persons up to the last release."""
        past, last, n_last = NO_PAST, (NONE, NONE), 0
        for release in range(self.earlier.n_releases):
            own, n_groups = self._of(release)
            parted = parting(last, n_last, own, n_groups, self.earlier.n_persons)
            past = past.then(own, parted)
            last, n_last = own, n_groups
        return past
