"""Persons by the class and the end of their stints: those in one cell came and went together."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from manyveils.promises.entries import Ids, distinct
from manyveils.promises.sightings import alike_lists
from manyveils.promises.stints import OPEN
from manyveils.table.order import in_order


@dataclass(frozen=True, repr=False)
class Cells:
    """The class and the end of each cell, in order, and pairs of a person and a cell, by person."""

    entries: Ids
    ends: Ids
    persons: Ids
    listed: Ids
    n_all: int
    # What was found out, by what it is about.
    known: dict[int, Any] = field(default_factory=dict, compare=False)

    def known_by(self, values: Ids) -> "Cells":
        """The same with those persons only whose value is known."""
        known = values[self.persons] >= 0
        return (
            self
            if known.all()
            else Cells(self.entries, self.ends, self.persons[known], self.listed[known], self.n_all)
        )

    @cached_property
    def lists(self) -> tuple[Ids, Ids, int]:
        """The persons who are in any cell, and a number for each of them, the same for those in the same cells; and how many."""
        there = np.flatnonzero(np.diff(self.begins))
        if not there.size:
            return there, there, 0
        numbers, firsts = alike_lists(self.begins, self.listed, there)
        return there, numbers, firsts.size

    @cached_property
    def begins(self) -> Ids:
        """Where the cells of each person begin in the list, and the last ones end."""
        return np.append(0, np.cumsum(np.bincount(self.persons, minlength=self.n_all)))

    def of(self, person: int) -> Ids:
        """The cells of a person."""
        return self.listed[self.begins[person] : self.begins[person + 1]]

    @cached_property
    def _in_order(self) -> tuple[Ids, Ids]:
        """Persons who are in one cell only, cell after cell, and where those of each begin."""
        single = (np.diff(self.begins) == 1)[self.persons]
        listed = self.listed[single]
        return self.persons[single][in_order(listed)], self._starts(listed)

    def singles(self, cell: int) -> Ids:
        """The persons of a cell who are in no other."""
        persons, starts = self._in_order
        return persons[starts[cell] : starts[cell + 1]]

    def guests(self, cell: int) -> Ids:
        """The persons of a cell who are in others, too."""
        persons, starts = self._all_in_order
        return np.setdiff1d(persons[starts[cell] : starts[cell + 1]], self.singles(cell))

    @cached_property
    def _all_in_order(self) -> tuple[Ids, Ids]:
        """All persons cell after cell, and where those of each begin."""
        return self.persons[in_order(self.listed)], self._starts(self.listed)

    def _starts(self, listed: Ids) -> Ids:
        """Where those of each cell begin, and the last ones end."""
        return np.append(0, np.cumsum(np.bincount(listed, minlength=self.ends.size)))

    def of_class(self, entry: int) -> Ids:
        """The cells of a class."""
        return np.arange(*np.searchsorted(self.entries, [entry, entry + 1]))

    def going_on(self, entry: int) -> Ids:
        """Persons of a class who are in its groups still, and nowhere else."""
        own = self.of_class(entry)
        still = own[self.ends[own] % 3 == OPEN]
        return np.concatenate([np.zeros(0, dtype=np.int64), *map(self.singles, still.tolist())])

    @cached_property
    def classes(self) -> Ids:
        """The class of each cell, numbered from 0."""
        return np.cumsum(np.append(False, self.entries[1:] != self.entries[:-1]))

    @cached_property
    def numbered_ends(self) -> Ids:
        """The end of each cell, numbered from 0."""
        return np.searchsorted(distinct(self.ends), self.ends)

    @cached_property
    def by_end(self) -> tuple[Ids, Ids]:
        """Where the cells of each end begin, and the cells."""
        order = np.argsort(self.numbered_ends, kind="stable")
        return np.searchsorted(self.numbered_ends[order], np.arange(self.numbered_ends.max() + 2)), order

    @cached_property
    def class_starts(self) -> Ids:
        """Where the cells of each class begin, and the last ones end."""
        return np.searchsorted(self.classes, np.arange(self.classes[-1] + 2))
