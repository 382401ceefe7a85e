"""Who is to be left out of groups of rows so that what they tell beside earlier releases keeps the promises."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.policy import Policy, Promise
from manyveils.promises.company import Company
from manyveils.promises.crowds import Persons, persons_of
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.exchanges import Exchanges, exchanges_of
from manyveils.promises.parting import Parting
from manyveils.promises.returning import Returning, returning_of, share_promises
from manyveils.table import Table

Bools = NDArray[np.bool_]
# Of those who were there before, a larger share does not part by itself from release to release.
PARTED = 0.25


@dataclass(frozen=True, repr=False)
class Beside:
    """Promises about attributes that do not change, to persons some of whom were in earlier releases.

    `strictness` is that of exchanges.
    """

    persons: Persons
    exchanges: Exchanges
    returning: Returning | None
    strictness: int

    def going(self, owners: Ids, n_owners: int, room: int | None = None) -> Bools:
        """Persons to be left out next: those for whom a promise is broken, or the group that followed those that one left.

        Owners of rows are listed person after person; a negative one is nowhere. All are looked for, whatever room there is.
        """
        whose = self.persons.numbers[self.persons.order]
        there = owners >= 0
        persons, groups = np.divmod(distinct(whose[there] * n_owners + owners[there]), max(n_owners, 1))
        own = persons, groups
        here = np.zeros(self.exchanges.n_all, dtype=bool)
        here[persons] = True
        parted = self.exchanges.parted(own, n_owners)
        if self.is_parted_by(parted, here):
            return here[: self.persons.n]
        stints = self.exchanges.then(own, n_owners)
        cells = self.exchanges.laid_out(stints)
        lacking = self.exchanges.lacking(cells, self.strictness)
        unsafe: Bools = np.asarray(lacking.any(axis=0))
        if self.returning is not None:
            unsafe |= self.returning.judged(parted).unsafe
        if (unsafe & here).any():
            return (unsafe & here)[: self.persons.n]
        company = Company(self.exchanges, self.persons.n).of(cells, lacking)
        going = np.zeros(unsafe.size, dtype=bool)
        for some in company or ():
            going[some] = True
        if (going & here).any():
            return (going & here)[: self.persons.n]
        who, left = parted.left
        blamed = np.zeros(n_owners, dtype=bool)
        blamed[left[unsafe[who]]] = True
        # Where nothing that is left out would help, nobody may stay.
        going = here if unsafe.any() and not blamed.any() else np.zeros(unsafe.size, dtype=bool)
        going[persons[blamed[groups]]] = True
        return going[: self.persons.n]

    def is_parted_by(self, parted: Parting, here: Bools) -> bool:
        """Whether so many who stood together before are parted that it is not they who moved: groups were made finer.

        Whoever parts is alone with those who part with her, and once more when these meet again.
        """
        n_parted, n_stays = int(here[parted.left[0]].sum()), parted.stays[0].size
        return n_parted > PARTED * (n_parted + n_stays)


def beside_of(policy: Policy, table: Table, promises: tuple[Promise, ...], strictness: int) -> Beside:
    """What may not be told beside the earlier releases of a table; `strictness` is that of exchanges."""
    table = table.of_persons()
    persons = persons_of(table)
    of_shares, exchanges = share_promises(policy, table, promises), exchanges_of(policy, table, promises)
    returning = returning_of(policy, table, of_shares) if of_shares else None
    assert persons is not None
    assert exchanges is not None
    return Beside(persons, exchanges, returning, strictness)
