"""The lattice of generalization levels: tables counted at its nodes, and the nodes that pass tests."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number, roll_up, smallest_below
from manyveils.promises.crowds import LARGEST_KEY, Crowd, persons_of
from manyveils.promises.entries import (
    Entries,
    Ids,
    Subject,
    count,
    dense,
    for_each_once,
    numbered,
)
from manyveils.promises.keeping import Watch
from manyveils.table import Table
from manyveils.table.attributes import Attribute
from manyveils.table.attributes import tally as people

Passed = NDArray[np.bool_]
Node = tuple[int, ...]
REMEMBERED = 512
# How many tables of the largest size that is kept fit the memory.
LARGE = 64
FEW_GROUPS = 50_000
NOWHERE = np.iinfo(np.int16).max


class Counted:
    """The groups of one node: their labels, their sizes, and the counts that promises need.

    Entries are rolled up when they are asked for: many nodes are refused by their sizes alone.
    """

    def __init__(
        self,
        node: Node,
        labels: NDArray[np.int32],
        sizes: Ids,
        entries: Callable[[], tuple[Entries | Crowd | None, ...]],
    ) -> None:
        self.node = node
        self.labels = labels
        self.sizes = sizes
        self._count = entries

    @cached_property
    def entries(self) -> tuple[Entries | Crowd | None, ...]:
        """The counts of every promise's subject, group by group; what they were made from is let go."""
        entries = self._count()
        del self._count
        return entries

    def anew(self, entries: Callable[[], tuple[Entries | Crowd | None, ...]]) -> "Counted":
        """The same groups, to be counted in another way and not yet counted."""
        return Counted(self.node, self.labels, self.sizes, entries)


class Lattice:
    """Counts at any node, rolled up from the smallest finer node that is still remembered.

    Persons who have several rows are counted from the rows each time, since their counts do not add up: what is
    remembered then are labels and sizes. `bottom` has the group of the lattice's bottom of every row, person after
    person.
    """

    def __init__(self, columns: tuple[Attribute, ...], base: Counted, table: Table, groups: Ids) -> None:
        self.columns = columns
        self.shape = tuple(len(column.levels) for column in columns)
        self.base = base
        self.n_rows = int(base.sizes.sum())
        self.persons = persons_of(table)
        self.bottom = groups if self.persons is None else groups[self.persons.order]
        self._latest: dict[Node, Ids] = {}
        self._memory = _Memory(base)
        self._maps = _Maps(columns)

    def at(self, node: Node) -> Counted:
        """Count the groups of a node."""
        counted = self._memory.get(node)
        if counted is None:
            counted = self.roll(self._memory.finer(node), node)
            self._memory.keep(counted)
        # What is remembered stays uncounted where counts take as much room as the rows.
        return counted if self.persons is None else counted.anew(lambda: self._from_rows(node))

    def subject_at(self, node: Node, number: int) -> Entries | Crowd | None:
        """The counts of one subject at a node; those of persons are counted from the rows for it alone."""
        counted = self.at(node)
        if self.persons is None:
            return counted.entries[number]
        return _lifted((self.base.entries[number],), self.owners(node), counted.sizes.size)[0]

    def steps(self, node: Node) -> list[Node]:
        """The nodes one level above, attribute by attribute."""
        return [
            (*node[:axis], level + 1, *node[axis + 1 :])
            for axis, level in enumerate(node)
            if level + 1 < self.shape[axis]
        ]

    def roll(self, finer: Counted, node: Node) -> Counted:
        """Count a node from a finer one."""
        if finer.node == node:
            return finer
        ids, labels, sizes = self._rolled(finer, node)
        if self.persons is not None:
            return Counted(node, labels, sizes, lambda: self._from_rows(node))
        return Counted(node, labels, sizes, lambda: _lifted(finer.entries, ids, sizes.size))

    def owners(self, node: Node) -> Ids:
        """The group of a node that each group of the bottom belongs to."""
        if node == self.base.node:
            return np.arange(self.base.sizes.size)
        return self._rolled(self.base, node)[0]

    def owners_of_rows(self, node: Node) -> Ids:
        """The group of a node that each row belongs to, person after person; those of the node asked last are at hand."""
        if node not in self._latest:
            self._latest = {node: self.owners(node)[self.bottom]}
        return self._latest[node]

    def _from_rows(self, node: Node) -> tuple[Entries | Crowd | None, ...]:
        ids = self.owners(node)
        return _lifted(self.base.entries, ids, int(ids.max(initial=-1)) + 1)

    def _rolled(self, finer: Counted, node: Node) -> tuple[Ids, NDArray[np.int32], Ids]:
        starts, radices = self._maps.starts(finer.node, node), self._maps.radices(node)
        if math.prod(radices) >= LARGEST_KEY:
            return _roll_wide(finer, self._maps.steps(finer.node, node), radices)
        labels_of = np.array(starts, dtype=np.int64), np.array(radices, dtype=np.int64)
        rolled: tuple[Ids, NDArray[np.int32], Ids] = roll_up(
            finer.labels, self._maps.joined, *labels_of, finer.sizes
        )
        return rolled


def _lifted(
    entries: tuple[Entries | Crowd | None, ...], ids: Ids, n: int
) -> tuple[Entries | Crowd | None, ...]:
    """The counts of every subject after groups became one another's."""
    listed: tuple[Any, ...] = entries
    return for_each_once(listed, lambda counted: counted.under(ids, n))


