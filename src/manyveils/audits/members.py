"""The persons in the groups of a column: one line of each person in each group leads the others."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.reading.evidence import Evidence, Key
from manyveils.reading.keys import Bools, Ids, combined, ranges
from manyveils.reading.persons import persons_in
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table.attributes import in_order

# Rows of persons with so many are compared one by one; of others, they are sorted.
FEW_ROWS = 16


@dataclass(frozen=True, repr=False)
class Lines:
    """The lines of a column, person by person: `order` says which line of the column each is, `persons` whose.

    `places` counts the lines of a person from 0.
    """

    order: Ids
    persons: Ids
    places: Ids
    n_rows: Ids

    @cached_property
    def _steps(self) -> list[Ids]:
        """For each distance, the lines of persons with few rows that have a line of the same person so far before."""
        rows = np.flatnonzero((self.places > 0) & (self.n_rows[self.persons] <= FEW_ROWS))
        steps = []
        while rows.size:
            steps.append(rows)
            rows = rows[self.places[rows] > len(steps)]
        return steps

    @cached_property
    def _many(self) -> Ids:
        """The lines of persons with many rows."""
        return np.flatnonzero(self.n_rows[self.persons] > FEW_ROWS)

    def leaders(self, numbers: Ids) -> Ids:
        """The first line of the same person with the same number, for a number per line."""
        leaders = np.arange(numbers.size)
        for distance, rows in enumerate(self._steps, start=1):
            same = rows[numbers[rows] == numbers[rows - distance]]
            leaders[same] = same - distance
        if self._many.size:
            keys = combined([self.persons[self._many], numbers[self._many]])
            _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
            leaders[self._many] = self._many[first[inverse]]
        return leaders


@dataclass(frozen=True, repr=False)
class Members:
    """The persons in the groups of one column: the group of each of its lines, person by person, and its leader."""

    lines: Lines
    groups: Ids
    leaders: Ids

    @cached_property
    def is_first(self) -> Bools:
        """Which lines lead the lines of their person in their group."""
        return self.leaders == np.arange(self.leaders.size)

    @cached_property
    def rows(self) -> Ids:
        """How many lines the person of each line has in its group."""
        return np.bincount(self.leaders, minlength=self.leaders.size)[self.leaders]

    @cached_property
    def sizes(self) -> Ids:
        """The persons of each group."""
        return np.bincount(self.groups[self.is_first])

    @property
    def pairs(self) -> tuple[Ids, Ids]:
        """Every person with every group she is in, person by person."""
        return self.lines.persons[self.is_first], self.groups[self.is_first]


def members_of(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Members | None:
    """The persons in the groups of a column; None where nobody can tell whose its lines are."""
    return evidence.remembered(("members", file.table, key, ()), lambda: _members(evidence, view, file, key))


def _members(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Members | None:
    lines = evidence.remembered(("lines", file.table, (), ()), lambda: _lines(evidence, view, file))
    if lines is None:
        return None
    groups = evidence.group_numbers(file, key)[lines.order]
    return Members(lines, groups, lines.leaders(groups) if key else np.arange(groups.size) - lines.places)


def _lines(evidence: Evidence, view: View, file: ColumnFile) -> Lines | None:
    persons = persons_in(evidence, view, file)
    if persons is None:
        return None
    order = in_order(persons)
    n_rows = np.bincount(persons, minlength=evidence.table.n_persons)
    return Lines(order, persons[order], ranges(np.zeros(n_rows.size, dtype=np.int64), n_rows), n_rows)
