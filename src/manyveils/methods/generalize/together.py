"""What groups tell together: cuts are undone where groups that read alike, or in which one person is seen, break a promise."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.generalize.mondrian import Cuts
from manyveils.promises.crowds import Persons, persons_of
from manyveils.promises.entries import Ids, Kept
from manyveils.promises.headcounts import headcount
from manyveils.promises.keeping import Watch
from manyveils.promises.sightings import AllSightings

SEEN = "with all rows in one group, what several rows of one person tell of a constant attribute breaks a promise."
REMEDY = "Set conditional = false, lower a threshold, or use a method that keeps a person in one bucket (anatomize)."


@dataclass(frozen=True, repr=False)
class Together:
    """Promises to persons with several rows that every group keeps and some groups may break together.

    `alike` numbers groups of rows, those that are published alike with one number.
    """

    watches: tuple[Watch, ...]
    sightings: AllSightings | None
    alike: Callable[[Ids], Ids]

    def settled(self, groups: Ids, cuts: Cuts) -> Ids:
        """The groups after as many cuts were undone as needed, the last ones first.

        Claim: groups that read alike keep every promise as one, and so do the groups of each person together.
        Why: it ends only when nothing of either kind is broken; every group is one that was found to keep every promise
        before it was cut, and at last all rows are in one.
        Tested by: tests/claims/test_whole_persons.py
        """
        if self._persons is None or not (self._fragile or self.sightings):
            return groups
        undone = np.zeros(cuts.parents.size, dtype=bool)
        while True:
            parts, numbers = np.unique(cuts.without(undone), return_inverse=True)
            left: Ids = numbers[groups]
            broken = self._broken(left, self._persons)
            if not broken.any():
                return left
            if parts[broken].min() == 0:
                # Nothing is left to undo.
                raise InfeasibleError([Problem("guarantee", SEEN, REMEDY)])
            undone[cuts.parents[parts[broken]]] = True

    def _broken(self, groups: Ids, persons: Persons) -> Kept:
        """Groups that break something together with others."""
        number_of = self.alike(groups)
        owners, n_owners = number_of[groups[persons.order]], int(number_of.max()) + 1
        several = np.bincount(number_of) > 1
        if several.any() and self._fragile:
            fine = headcount(persons, self._fragile).kept(owners, n_owners, several)
            if not fine.all():
                return np.asarray(~fine[number_of])
        if self.sightings is None:
            return np.zeros(number_of.size, dtype=bool)
        return np.asarray(self.sightings.unfit(owners, n_owners)[number_of])

    @cached_property
    def _persons(self) -> Persons | None:
        return persons_of(self.watches[0].table) if self.watches else None

    @cached_property
    def _fragile(self) -> tuple[Watch, ...]:
        """The promises that a union may break though all groups in it keep them."""
        return tuple(watched for watched in self.watches if not watched.merging_keeps)