class _Memory:
    """Tables that were counted lately, as many as fit a number of groups, the oldest forgotten first."""

    def __init__(self, base: Counted) -> None:
        self._base = base
        self._n_base = base.sizes.size
        # Hardly smaller than the table itself, or too large to be kept many times.
        self._most_groups = max(self._n_base // 8, min(self._n_base // 2, FEW_GROUPS))
        self._room = LARGE * self._most_groups
        self._tables: dict[Node, Counted] = {}
        self._slots: list[Node] = [base.node] * REMEMBERED
        self._sizes = np.full(REMEMBERED, self._n_base, dtype=np.int64)
        self._nodes = np.full((REMEMBERED, len(base.node)), NOWHERE, dtype=np.int16)
        self._next = 0

    def get(self, node: Node) -> Counted | None:
        """The table of a node, if it is remembered."""
        return self._tables.get(node)

    def finer(self, node: Node) -> Counted:
        """The smallest remembered table that a node can be counted from."""
        best = smallest_below(self._nodes, self._sizes, np.array(node, dtype=np.int16))
        return self._base if best < 0 else self._tables.get(self._slots[best], self._base)

    def keep(self, counted: Counted) -> None:
        """Remember a table, unless it is large; the oldest make room."""
        if counted.sizes.size > self._most_groups:
            return
        slot = self._next
        self._forget(slot)
        self._room -= counted.sizes.size
        oldest = slot
        while self._room < 0:
            oldest = (oldest + 1) % REMEMBERED
            self._forget(oldest)
        self._tables[counted.node], self._slots[slot] = counted, counted.node
        self._sizes[slot], self._nodes[slot] = counted.sizes.size, counted.node
        self._next = (slot + 1) % REMEMBERED

    def _forget(self, slot: int) -> None:
        forgotten = self._tables.pop(self._slots[slot], None)
        if forgotten is not None:
            self._room += forgotten.sizes.size
            # Above every node, so that nothing is counted from it.
            self._nodes[slot] = NOWHERE


class _Maps:
    """How labels of every attribute climb from one level to another, one map after the other in one array."""

    def __init__(self, columns: tuple[Attribute, ...]) -> None:
        self._columns = columns
        self._sizes = [column.levels.sizes for column in columns]
        self._starts: dict[tuple[int, int, int], int] = {}
        self._filled = 0
        self.joined = np.empty(0, dtype=np.int32)

    def radices(self, node: Node) -> list[int]:
        """How many labels every attribute has at a node."""
        return [sizes[level] for sizes, level in zip(self._sizes, node, strict=True)]

    def starts(self, finer: Node, node: Node) -> list[int]:
        """Where the map of every attribute begins; negative where its level stays."""
        return [
            -1 if low == high else self._start(attribute, low, high)
            for attribute, (low, high) in enumerate(zip(finer, node, strict=True))
        ]

    def _start(self, attribute: int, low: int, high: int) -> int:
        start = self._starts.get((attribute, low, high))
        if start is None:
            climbed = self._columns[attribute].levels.climb(low, high)
            start, end = self._filled, self._filled + climbed.size
            if end > self.joined.size:
                self.joined = np.concatenate([self.joined, np.empty(end, dtype=np.int32)])
            self.joined[start:end] = climbed
            self._starts[attribute, low, high], self._filled = start, end
        return start

    def steps(self, finer: Node, node: Node) -> list[NDArray[np.int32]]:
        """The map of every attribute by itself."""
        return [
            column.levels.climb(low, high)
            for column, low, high in zip(self._columns, finer, node, strict=True)
        ]


def _roll_wide(
    finer: Counted, steps: list[NDArray[np.int32]], radices: list[int]
) -> tuple[Ids, NDArray[np.int32], Ids]:
    """Roll up where combined labels do not fit one 64-bit number."""
    mapped = tuple(step[codes] for step, codes in zip(steps, finer.labels, strict=True))
    # In the order in which they appear, as elsewhere, so that it is of no matter what a node is counted from.
    ids, firsts = number(dense(mapped, tuple(radices), finer.sizes.size)[0])
    sizes = np.bincount(ids, weights=finer.sizes, minlength=firsts.size).astype(np.int64)
    return ids, np.stack([column[firsts] for column in mapped]).astype(np.int32), sizes


def lattice_of(columns: tuple[Attribute, ...], table: Table, watches: tuple[Watch, ...]) -> Lattice:
    """The lattice of some attributes, with the groups of the table as it is counted at its bottom."""
    names = tuple(column.name for column in columns)
    groups, n_groups = numbered(table, names)
    _, firsts = number(groups)
    order = np.argsort(groups[firsts])
    labels = np.zeros((len(columns), n_groups), dtype=np.int32)
    for index, column in enumerate(columns):
        # Level 0 has its own label numbers, in the order in which values appear.
        labels[index] = column.levels[0].label_of[table[column.name].codes[firsts[order]]]
    sizes = people(groups, table.weights, n_groups)
    groups_of = {id(table): groups}
    entries = lambda: _counts(watches, names, groups_of, n_groups)  # noqa: E731
    return Lattice(columns, Counted((0,) * len(columns), labels, sizes, entries), table, groups)


def _counts(
    watches: tuple[Watch, ...], names: tuple[str, ...], groups_of: dict[int, Ids], n_groups: int
) -> tuple[Entries | Crowd | None, ...]:
    """Count every subject in its own table; the same combinations have the same numbers in all of them."""
    tables = {id(watched.subject): watched.table for watched in watches}

    def counted(subject: Subject) -> Entries | Crowd:
        table = tables[id(subject)]
        if id(table) not in groups_of:
            groups_of[id(table)], _ = numbered(table, names)
        return count(subject, groups_of[id(table)], n_groups)

    return for_each_once([watched.subject for watched in watches], counted)
