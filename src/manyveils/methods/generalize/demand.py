"""What is asked of a node: which of its groups keep every promise, and what it costs to leave the others out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.methods.generalize.lattice import Counted, Lattice, Node
from manyveils.methods.generalize.objectives import Objective
from manyveils.promises.entries import Kept
from manyveils.promises.keeping import Watch, kept


@dataclass(frozen=True, order=True)
class Choice:
    """A node that keeps every promise; of several the smallest is best: the cheapest, with the fewest rows left out."""

    cost: float
    suppressed: int
    node: Node


@dataclass(frozen=True)
class Demand:
    """Promises to be kept at a node, with so many rows left out at most, and what is to be made small.

    Claim: rows that fail by `falling` fail at every finer node, and at every node of more attributes.
    Why: finer groups are parts of coarser ones. Without suppression all groups must be fine, and merging groups
    that keep such a promise gives one that keeps it; with suppression one good part heals the whole, so a group
    that is not fine has no fine part.
    Tested by: tests/claims/test_anytime.py
    """

    lattice: Lattice
    objective: Objective
    watches: tuple[Watch, ...]
    limit: int

    @cached_property
    def _falls(self) -> tuple[bool, ...]:
        if self.limit == 0:
            return tuple(watched.promise.merging_keeps for watched in self.watches)
        return tuple(watched.promise.one_part_heals for watched in self.watches)

    @property
    def all_fall(self) -> bool:
        """Whether every promise that is broken at a node is broken at every finer one."""
        return all(self._falls)

    @property
    def falling_watches(self) -> tuple[Watch, ...]:
        """The promises that `falling` looks at."""
        return tuple(watched for watched, falls in zip(self.watches, self._falls, strict=True) if falls)

    def falling(self, counted: Counted) -> Kept:
        """Which groups keep the promises that, once broken, stay broken at every finer node."""
        return self._kept_by(counted, falls=True)

    def choice(self, counted: Counted, falling: Kept) -> Choice | None:
        """The node as a choice, if it keeps every promise; `falling` is known already."""
        fine = falling if self.all_fall else falling & self._kept_by(counted, falls=False)
        suppressed = int(counted.sizes[~fine].sum())
        if suppressed > self.limit or suppressed >= self.lattice.n_rows:
            return None
        return Choice(self.objective.cost(counted, fine), suppressed, counted.node)

    def _kept_by(self, counted: Counted, *, falls: bool) -> Kept:
        fine = np.ones(counted.sizes.size, dtype=bool)
        for index, watched in enumerate(self.watches):
            if self._falls[index] == falls:
                entries = None if watched.subject is None else counted.entries[index]
                fine &= kept(watched, entries, counted.sizes)
        return fine
