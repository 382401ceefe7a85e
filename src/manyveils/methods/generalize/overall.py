"""What is asked of all groups of a node together: people who know less than all quasi-identifiers, and the population."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from manyveils.kernels.grouping import number
from manyveils.kernels.persons import have_persons
from manyveils.methods.generalize.lattice import Counted
from manyveils.policy.guarantees import KeyAnonymity, MarketerRisk, PopulationSize
from manyveils.promises.crowds import Persons
from manyveils.promises.entries import Ids, Kept, dense
from manyveils.promises.work import Work
from manyveils.table import Attribute
from manyveils.table.population import Population


class Overall(Protocol):
    """Something that a group keeps or not by what else is published, and not by its own rows alone."""

    def kept(self, counted: Counted, stays: Kept) -> Kept:
        """Which groups keep it if only some stay."""

    def kept_by_persons(self, counted: Counted, owners: Ids, persons: Persons) -> Kept:
        """The same where persons have several rows; `owners` has the group of every row, person after person."""

    def within(self, part: slice) -> "Overall | None":
        """What it asks where only some neighbouring attributes are told and all others are at their tops."""


@dataclass(frozen=True)
class KeySizes:
    """Groups that are alike in some attributes have k rows or more together."""

    axes: tuple[int, ...]
    k: int

    def kept(self, counted: Counted, stays: Kept) -> Kept:
        """Which groups do, if only some stay."""
        alike, n_alike = self._alike(counted)
        together = np.bincount(alike, weights=counted.sizes * stays, minlength=n_alike)
        fine: Kept = together[alike] >= self.k
        return fine

    def kept_by_persons(self, counted: Counted, owners: Ids, persons: Persons) -> Kept:
        """The same where persons have several rows, and each counts once."""
        alike, n_alike = self._alike(counted)
        together = np.where(owners < 0, -1, alike[owners])
        fine: Kept = have_persons(persons.starts, together, np.ones(n_alike, dtype=bool), self.k)[alike]
        return fine

    def within(self, part: slice) -> "KeySizes | None":
        """The same of those of its attributes that are among them; nothing where none is."""
        told = tuple(axis - part.start for axis in self.axes if part.start <= axis < part.stop)
        return replace(self, axes=told) if told else None

    def _alike(self, counted: Counted) -> tuple[Ids, int]:
        """A number for groups that are alike in the attributes, and how many numbers there are."""
        labels = tuple(counted.labels[axis] for axis in self.axes)
        sizes = tuple(int(own.max(initial=0)) + 1 for own in labels)
        return dense(labels, sizes, counted.sizes.size)


@dataclass(frozen=True, repr=False)
class PopulationSizes:
    """Groups look like so many people of the population, or more."""

    columns: tuple[Attribute, ...]
    population: Population
    least: int
    _of_value: dict[tuple[int, int], Ids] = field(default_factory=dict)

    def kept(self, counted: Counted, stays: Kept) -> Kept:
        """Which groups do; who stays is of no matter."""
        fine: Kept = self.people(counted) >= self.least
        return fine

    def kept_by_persons(self, counted: Counted, owners: Ids, persons: Persons) -> Kept:
        """The same: it is the population that counts."""
        return self.kept(counted, np.ones(counted.sizes.size, dtype=bool))

    def within(self, part: slice) -> "PopulationSizes":
        """The same of some attributes."""
        return PopulationSizes(self.columns[part], self.population, self.least)

    def people(self, counted: Counted) -> Ids:
        """The people of the population who have the labels of each group."""
        own = [self._labels(axis, level) for axis, level in enumerate(counted.node)]
        known = np.logical_and.reduce([labels >= 0 for labels in own])
        # Numbered together with the groups, which come first.
        together = tuple(
            np.concatenate([groups.astype(np.int64), labels[known]])
            for groups, labels in zip(counted.labels, own, strict=True)
        )
        sizes = tuple(int(labels.max(initial=0)) + 1 for labels in together)
        n_groups = counted.sizes.size
        numbers, firsts = number(dense(together, sizes, together[0].size)[0])
        people = np.bincount(numbers[n_groups:], weights=self.population.counts[known], minlength=firsts.size)
        counts: Ids = people[numbers[:n_groups]].astype(np.int64)
        return counts

    def _labels(self, axis: int, level: int) -> Ids:
        """The label that each combination of the population has in the data; -1 where the data have none like it."""
        column = self.columns[axis]
        attribute = self.population.attributes[column.name]
        if (axis, level) not in self._of_value:
            theirs = {text: label for label, text in enumerate(column.levels[level].labels)}
            step = attribute.levels[level]
            meant = np.array([theirs.get(text, -1) for text in step.labels], dtype=np.int64)
            self._of_value[axis, level] = meant[step.label_of]
        return self._of_value[axis, level][attribute.codes]


@dataclass(frozen=True)
class MeanRisk:
    """The number of groups is at most a share of the people in them."""

    risk: Fraction

    def holds(self, sizes: Ids) -> bool:
        """Whether it is, of groups that have so many people left."""
        n_groups = int((sizes > 0).sum())
        return n_groups * self.risk.denominator <= int(sizes.sum()) * self.risk.numerator


def overall_of(work: Work) -> tuple[Work, tuple[Overall, ...], MeanRisk | None]:
    """What is asked of all groups together, and the work without it.

    Where somebody has several rows, groups are made so large that nobody's own chance is above the mean that is asked
    for. So are they where rows are elsewhere and only counted, since such releases may be judged part by part.
    """
    asked = tuple(_overall(work))
    takes_means = work.table.persons is None and work.counted is None
    kinds = (PopulationSize, KeyAnonymity, *([MarketerRisk] if takes_means else []))
    apart = [promise.guarantee for promise in work.promises if isinstance(promise.guarantee, kinds)]
    risks = [guarantee.risk for guarantee in apart if isinstance(guarantee, MarketerRisk)]
    rest = tuple(promise for promise in work.promises if not isinstance(promise.guarantee, kinds))
    return replace(work, promises=rest), asked, MeanRisk(min(risks)) if risks else None


def _overall(work: Work) -> Iterator[Overall]:
    columns = tuple(work.table[name] for name in work.quasi)
    for promise in work.promises:
        guarantee = promise.guarantee
        if isinstance(guarantee, KeyAnonymity):
            yield KeySizes(tuple(work.quasi.index(name) for name in guarantee.attributes), guarantee.k)
        elif isinstance(guarantee, PopulationSize):
            assert work.table.population is not None
            yield PopulationSizes(columns, work.table.population, guarantee.least_people)
