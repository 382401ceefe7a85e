"""Who must go at a node of the lattice where somebody has several rows: persons leave with all their rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from manyveils.kernels.persons import leave
from manyveils.methods.generalize.lattice import Counted, Lattice
from manyveils.promises.crowds import Persons
from manyveils.promises.entries import Ids, Kept, distinct
from manyveils.promises.headcounts import Headcount, headcount
from manyveils.promises.keeping import Watch
from manyveils.promises.sightings import Told, listed_of
from manyveils.table.order import in_order

if TYPE_CHECKING:
    from manyveils.methods.generalize.overall import Overall

# The share of rows that are looked at first.
FIRST_LOOK = 32
# The share of rows that are looked up group by group; where more are asked about, all are gone through.
LOOKED_UP = 16


@dataclass(frozen=True, repr=False)
class Lost:
    """What must go at a node: how much counts against the limit, and how many rows of every group.

    Where persons go, `owners` has the group of every row that stays, person after person.
    """

    n: int
    rows: Ids
    owners: Ids | None = None

    @property
    def n_rows(self) -> int:
        """How many rows go."""
        return int(self.rows.sum())


@dataclass(frozen=True, repr=False)
class _Grouped:
    """The groups of a node, of which every row is in one, whoever has left; and how many rows they have."""

    owners: Ids
    sizes: Ids

    def among(self, asked: Kept) -> Ids:
        """The rows of some groups, person after person."""
        return np.sort(listed_of(self._starts, self._rows, np.flatnonzero(asked))[1])

    @cached_property
    def _rows(self) -> Ids:
        return in_order(self.owners)

    @cached_property
    def _starts(self) -> Ids:
        return np.append(0, np.cumsum(np.bincount(self.owners, minlength=self.sizes.size)))


@dataclass(frozen=True, repr=False)
class Leaving:
    """Promises to persons, so many of whom may go with all their rows.

    Where several groups of a person tell together what none may tell, the smallest of them goes.

    Claim: who goes by promises that fall goes at every finer node too, and nobody else goes by them.
    Why: of the persons who stay at a finer node every coarser group is made of groups that keep such a promise, and
    keeps it, so they all could stay; and a group that fails it fails it with fewer persons too, so the order in which
    they go is of no matter.
    Tested by: tests/claims/test_whole_persons.py
    """

    lattice: Lattice
    persons: Persons
    watches: tuple[Watch, ...]
    falls: tuple[bool, ...]
    limit: int
    sightings: Told | None = None
    overall: "tuple[Overall, ...]" = ()

    def falling(self, counted: Counted) -> Lost:
        """Who goes by promises that, once broken, stay broken at every finer node; counted no further than the limit."""
        nobody = np.zeros(counted.sizes.size, dtype=np.int64)
        at_least = self._at_least(counted.sizes)
        if at_least > self.limit:
            return Lost(at_least, nobody)
        owners, n_lost = self.lattice.owners_of_rows(counted.node).copy(), 0
        asked = np.zeros(nobody.size, dtype=bool)
        # One promise after the other at first: many nodes are refused by the first one.
        for stage in self._falling.stages:
            n_lost += self._leave(owners, stage.kept(owners, nobody.size), asked)
            if n_lost > self.limit:
                return Lost(n_lost, nobody)
        n_lost += self._settle_all(self._falling, counted, owners, asked, self.limit - n_lost)
        return self._lost(n_lost, counted, owners)

    def further(self, counted: Counted, falling: Lost) -> Lost:
        """Who goes so that all who stay are in groups that keep every promise; `falling` have gone already."""
        assert falling.owners is not None
        owners = falling.owners.copy()
        asked = np.ones(counted.sizes.size, dtype=bool)
        few = self._few(counted.sizes, owners)
        if not all(self.falls) and few.any():
            n_failing = self._leave(owners.copy(), self._every.kept(owners, asked.size, few), asked)
            if falling.n + n_failing > self.limit:
                return Lost(falling.n + n_failing, falling.rows)
        n_lost = falling.n + self._settle_all(self._every, counted, owners, asked, self.limit - falling.n)
        while self.sightings is not None and n_lost <= self.limit:
            asked = np.zeros(counted.sizes.size, dtype=bool)
            going = self.sightings.going(owners, asked.size, self.limit - n_lost)
            n_lost += self._go(owners, going, asked)
            if not asked.any():
                break
            n_lost += self._settle_all(self._every, counted, owners, asked, self.limit - n_lost)
        return self._lost(n_lost, counted, owners)

    def _few(self, sizes: Ids, owners: Ids) -> Kept:
        """Some groups to begin with: where these break a promise for too many persons, no others need be counted."""
        few = np.zeros(sizes.size, dtype=bool)
        order = np.argsort(sizes, kind="stable")
        few[order[np.cumsum(sizes[order]) * FIRST_LOOK < owners.size]] = True
        return few

    def _settle(self, promised: Headcount, grouped: "_Grouped", owners: Ids, asked: Kept, limit: int) -> int:
        """Let persons go until the groups that are asked about, and all they leave, keep what is promised, or too many went."""
        n_lost = 0
        while n_lost <= limit and asked.any():
            before, asked = asked, np.zeros(asked.size, dtype=bool)
            if int(grouped.sizes[before].sum()) * LOOKED_UP < owners.size:
                n_lost += self._leave_few(promised, owners, grouped.among(before), asked)
            else:
                n_lost += self._leave(owners, promised.kept(owners, asked.size, before), asked)
        return n_lost

    def _leave_few(self, promised: Headcount, owners: Ids, places: Ids, asked: Kept) -> int:
        """Let everybody go who has a row in a group that breaks a promise; all rows of these groups are at `places`."""
        places = places[owners[places] >= 0]
        if not places.size:
            return 0
        groups, numbers = distinct(owners[places]), owners[places]
        numbers = np.searchsorted(groups, numbers)
        failing = places[~promised.at(places).kept(numbers, groups.size)[numbers]]
        starts = self.persons.starts
        who = distinct(np.searchsorted(starts, failing, side="right") - 1)
        _, rows = listed_of(starts, self._places, who)
        rows = rows[owners[rows] >= 0]
        asked[owners[rows]] = True
        owners[rows] = -1
        return who.size

    def _settle_all(self, promised: Headcount, counted: Counted, owners: Ids, asked: Kept, limit: int) -> int:
        """The same, and until all groups together keep what is asked of them."""
        grouped = _Grouped(self.lattice.owners_of_rows(counted.node), counted.sizes)
        n_lost = self._settle(promised, grouped, owners, asked, limit)
        while self.overall and n_lost <= limit:
            fine = [own.kept_by_persons(counted, owners, self.persons) for own in self.overall]
            asked = np.zeros(counted.sizes.size, dtype=bool)
            n_leaving = self._leave(owners, np.logical_and.reduce(fine), asked)
            if not n_leaving:
                break
            n_lost += n_leaving + self._settle(promised, grouped, owners, asked, limit - n_lost - n_leaving)
        return n_lost

    def _go(self, owners: Ids, going: Kept, asked: Kept) -> int:
        """Let some persons go; the groups they leave are to be asked about."""
        rows = going[self.persons.numbers[self.persons.order]] & (owners >= 0)
        asked[owners[rows]] = True
        owners[rows] = -1
        return int(going.sum())

    def _leave(self, owners: Ids, fine: Kept, asked: Kept) -> int:
        """Let everybody go who has a row in a group that is not fine; the groups they leave are to be asked about."""
        return 0 if fine.all() else int(leave(self.persons.starts, owners, ~fine, asked))

    @cached_property
    def _places(self) -> Ids:
        return np.arange(self.persons.order.size)

    @cached_property
    def _every(self) -> Headcount:
        return headcount(self.persons, self.watches)

    @cached_property
    def _falling(self) -> Headcount:
        watches = zip(self.watches, self.falls, strict=True)
        return self._every.of(tuple(watched for watched, falls in watches if falls))

    @cached_property
    def _most_rows(self) -> Ids:
        """How many rows the persons who have most of them have together: one, two, three of them and so on."""
        return np.cumsum(np.sort(np.diff(self.persons.starts))[::-1])

    def _at_least(self, sizes: Ids) -> int:
        """How many persons at least have rows in groups that have fewer rows than persons are asked for."""
        n_rows = int(sizes[sizes < self._falling.k].sum())
        return int(np.searchsorted(self._most_rows, n_rows)) + 1 if n_rows else 0

    def _lost(self, n_lost: int, counted: Counted, owners: Ids) -> Lost:
        stay = np.bincount(owners[owners >= 0] if n_lost else owners, minlength=counted.sizes.size)
        return Lost(n_lost, counted.sizes - stay, owners)
