"""The persons of every group, where somebody has several rows: the counts that promises to people are decided on."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number
from manyveils.kernels.persons import first_by_sorting, first_of_person
from manyveils.table import Table
from manyveils.table.order import in_order

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
# Rows of one person are compared one with another up to so many; more of them are sorted.
FEW_ROWS = 64
LARGEST_KEY = 2**62


@dataclass(frozen=True, repr=False)
class Persons:
    """Whose each entry is: entries are rows, or values that rows have; `order` lists them person after person."""

    numbers: Ids
    order: Ids
    starts: Ids

    @property
    def n(self) -> int:
        """How many persons there are, here or in the whole table."""
        return self.starts.size - 1

    def of(self, entries: Ids) -> "Persons":
        """Whose some of the entries are."""
        return _laid_out(self.numbers[entries], self.n)


def persons_of(table: Table, rows: Ids | None = None) -> Persons | None:
    """Whose the rows of a table are, or the entries of listed rows; nothing where every row is a person of its own."""
    if table.persons is None:
        return None
    if rows is None:
        return Persons(table.persons, *table.by_person)
    return _laid_out(table.persons[rows], table.n_persons)


def _laid_out(numbers: Ids, n_persons: int) -> Persons:
    starts = np.append(0, np.cumsum(np.bincount(numbers, minlength=n_persons)))
    return Persons(numbers, in_order(numbers), starts)


class Counts(NamedTuple):
    """What is counted of a crowd; the last four are of its entries, person after person.

    `is_new` says which entries are the first of their person with their value in their unit.
    """

    owners: Ids
    values: Ids
    counts: Ids
    sizes: Ids
    group_of: Ids | None
    units: Ids
    entry_values: Ids
    n_entries: Ids
    is_new: NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class Crowd:
    """Entries in person order with an owner each, to be counted by person; a negative owner is nowhere.

    Codes are `value * n_known + known`. A unit is an owner, or the part of it that is told apart by what else is known.
    """

    persons: Persons
    entry_owners: Ids
    entry_codes: Ids
    n_owners: int
    n_known: int = 1

    def under(self, owner_of: NDArray[np.integer], n_owners: int) -> "Crowd":
        """The same after owners became one another's; a negative owner is dropped."""
        owners = np.where(self.entry_owners < 0, -1, owner_of[self.entry_owners])
        return replace(self, entry_owners=owners, n_owners=n_owners)

    @property
    def owners(self) -> Ids:
        """The unit of each count."""
        return self._counted.owners

    @property
    def values(self) -> Ids:
        """The value of each count, in order."""
        return self._counted.values

    @property
    def counts(self) -> Ids:
        """How many persons have the value in at least one of their rows in the unit."""
        return self._counted.counts

    @property
    def sizes(self) -> Ids:
        """How many persons every unit has."""
        return self._counted.sizes

    @property
    def group_of(self) -> Ids | None:
        """The owner of each unit; nothing where units are owners."""
        return self._counted.group_of

    @cached_property
    def _counted(self) -> Counts:
        """Count everybody.

        Claim: nobody is counted twice in a unit, nor twice with one value there.
        Why: of the entries of one person in a unit only the first is counted, and of those with one value the first too.
        Tested by: tests/claims/test_crowds.py
        """
        units, values, group_of, n_units = self.entry_owners, self.entry_codes, None, self.n_owners
        if self.n_known > 1:
            units, values, group_of = self._parts()
            n_units = group_of.size
        is_first, is_new, n_entries = _firsts(self.persons, units, values)
        sizes = np.bincount(units[is_first], minlength=n_units)
        keys = values[is_new] * n_units + units[is_new]
        numbers, firsts = number(keys)
        order = in_order(keys[firsts])
        counts = np.bincount(numbers, minlength=firsts.size)[order]
        of_keys, owners = np.divmod(keys[firsts][order], max(n_units, 1))
        return Counts(owners, of_keys, counts, sizes, group_of, units, values, n_entries, is_new)

    def _parts(self) -> tuple[Ids, Ids, Ids]:
        """The part that each entry stands in, its value, and the owner of each part."""
        values, known = np.divmod(self.entry_codes, self.n_known)
        there = np.flatnonzero(self.entry_owners >= 0)
        numbers, firsts = number(self.entry_owners[there] * self.n_known + known[there])
        units = np.full(values.size, -1, dtype=np.int64)
        units[there] = numbers
        return units, values, self.entry_owners[there][firsts]

    @cached_property
    def weights(self) -> Floats:
        """What each value weighs in its unit, if each person weighs 1, spread evenly over her rows there."""
        counted, n_units = self._counted, self.sizes.size
        there = counted.n_entries > 0
        keys = counted.entry_values[there] * n_units + counted.units[there]
        places = np.searchsorted(self.values * n_units + self.owners, keys)
        weights = np.bincount(places, 1.0 / counted.n_entries[there], minlength=self.values.size)
        return weights.astype(np.float64, copy=False)

    @cached_property
    def pairs(self) -> tuple[Ids, Ids, Ids]:
        """The different (unit, value, person), in order."""
        return self.pairs_in(np.ones(self.sizes.size, dtype=bool))

    def pairs_in(self, wanted: NDArray[np.bool_]) -> tuple[Ids, Ids, Ids]:
        """The same of some units only."""
        counted = self._counted
        listed = np.flatnonzero(counted.is_new)
        listed = listed[wanted[counted.units[listed]]]
        units, values = counted.units[listed], counted.entry_values[listed]
        persons = self.persons.numbers[self.persons.order[listed]]
        n_values = int(values.max(initial=0)) + 1
        if wanted.size * n_values * self.persons.n >= LARGEST_KEY:
            order = np.lexsort((persons, values, units))
            return units[order], values[order], persons[order]
        # One number for all three is sorted in a third of the time.
        keys = np.sort((units * n_values + values) * self.persons.n + persons)
        keys, persons = np.divmod(keys, max(self.persons.n, 1))
        units, values = np.divmod(keys, n_values)
        return units, values, persons


def _firsts(persons: Persons, units: Ids, values: Ids) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Ids]:
    """As the kernel says, with the rows of persons who have many of them sorted."""
    lengths = np.diff(persons.starts)
    is_large = np.repeat(lengths > FEW_ROWS, lengths)
    if not is_large.any():
        return first_of_person(persons.starts, units, values)
    few = np.where(is_large, -1, units)
    firsts = first_of_person(persons.starts[np.append(lengths <= FEW_ROWS, True)], few, values)
    own = persons.numbers[persons.order][is_large]
    by_sorting = first_by_sorting(own, units[is_large], values[is_large])
    for result, of_large in zip(firsts, by_sorting, strict=True):
        result[is_large] = of_large
    return firsts
