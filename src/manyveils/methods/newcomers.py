"""Groups of those who stand beside nobody from before: newcomers, and those who come back or move with some of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError
from manyveils.promises.entries import Ids
from manyveils.promises.exchanges import Exchanges
from manyveils.promises.work import Work
from manyveils.table import Table
from manyveils.threads import side_by_side

Bools = NDArray[np.bool_]
# The groups of the persons of a table as the method makes them, who are these of the whole; -1 for who is left out.
Grouped = Callable[[Work, Ids], Ids]
# Groups of those who come back are so many times as large as those of newcomers.
WIDER = 4


@dataclass(frozen=True, repr=False)
class Newcomers:
    """Persons who are put into groups as the method does without earlier releases."""

    work: Work
    exchanges: Exchanges
    grouped: Grouped
    # Groups that were made already, by how large they are and whose.
    made: dict[tuple[int, bytes], Ids] = field(default_factory=dict)

    def grouped_apart(self, fresh: Bools, room: int) -> Iterator[tuple[Ids, Ids]]:
        """Some of the persons, and their groups, numbered from 0; then others. Groups have so many persons at least."""
        return side_by_side(self._made, self._parts(fresh, room), fresh.size)

    def _made(self, part: tuple[Ids, int]) -> tuple[Ids, Ids]:
        persons, least = part
        asked = min(least, persons.size), persons.tobytes()
        if asked not in self.made:
            self.made[asked] = self._apart(persons, asked[0])
        return persons, self.made[asked]

    def _parts(self, fresh: Bools, room: int) -> Iterator[tuple[Ids, int]]:
        """Newcomers, and those who come back or move with some of them, and how large their groups are.

        Whoever was seen before is told from fewer the more groups she was in, so that hers are larger.
        """
        back, new = np.flatnonzero(fresh & self._was_seen), np.flatnonzero(fresh & ~self._was_seen)
        if back.size:
            order = self.work.streams.of("newcomers beside others").permutation(new)
            n_beside = min(max(2 * back.size, WIDER * room - back.size), new.size)
            n_beside = new.size if new.size - n_beside < room else n_beside
            yield np.sort(np.append(back, order[:n_beside])), WIDER * room
            new = np.sort(order[n_beside:])
        if new.size:
            yield new, room

    @cached_property
    def _was_seen(self) -> Bools:
        """Who of the table was in a group of an earlier release."""
        was_seen = np.zeros(self.exchanges.n_all, dtype=bool)
        was_seen[self.exchanges.past.every.persons] = True
        return was_seen[: self.work.table.n_persons]

    def _apart(self, persons: Ids, room: int) -> Ids:
        """Groups of some persons by themselves; all in one where the method cannot make any."""
        whole = self.work.table
        table = some_persons(whole, persons)
        of_all = {name: replace(one, of_all=whole[name].counts) for name, one in table.attributes.items()}
        work = replace(
            self.work,
            table=replace(table, attributes=of_all, reference=whole.whole),
            streams=self.work.streams.apart("beside earlier releases"),
            counted=None,
            room=room,
            leaves_nobody=True,
        )
        try:
            return self.grouped(work, persons)
        except InfeasibleError:
            return np.zeros(persons.size, dtype=np.int64)


def some_persons(table: Table, persons: Ids) -> Table:
    """The rows of some persons, who are numbered in their order."""
    assert table.persons is not None
    rows = rows_of(table, persons)
    numbers = np.full(table.n_persons, -1, dtype=np.int64)
    numbers[persons] = np.arange(persons.size)
    whose = numbers[table.persons[rows]]
    is_plain = whose.size == persons.size and bool((whose == np.arange(whose.size)).all())
    return replace(table.taking(rows), persons=None if is_plain else whose, keys=None, earlier=None)


def rows_of(table: Table, persons: Ids) -> Ids:
    """The rows of some persons."""
    assert table.persons is not None
    is_meant = np.zeros(table.n_persons, dtype=bool)
    is_meant[persons] = True
    return np.flatnonzero(is_meant[table.persons])
