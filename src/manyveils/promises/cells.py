"""Persons by the class and the end of their stints: those in one cell came and went together."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manyveils.promises.entries import Ids, distinct
from manyveils.promises.stints import OPEN


@dataclass(frozen=True, repr=False)
class Cells:
    """The class and the end of each cell, in order, and pairs of a person and a cell, by person."""

    entries: Ids
    ends: Ids
    persons: Ids
    listed: Ids
    n_all: int

    def known_by(self, values: Ids) -> "Cells":
        """The same with those persons only whose value is known."""
        known = values[self.persons] >= 0
        return self if known.all() else replace(self, persons=self.persons[known], listed=self.listed[known])

    @cached_property
    def begins(self) -> Ids:
        """Where the cells of each person begin in the list, and the last ones end."""
        return np.searchsorted(self.persons, np.arange(self.n_all + 1))

    def of(self, person: int) -> Ids:
        """The cells of a person."""
        return self.listed[self.begins[person] : self.begins[person + 1]]

    @cached_property
    def _in_order(self) -> tuple[Ids, Ids]:
        """Persons who are in one cell only, cell after cell, and where those of each begin."""
        single = (np.diff(self.begins) == 1)[self.persons]
        order = np.argsort(self.listed[single], kind="stable")
        starts = np.searchsorted(self.listed[single][order], np.arange(self.ends.size + 1))
        return self.persons[single][order], starts

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
        order = np.argsort(self.listed, kind="stable")
        return self.persons[order], np.searchsorted(self.listed[order], np.arange(self.ends.size + 1))

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
