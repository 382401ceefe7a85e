"""How many more values would have to be possible of persons: worked out once for all who are in the same cells and have one value."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.sightings import beliefs
from manyveils.kernels.stints import exchangeable
from manyveils.promises.cells import Cells
from manyveils.promises.entries import Ids, dense, distinct, examples
from manyveils.promises.sightings import SMALLEST, listed_of, normal
from manyveils.table.order import in_order

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
# Beliefs that are taken for as much as half of the doubt, since they are estimates.
NEARLY = 1.0


@dataclass(frozen=True, repr=False)
class Owed:
    """How many different labels of an attribute must be possible of everybody; persons whose value is not known have -1."""

    values: Ids
    labels: Ids
    wanted: int


@dataclass(frozen=True, repr=False)
class Asked:
    """Of which cells exchanges by way of other classes count, and for which; which are new.

    What is asked may be enough for `later` releases, too; or nobody be known well, so that values are even.
    """

    rings: Bools
    sources: Bools
    is_new: Bools
    later: bool
    is_even: bool


@dataclass(frozen=True, repr=False)
class Kinds:
    """Persons by the cells they are in and the value of one attribute, list after list of cells, values in order.

    `there` are the persons, `of_person` the kind of each; of each kind `lists` has the number of its list of cells, and
    `listed` where its cells begin, and the cells.
    """

    cells: Cells
    owed: Owed
    there: Ids
    of_person: Ids
    own: Ids
    lists: Ids
    listed: tuple[Ids, Ids]

    @property
    def n_values(self) -> int:
        """How many values the attribute has."""
        return self.owed.labels.size

    @cached_property
    def of_entries(self) -> Ids:
        """The kind of each cell that is listed."""
        return np.repeat(np.arange(self.own.size), np.diff(self.listed[0]))

    @cached_property
    def is_single(self) -> Bools:
        """Of which kinds persons are in one cell only."""
        return np.asarray(np.diff(self.listed[0]) == 1)

    @cached_property
    def list_starts(self) -> Ids:
        """Where the kinds of each list begin, and the last ones end."""
        return np.searchsorted(self.lists, np.arange(int(self.lists[-1]) + 2))

    @cached_property
    def of_singles(self) -> tuple[Ids, Ids]:
        """The values of those who are in one cell only: where those of each cell begin, and the values."""
        cells = self.listed[1][self.listed[0][:-1][self.is_single]]
        held_in, held = np.divmod(distinct(cells * self.n_values + self.own[self.is_single]), self.n_values)
        return np.searchsorted(held_in, np.arange(self.cells.ends.size + 1)), held

    @cached_property
    def of_guests(self) -> tuple[Ids, Ids, Ids]:
        """Kinds that are in several cells, by cell and value: where those of each begin, these in order, and the kinds."""
        is_guest = ~self.is_single[self.of_entries]
        guests = self.of_entries[is_guest]
        keys = self.listed[1][is_guest] * self.n_values + self.own[guests]
        order = in_order(keys)
        different = distinct(keys)
        return np.append(np.searchsorted(keys[order], different), keys.size), different, guests[order]

    @cached_property
    def counts(self) -> Ids:
        """How many persons are of each kind."""
        return np.bincount(self.of_person, minlength=self.own.size)

    @cached_property
    def prior(self) -> Floats:
        """The share of each value among all."""
        prior: Floats = np.bincount(self.own, self.counts, minlength=self.n_values) / self.counts.sum()
        return prior

    @cached_property
    def held(self) -> tuple[Ids, Ids, Floats]:
        """The values of all persons of each cell: where those of each begin, the values, and their shares."""
        both = self.listed[1], self.own[self.of_entries]
        numbers, n_held = dense(both, (self.cells.ends.size, self.n_values), self.of_entries.size)
        counts = np.bincount(numbers, self.counts[self.of_entries], minlength=n_held)
        some = examples(numbers, n_held)
        held_in = both[0][some]
        sizes = np.bincount(held_in, counts)
        begins = np.searchsorted(held_in, np.arange(sizes.size + 1))
        return begins, both[1][some], counts / sizes[held_in]


NO_GUESTS = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def kinds_of(cells: Cells, owed: Owed) -> Kinds:
    """The kinds of all persons who are in some cell and whose value is known; worked out once, however strictly is asked."""
    if id(owed) not in cells.known:
        cells.known[id(owed)] = _kinds(cells, owed)
    kinds: Kinds = cells.known[id(owed)]
    return kinds


def _kinds(cells: Cells, owed: Owed) -> Kinds:
    cells = cells.known_by(owed.values)
    there, lists, n_lists = cells.lists
    values = owed.values[there]
    of_person, n_kinds = dense((lists, values), (n_lists, owed.labels.size), there.size)
    example = examples(of_person, n_kinds)
    listed = listed_of(cells.begins, cells.listed, there[example])
    return Kinds(cells, owed, there, of_person, values[example], lists[example], listed)


def lacking(kinds: Kinds, asked: Asked) -> Ids:
    """How many more values of one attribute would have to be possible of each person."""
    missing_of_all = np.zeros(kinds.cells.n_all, dtype=np.int64)
    if not kinds.there.size:
        return missing_of_all
    cells, owed = kinds.cells, kinds.owed
    n_new = np.bincount(kinds.of_entries, asked.is_new[kinds.listed[1]], minlength=kinds.own.size)
    wanted = np.where((n_new > 0) & ~kinds.is_single & asked.later, owed.wanted + 1, owed.wanted)
    n_possible = exchangeable(
        *kinds.listed,
        kinds.own,
        kinds.lists,
        kinds.list_starts,
        kinds.own,
        cells.classes,
        cells.numbered_ends,
        cells.class_starts,
        *kinds.of_singles,
        *cells.by_end,
        *(NO_GUESTS if asked.later else kinds.of_guests),
        asked.rings,
        asked.sources,
        owed.labels,
        wanted,
    )
    missing = wanted - n_possible
    if asked.is_even:
        changed = np.flatnonzero(n_new)
        is_known = _known_well(kinds, changed)
        missing[changed[is_known]] = np.maximum(missing[changed[is_known]], 1)
    missing_of_all[kinds.there] = missing[kinds.of_person]
    return missing_of_all


def _known_well(kinds: Kinds, which: Ids) -> Bools:
    """Of which of some kinds of persons more than half of the doubt would go, if it were known what each cell has."""
    begins, held, shares = kinds.held
    prior, own = kinds.prior, kinds.own[which]
    is_first = np.diff(kinds.lists[which], prepend=-1) > 0
    listed = listed_of(*kinds.listed, which[is_first])
    nothing = np.zeros(prior.size)
    units, possible, logs = beliefs(*listed, begins, held, np.log(shares), nothing)
    n_others = (np.diff(listed[0]) - 1)[units]
    place = np.searchsorted(units * prior.size + possible, (np.cumsum(is_first) - 1) * prior.size + own)
    most = np.zeros(which.size)
    # Someone may take all values to be as likely as they are common, or all worlds to be as likely.
    for base in (np.log(np.maximum(prior, SMALLEST)), nothing):
        believed = normal(units, logs - n_others * base[possible], int(is_first.sum()))
        most = np.maximum(most, believed[place])
    return np.asarray(2 * most > NEARLY * (1 + prior[own]))
