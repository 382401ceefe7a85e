"""What is asked of a node: what must be left out so that every group keeps every promise, and what that costs."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from manyveils.methods.generalize.lattice import Counted, Lattice, Node
from manyveils.methods.generalize.leaving import Leaving, Lost
from manyveils.methods.generalize.objectives import Objective
from manyveils.promises.entries import Kept
from manyveils.promises.keeping import Watch, kept
from manyveils.promises.sightings import Told

if TYPE_CHECKING:
    from manyveils.methods.generalize.overall import MeanRisk, Overall


@dataclass(frozen=True, order=True)
class Choice:
    """A node that keeps every promise; of several the smallest is best: the cheapest, with the least left out."""

    cost: float
    suppressed: int
    node: Node


@dataclass(frozen=True)
class Demand:
    """Promises to be kept at a node, with so much left out at most, and what is to be made small.

    Rows are left out with their group; where somebody has several rows, persons with all of theirs.

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
    sightings: Told | None = None
    overall: "tuple[Overall, ...]" = ()
    mean_risk: "MeanRisk | None" = None

    @cached_property
    def _falls(self) -> tuple[bool, ...]:
        if self.limit == 0:
            return tuple(watched.merging_keeps for watched in self.watches)
        return tuple(watched.one_part_heals for watched in self.watches)

    @cached_property
    def _leaving(self) -> Leaving | None:
        """How persons leave, where somebody has several rows."""
        persons = self.lattice.persons
        if persons is None:
            return None
        about = self.limit, self.sightings, self.overall
        return Leaving(self.lattice, persons, self.watches, self._falls, *about)

    @property
    def all_fall(self) -> bool:
        """Whether every promise that is broken at a node is broken at every finer one."""
        return all(self._falls) and self.sightings is None

    @property
    def makes_fail(self) -> bool:
        """Whether rows can fail at all by promises that `falling` looks at."""
        return bool(self.falling_watches or self.overall)

    @property
    def falling_watches(self) -> tuple[Watch, ...]:
        """The promises that `falling` looks at."""
        return tuple(watched for watched, falls in zip(self.watches, self._falls, strict=True) if falls)

    def falling(self, counted: Counted) -> Lost:
        """What is lost by promises that, once broken, stay broken at every finer node.

        Beyond the limit it is not counted to the end.
        """
        if self._leaving is not None:
            return self._leaving.falling(counted)
        return _in_groups(counted, self._settled(counted, self._kept_by(counted, falls=True)))

    def choice(self, counted: Counted, falling: Lost) -> Choice | None:
        """The node as a choice, if it keeps every promise; what is lost by `falling` is known already."""
        lost = self.lost(counted, falling)
        if lost.n > self.limit or lost.n_rows >= self.lattice.n_rows:
            return None
        if self.mean_risk is not None and not self.mean_risk.holds(counted.sizes - lost.rows):
            return None
        return Choice(self.objective.cost(counted, lost.rows), lost.n, counted.node)

    def lost(self, counted: Counted, falling: Lost) -> Lost:
        """What must be left out of a node, beyond what is lost by `falling`, so that it keeps every promise."""
        if self.all_fall:
            return falling
        if self._leaving is not None:
            return falling if falling.n > self.limit else self._leaving.further(counted, falling)
        fine = (falling.rows == 0) & self._kept_by(counted, falls=False)
        return _in_groups(counted, self._settled(counted, fine))

    def gone_below(self, counted: Counted, falling: Lost) -> Kept:
        """The groups of the lattice's bottom that are lost as a whole at a node, and so at all finer ones."""
        if falling.owners is None:
            return np.asarray(falling.rows[self.lattice.owners(counted.node)] > 0)
        stays = self.lattice.bottom[falling.owners >= 0]
        return np.bincount(stays, minlength=self.lattice.base.sizes.size) == 0

    def _settled(self, counted: Counted, fine: Kept) -> Kept:
        """The groups that stay once those have gone that do not keep what is asked of all together.

        Claim: those who go by promises that fall go at every finer node too.
        Why: whoever can stay at a finer node can stay together with others of her coarser group, so the largest set of
        groups that can stay together grows on the way up; and groups that go by one promise can only take others along.
        Tested by: tests/claims/test_keys.py
        """
        while self.overall and fine.any():
            stays = fine & np.logical_and.reduce([asked.kept(counted, fine) for asked in self.overall])
            if (stays == fine).all():
                break
            fine = stays
        return fine

    def _kept_by(self, counted: Counted, *, falls: bool) -> Kept:
        fine = np.ones(counted.sizes.size, dtype=bool)
        for index, watched in enumerate(self.watches):
            if self._falls[index] == falls:
                entries = None if watched.subject is None else counted.entries[index]
                fine &= kept(watched, entries, counted.sizes)
        return fine


def _in_groups(counted: Counted, fine: Kept) -> Lost:
    """All rows of the groups that are not fine."""
    rows = np.where(fine, 0, counted.sizes)
    return Lost(int(rows.sum()), rows)
