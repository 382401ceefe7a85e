"""The persons in the groups of a column: one line of each person in each group leads the others."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.compiling import kernel
from manyveils.reading.evidence import Evidence, Key
from manyveils.reading.keys import Bools, Ids, combined
from manyveils.reading.persons import persons_in
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table.order import in_order


@kernel
def first_alike(starts: Ids, numbers: Ids) -> Ids:
    """The first line of the same person with the same number; person p has the lines from `starts[p]` to `starts[p + 1]`."""
    first = np.full(numbers.max() + 1 if numbers.size else 0, -1)
    leaders = np.empty(numbers.size, np.int64)
    for person in range(starts.size - 1):
        start = starts[person]
        for line in range(start, starts[person + 1]):
            if first[numbers[line]] < start:
                first[numbers[line]] = line
            leaders[line] = first[numbers[line]]
    return leaders


@first_alike.of_few
def _by_sorting(starts: Ids, numbers: Ids) -> Ids:
    persons = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    _, first, own = np.unique(combined([persons, numbers]), return_index=True, return_inverse=True)
    leaders: Ids = first[own]
    return leaders


@dataclass(frozen=True, repr=False)
class Lines:
    """The lines of a column, person by person: `order` says which line of the column each is, `persons` whose.

    Person p has those from `starts[p]` to `starts[p + 1]`.
    """

    order: Ids
    persons: Ids
    starts: Ids

    def leaders(self, numbers: Ids) -> Ids:
        """The first line of the same person with the same number, for a number per line."""
        return first_alike(self.starts, numbers)


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
    return Members(lines, groups, lines.leaders(groups))


def _lines(evidence: Evidence, view: View, file: ColumnFile) -> Lines | None:
    persons = persons_in(evidence, view, file)
    if persons is None:
        return None
    order = in_order(persons)
    n_lines = np.bincount(persons, minlength=evidence.table.n_persons)
    return Lines(order, persons[order], np.append(0, np.cumsum(n_lines)))
