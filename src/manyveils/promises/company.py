"""Who could be held back along with those who left a group too much alike, so that more stays possible of these."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.cells import Cells
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.exchanges import Exchanges
from manyveils.promises.stints import OPEN

Bools = NDArray[np.bool_]
NOBODY = np.zeros(0, dtype=np.int64)
# For so many persons at most company is sought, one after another.
MOST_SOUGHT = 256


@dataclass(frozen=True, repr=False)
class Company:
    """Persons of a table of so many who could exchange with those of whom too little is possible, if they left too."""

    exchanges: Exchanges
    n_persons: int

    def of(self, cells: Cells, lacking: Ids) -> list[Ids] | None:
        """Some persons for each of whom too little is possible, the fewest first; nothing where there are too many to tell.

        With whoever left now come some of her class, of values that she could have by all other groups she was in. If
        somebody came back without whom those who left before are too much alike, it is that one.
        """
        unsafe = np.flatnonzero(lacking.any(axis=0))
        if unsafe.size > MOST_SOUGHT:
            return None
        return sorted((self._of(cells, lacking, person) for person in unsafe.tolist()), key=len)

    def within(self, room: int, cells: Cells, lacking: Ids, going: Bools, gone: Bools) -> tuple[Bools, bool]:
        """Those who are going, and company for as many as there is room for, beside who is gone; and whether for all.

        Only some of those whom somebody wants as company are of no use to her.
        """
        company, is_enough = self.of(cells, lacking), True
        for some in company or ():
            more = going.copy()
            more[some] = True
            fits = int((more & ~gone).sum()) <= room
            going, is_enough = (more if fits else going), is_enough and fits
        return going & ~gone, is_enough and company is not None

    def _of(self, cells: Cells, lacking: Ids, person: int) -> Ids:
        """The same for one person."""
        own, chosen = cells.of(person), [NOBODY]
        ended = own[self._ended_now(cells, own)]
        for cell in ended.tolist():
            chosen += self._for(cells, lacking, person, cell)
        if not ended.size:
            back = self._back_from(cells, own)
            chosen += [back] if back.size else self._for_guests(cells, lacking, person)
        return distinct(np.concatenate(chosen))

    def _ended_now(self, cells: Cells, which: Ids) -> Bools:
        """Which of some cells are of those who left a group now."""
        ends = cells.ends[which]
        return (ends >= 3 * self.exchanges.past.n_groups) & (ends % 3 != OPEN)

    def _here(self, persons: Ids) -> Ids:
        """Those of some persons who are in the table."""
        return persons[persons < self.n_persons]

    def _for(self, cells: Cells, lacking: Ids, person: int, cell: int) -> list[Ids]:
        """Of every attribute those whom one who left wants as company."""
        company = []
        others = [other for other in cells.of(person).tolist() if other != cell]
        near = self._here(cells.going_on(int(cells.entries[cell])))
        for owed, n_lacking in zip(self.exchanges.owed, lacking[:, person].tolist(), strict=True):
            met = np.append(owed.values[cells.singles(cell)], owed.values[person])
            fits = ~np.isin(owed.values[near], met) & (owed.values[near] >= 0)
            for other in others:
                fits &= np.isin(owed.values[near], owed.values[cells.singles(other)])
            _, firsts = np.unique(owed.values[near[fits]], return_index=True)
            company.append(near[fits][np.sort(firsts)[:n_lacking]])
        return company

    def _back_from(self, cells: Cells, own: Ids) -> Ids:
        """Persons of some cells who come back now."""
        guests = np.concatenate([NOBODY, *map(cells.guests, own.tolist())])
        first = self.exchanges.past.n_groups
        came = np.array(
            [cells.entries[cells.of(guest)].max() >= first for guest in guests.tolist()], dtype=bool
        )
        return self._here(guests[came])

    def _for_guests(self, cells: Cells, lacking: Ids, person: int) -> list[Ids]:
        """Company for those who could have exchanged with one who left before, and have left now; or they themselves.

        A guest whose group was left by whoever had the other's value goes along with these.
        """
        company = []
        guests = np.concatenate([NOBODY, *map(cells.guests, cells.of(person).tolist())])
        for owed, n_lacking in zip(self.exchanges.owed, lacking[:, person].tolist(), strict=True):
            wanted = owed.values[person]
            for guest in guests.tolist() if n_lacking else ():
                own = cells.of(guest)
                for ended in own[self._ended_now(cells, own)].tolist():
                    near = self._here(cells.going_on(int(cells.entries[ended])))
                    company.append(near[owed.values[near] == wanted][:1])
                for going in own[cells.ends[own] % 3 == OPEN].tolist():
                    beside = cells.of_class(int(cells.entries[going]))
                    beside = beside[self._ended_now(cells, beside)]
                    gone = np.concatenate([NOBODY, *map(cells.singles, beside.tolist())])
                    if guest < self.n_persons and (owed.values[gone] == wanted).any():
                        company.append(np.array([guest]))
        return company
