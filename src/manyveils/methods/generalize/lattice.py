"""The lattice of generalization levels, and tables counted at its nodes."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number, roll_up
from manyveils.promises.entries import LARGEST_KEY, Entries, Ids, count, dense
from manyveils.promises.keeping import Watch
from manyveils.table import Table
from manyveils.table.attributes import Attribute
from manyveils.table.attributes import tally as people

Node = tuple[int, ...]
REMEMBERED = 64
FEW_CLASSES = 50_000
NEVER = np.iinfo(np.int64).max


class Counted:
    """The classes of one node: their labels, their sizes, and the counts that promises need.

    Entries are rolled up when they are asked for: many nodes are refused by their sizes alone.
    """

    def __init__(
        self,
        node: Node,
        labels: NDArray[np.int32],
        sizes: Ids,
        entries: Callable[[], tuple[Entries | None, ...]],
    ) -> None:
        self.node = node
        self.labels = labels
        self.sizes = sizes
        self._count = entries

    @cached_property
    def entries(self) -> tuple[Entries | None, ...]:
        """The counts of every promise's subject, class by class; what they were made from is let go."""
        found = self._count()
        del self._count
        return found


class Lattice:
    """Counts at any node, rolled up from the smallest finer node that is still remembered."""

    def __init__(self, columns: tuple[Attribute, ...], base: Counted) -> None:
        self.columns = columns
        self.shape = tuple(len(column.levels) for column in columns)
        self.base = base
        self.n_rows = int(base.sizes.sum())
        self._remembered: dict[Node, Counted] = {}
        self._tables = [base] * REMEMBERED
        self._sizes = np.full(REMEMBERED, base.sizes.size, dtype=np.int64)
        self._nodes = np.zeros((REMEMBERED, len(columns)), dtype=np.int16)
        self._next = 0
        self._climbs: dict[tuple[int, int, int], NDArray[np.int32]] = {}

    def at(self, node: Node) -> Counted:
        """Count the classes of a node."""
        if node in self._remembered:
            return self._remembered[node]
        counted, _ = self.roll(self._finer(node), node)
        self._remember(counted)
        return counted

    def _finer(self, node: Node) -> Counted:
        """The smallest remembered table that the node can be counted from."""
        below: NDArray[np.bool_] = np.all(
            self._nodes <= np.array(node, dtype=np.int16), axis=1, keepdims=False
        )
        best = int(np.argmin(np.where(below, self._sizes, NEVER)))
        return self._tables[best] if below[best] else self.base

    def _remember(self, counted: Counted) -> None:
        """Keep a table in the oldest slot; a large one counts for many, so that memory stays bounded."""
        slot = self._next
        self._next = (slot + 1) % REMEMBERED
        self._remembered.pop(self._tables[slot].node, None)
        n_base = self.base.sizes.size
        if counted.sizes.size > max(n_base // 8, min(n_base // 2, FEW_CLASSES)):
            # Hardly smaller than the table itself, or too large to be kept many times.
            self._tables[slot], self._sizes[slot] = self.base, self.base.sizes.size
            self._nodes[slot] = self.base.node
            return
        self._tables[slot], self._sizes[slot], self._nodes[slot] = counted, counted.sizes.size, counted.node
        self._remembered[counted.node] = counted

    def _climb(self, attribute: int, low: int, high: int) -> NDArray[np.int32]:
        key = attribute, low, high
        if key not in self._climbs:
            self._climbs[key] = self.columns[attribute].levels.climb(low, high)
        return self._climbs[key]

    def roll(self, finer: Counted, node: Node) -> tuple[Counted, Ids]:
        """Count a node from a finer one; also the new class of each of its classes."""
        if finer.node == node:
            return finer, np.arange(finer.sizes.size)
        steps = [
            self._climb(i, low, high) for i, (low, high) in enumerate(zip(finer.node, node, strict=True))
        ]
        radices = np.array(
            [self.columns[i].levels.sizes[level] for i, level in enumerate(node)], dtype=np.int64
        )
        if float(np.prod(radices.astype(float))) >= LARGEST_KEY:
            ids, labels, sizes = _roll_wide(finer, steps, radices)
        else:
            starts = np.cumsum([0, *(step.size for step in steps[:-1])])
            ids, labels, sizes = roll_up(finer.labels, np.concatenate(steps), starts, radices, finer.sizes)
        return Counted(node, labels, sizes, lambda: _rolled_entries(finer.entries, ids, sizes.size)), ids


def _rolled_entries(
    finer: tuple[Entries | None, ...], ids: Ids, n_classes: int
) -> tuple[Entries | None, ...]:
    """The entries of coarser classes; promises about one subject share theirs."""
    made: dict[int, Entries] = {}
    for each in finer:
        if each is not None and id(each) not in made:
            made[id(each)] = each.under(ids, n_classes)
    return tuple(None if each is None else made[id(each)] for each in finer)


def _roll_wide(
    finer: Counted, steps: list[NDArray[np.int32]], radices: Ids
) -> tuple[Ids, NDArray[np.int32], Ids]:
    """Roll up where combined labels do not fit one 64-bit number."""
    mapped = tuple(step[codes] for step, codes in zip(steps, finer.labels, strict=True))
    ids, n_ids = dense(mapped, tuple(int(radix) for radix in radices), finer.sizes.size)
    _, firsts = number(ids)
    order = np.argsort(ids[firsts])
    sizes = np.bincount(ids, weights=finer.sizes, minlength=n_ids).astype(np.int64)
    return ids, np.stack([column[firsts[order]] for column in mapped]).astype(np.int32), sizes


def count_base(
    columns: tuple[Attribute, ...], table: Table, watches: tuple[Watch, ...]
) -> tuple[Counted, Ids]:
    """Count the classes of the table as it is; also the class of every row."""
    names = tuple(column.name for column in columns)
    classes, n_classes = dense(table.codes(names), table.sizes(names), table.n_rows)
    _, firsts = number(classes)
    order = np.argsort(classes[firsts])
    labels = (
        np.stack([table[name].codes[firsts[order]] for name in names]).astype(np.int32)
        if columns
        else np.zeros((0, n_classes), dtype=np.int32)
    )
    # Level 0 has its own label numbers, in the order in which values appear.
    for place, column in enumerate(columns):
        labels[place] = column.levels[0].label_of[labels[place]]
    sizes = people(classes, table.weights, n_classes)
    found = {id(table): classes}
    return Counted(
        (0,) * len(columns), labels, sizes, lambda: _counts(watches, names, found, n_classes)
    ), classes


def _counts(
    watches: tuple[Watch, ...], names: tuple[str, ...], classes: dict[int, Ids], n_classes: int
) -> tuple[Entries | None, ...]:
    """Count every subject in its own table; the same combinations have the same numbers in all of them."""
    made: dict[int, Entries] = {}
    for each in watches:
        if each.subject is None or id(each.subject) in made:
            continue
        if id(each.table) not in classes:
            table = each.table
            classes[id(table)] = dense(table.codes(names), table.sizes(names), table.n_rows)[0]
        made[id(each.subject)] = count(each.subject, classes[id(each.table)], n_classes)
    return tuple(None if each.subject is None else made[id(each.subject)] for each in watches)
