"""Groups of rows beside earlier releases: those to be left out so that what all tell together keeps the promises."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.policy import Policy, Promise
from manyveils.promises.crowds import Persons, persons_of
from manyveils.promises.entries import Ids, Kept, distinct
from manyveils.promises.returning import Returning, returning_of
from manyveils.promises.stints import Exchanges, exchanges_of
from manyveils.table import Table


@dataclass(frozen=True, repr=False)
class Beside:
    """Promises about attributes that do not change, to persons some of whom were in earlier releases.

    `strictness` is that of exchanges.
    """

    persons: Persons
    exchanges: Exchanges
    returning: Returning
    strictness: int

    def unfit(self, owners: Ids, n_owners: int, room: int | None = None) -> Kept:
        """The groups of everybody for whom a promise is broken, or which followed those that she left.

        Owners of rows are listed person after person; a negative one is nowhere. `room` is for all that look for less.
        """
        whose = self.persons.numbers[self.persons.order]
        there = owners >= 0
        persons, groups = np.divmod(distinct(whose[there] * n_owners + owners[there]), max(n_owners, 1))
        own = persons, groups
        stints = self.exchanges.then(own, n_owners)
        lacking = self.exchanges.lacking(self.exchanges.laid_out(stints), self.strictness)
        unsafe: NDArray[np.bool_] = np.asarray(lacking.any(axis=0))
        parted = self.returning.parted(*own, n_owners)
        if self.returning.is_believed:
            unsafe |= self.returning.judged(parted).unsafe
        unfit: NDArray[np.bool_] = np.zeros(n_owners, dtype=bool)
        unfit[groups[unsafe[persons]]] = True
        here = np.zeros(unsafe.size, dtype=bool)
        here[persons] = True
        who, left = parted.left
        unfit[left[(unsafe & ~here)[who]]] = True
        if not unfit.any() and unsafe.any():
            # Nothing that is left out would help.
            unfit[:] = True
        return unfit


def beside_of(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> Beside:
    """What may not be told beside the earlier releases of a table."""
    table = table.of_persons()
    persons = persons_of(table)
    returning, exchanges = returning_of(policy, table, promises), exchanges_of(policy, table, promises)
    assert persons is not None
    assert returning is not None
    assert exchanges is not None
    return Beside(persons, exchanges, returning, strictness=1)
