"""How long persons stood in groups from release to release, and what else could be true of those who came and went alike.

A stint is the time from when somebody comes into a group until she is no longer in the one that follows it. Those whose
stints begin in one group are of one class; those who left one group at once ended alike, and those who are in one now.
Whoever reads all releases knows how often each class has each value, and each end. What she reads stays true if two
persons exchange values who are in the same cells, of one class and one end; or four, of two classes and two ends.
So whoever could exchange hers for enough other values is certain to nobody.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number
from manyveils.kernels.sightings import beliefs
from manyveils.kernels.stints import exchangeable
from manyveils.policy import Policy, Promise
from manyveils.policy import guarantees as kinds
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.parting import Parting, parting
from manyveils.promises.sightings import SMALLEST, about_constants, alike_lists, listed_of, normal
from manyveils.table import Table
from manyveils.table.earlier import Earlier

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
A = TypeVar("A", Ids, int)
# Where a promise does not say how many values must be possible.
NEVER_CERTAIN = 2
# Beliefs that are taken for as much as half of the doubt, since they are estimates.
NEARLY = 1.0
# How much more may be asked than is promised.
STRICTEST = 2
# Of so many groups one will have to be mended once those who leave it are known.
FAILS = 1000
# How a stint ended: not at all, by leaving a group that goes on, or with the group.
OPEN, LEFT, VANISHED = range(3)


@dataclass(frozen=True, repr=False)
class Stints:
    """Stints of persons: the group in which each began, and how it ended; those that go on end in the group they are in."""

    persons: Ids
    entries: Ids
    ends: Ids

    def and_those(self, others: "Stints") -> "Stints":
        """These and others."""
        return Stints(*(np.append(own, more) for own, more in zip(self._all, others._all, strict=True)))

    def some(self, which: Bools) -> "Stints":
        """Only some of them."""
        return Stints(*(own[which] for own in self._all))

    @property
    def _all(self) -> tuple[Ids, Ids, Ids]:
        return self.persons, self.entries, self.ends


@dataclass(frozen=True, repr=False)
class Past:
    """The stints that are over, and those that go on, with the last group of each; groups of all releases are numbered through."""

    over: Stints
    going_on: Stints
    last_groups: Ids
    first: int
    n_groups: int

    def then(self, own: tuple[Ids, Ids], parted: Parting) -> "Past":
        """What they are after one more release; its groups are numbered after all others."""
        persons, groups = own
        following = parted.successors[self.last_groups]
        span = parted.n_groups + 1
        keys, wanted = persons * span + groups, self.going_on.persons * span + following
        place = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        stays = (following >= 0) & (keys[place] == wanted) if keys.size else np.zeros(wanted.size, dtype=bool)
        # Whose group nobody is in anymore ended with that.
        left = end_of(self.n_groups + following[~stays], LEFT)
        vanished = end_of(self.first + self.last_groups[~stays], VANISHED)
        ended = self.going_on.some(~stays)
        ended = Stints(ended.persons, ended.entries, np.where(following[~stays] >= 0, left, vanished))
        begins = np.ones(keys.size, dtype=bool)
        begins[place[stays]] = False
        last = np.append(following[stays], groups[begins])
        going_on = Stints(
            np.append(self.going_on.persons[stays], persons[begins]),
            np.append(self.going_on.entries[stays], self.n_groups + groups[begins]),
            end_of(self.n_groups + last, OPEN),
        )
        return Past(
            self.over.and_those(ended), going_on, last, self.n_groups, self.n_groups + parted.n_groups
        )

    @property
    def every(self) -> Stints:
        """All stints."""
        return self.over.and_those(self.going_on)


def end_of(groups: A, kind: int) -> A:
    """A number for how stints end: in a group, by leaving one that goes on without her, or with one."""
    return 3 * groups + kind


NONE = np.zeros(0, dtype=np.int64)
NO_PAST = Past(Stints(NONE, NONE, NONE), Stints(NONE, NONE, NONE), NONE, 0, 0)


@dataclass(frozen=True, repr=False)
class Owed:
    """How many different labels of an attribute must be possible of everybody; persons whose value is not known have -1."""

    values: Ids
    labels: Ids
    wanted: int


@dataclass(frozen=True, repr=False)
class Exchanges:
    """Promises that enough values of attributes that do not change stay possible, whatever is read from all releases.

    Claim: whoever is said to be safe has so many different values in worlds that agree with all releases.
    Why: classes and ends keep what they have where values are exchanged within a cell, or between two cells of a class
    and back between two of another with the same ends. Groups are made of classes and ends, so they keep it too; and
    whoever is in several cells exchanges in each of them, with persons who are in no other but for one.
    Tested by: tests/claims/test_stints.py
    """

    past: Past
    last: tuple[Ids, Ids]
    n_last: int
    n_all: int
    owed: tuple[Owed, ...]

    def parted(self, own: tuple[Ids, Ids], n_groups: int) -> Parting:
        """How persons are sorted now; each pair of a person and a group once, by person."""
        return parting(self.last, self.n_last, own, n_groups, self.n_all)

    def then(self, own: tuple[Ids, Ids], n_groups: int) -> Stints:
        """All stints once persons are sorted so; groups of this release are numbered after those of all earlier ones."""
        return self.past.then(own, self.parted(own, n_groups)).every

    def laid_out(self, stints: Stints) -> "Cells":
        """Who is in which cell."""
        span = int(stints.ends.max(initial=0)) + 1
        numbers = stints.entries * span + stints.ends
        cells = distinct(numbers)
        of_stint = np.searchsorted(cells, numbers)
        pairs = distinct(stints.persons * max(cells.size, 1) + of_stint)
        return Cells(*np.divmod(cells, span), *np.divmod(pairs, max(cells.size, 1)), self.n_all)

    def lacking(self, cells: "Cells", strictness: int = 0) -> Ids:
        """Of every attribute, how many more values would have to be possible of each person.

        What is possible now becomes less later. A strictness of 1 does not count exchanges by way of other classes where
        somebody leaves a class now, nor with guests, and wants one value more of who comes back, or leaves again. One of 2 also wants that
        nobody is known well.
        """
        lacking = np.zeros((len(self.owed), self.n_all), dtype=np.int64)
        if not cells.persons.size:
            return lacking
        is_open, is_old = cells.ends % 3 == OPEN, cells.ends < end_of(self.past.n_groups, 0)
        rings, sources = np.full(cells.ends.size, True), np.full(cells.ends.size, True)
        if strictness:
            rings, sources = is_open | is_old, is_old
        is_new = (strictness > 0) & ((cells.entries >= self.past.n_groups) | ~(is_open | is_old))
        asked = _Asked(rings, sources, is_new, strictness > 0, strictness == STRICTEST)
        for own, owed in zip(lacking, self.owed, strict=True):
            own[:] = _lacking(owed, cells.known_by(owed.values), asked)
        return lacking


@dataclass(frozen=True, repr=False)
class Cells:
    """The class and the end of each cell, in order, and pairs of a person and a cell, by person."""

    entries: Ids
    ends: Ids
    persons: Ids
    listed: Ids
    n_all: int

    def known_by(self, values: Ids) -> "Cells":
        """The same with those persons only whose value is known."""
        known = values[self.persons] >= 0
        return self if known.all() else replace(self, persons=self.persons[known], listed=self.listed[known])

    @cached_property
    def begins(self) -> Ids:
        """Where the cells of each person begin in the list, and the last ones end."""
        return np.searchsorted(self.persons, np.arange(self.n_all + 1))

    def of(self, person: int) -> Ids:
        """The cells of a person."""
        return self.listed[self.begins[person] : self.begins[person + 1]]

    @cached_property
    def _in_order(self) -> tuple[Ids, Ids]:
        """Persons who are in one cell only, cell after cell, and where those of each begin."""
        single = (np.diff(self.begins) == 1)[self.persons]
        order = np.argsort(self.listed[single], kind="stable")
        starts = np.searchsorted(self.listed[single][order], np.arange(self.ends.size + 1))
        return self.persons[single][order], starts

    def singles(self, cell: int) -> Ids:
        """The persons of a cell who are in no other."""
        persons, starts = self._in_order
        return persons[starts[cell] : starts[cell + 1]]

    def guests(self, cell: int) -> Ids:
        """The persons of a cell who are in others, too."""
        persons, starts = self._all_in_order
        return np.setdiff1d(persons[starts[cell] : starts[cell + 1]], self.singles(cell))

    @cached_property
    def _all_in_order(self) -> tuple[Ids, Ids]:
        """All persons cell after cell, and where those of each begin."""
        order = np.argsort(self.listed, kind="stable")
        return self.persons[order], np.searchsorted(self.listed[order], np.arange(self.ends.size + 1))

    def of_class(self, entry: int) -> Ids:
        """The cells of a class."""
        return np.arange(*np.searchsorted(self.entries, [entry, entry + 1]))

    def going_on(self, entry: int) -> Ids:
        """Persons of a class who are in its groups still, and nowhere else."""
        own = self.of_class(entry)
        still = own[self.ends[own] % 3 == OPEN]
        return np.concatenate([np.zeros(0, dtype=np.int64), *map(self.singles, still.tolist())])

    @cached_property
    def classes(self) -> Ids:
        """The class of each cell, numbered from 0."""
        return np.cumsum(np.append(False, self.entries[1:] != self.entries[:-1]))

    @cached_property
    def numbered_ends(self) -> Ids:
        """The end of each cell, numbered from 0."""
        return np.searchsorted(distinct(self.ends), self.ends)

    @cached_property
    def by_end(self) -> tuple[Ids, Ids]:
        """Where the cells of each end begin, and the cells."""
        order = np.argsort(self.numbered_ends, kind="stable")
        return np.searchsorted(self.numbered_ends[order], np.arange(self.numbered_ends.max() + 2)), order

    @cached_property
    def class_starts(self) -> Ids:
        """Where the cells of each class begin, and the last ones end."""
        return np.searchsorted(self.classes, np.arange(self.classes[-1] + 2))


@dataclass(frozen=True, repr=False)
class _Asked:
    """Of which cells exchanges by way of other classes count, and for which; which are new.

    Exchanges may count with persons `alone` who are in one cell only; or nobody be known well, so that values are even.
    """

    rings: Bools
    sources: Bools
    is_new: Bools
    alone: bool
    is_even: bool


def _lacking(owed: Owed, cells: Cells, asked: _Asked) -> Ids:
    """How many more values of one attribute would have to be possible of each person."""
    there = np.flatnonzero(np.diff(cells.begins))
    lists, _ = alike_lists(cells.begins, cells.listed, there)
    values, n_values = owed.values[there], owed.labels.size
    kind_of, example = number(lists * n_values + values)
    list_starts, cells_of_kinds = listed_of(cells.begins, cells.listed, there[example])
    own = values[example]
    # Values of those who are in one cell only.
    is_single = np.diff(list_starts) == 1
    singles = list_starts[:-1][is_single]
    entries = distinct(cells_of_kinds[singles] * n_values + own[is_single])
    held_in, held = np.divmod(entries, n_values)
    starts = np.searchsorted(held_in, np.arange(cells.ends.size + 1))
    kinds_of_entries = np.repeat(np.arange(own.size), np.diff(list_starts))
    is_guest = ~is_single[kinds_of_entries] & (not asked.alone)
    guests = kinds_of_entries[is_guest]
    guests_in = _listed(cells_of_kinds[is_guest] * n_values + own[guests], guests)
    n_new = np.bincount(kinds_of_entries, asked.is_new[cells_of_kinds], minlength=own.size)
    wanted = np.where((n_new > 0) & ~is_single, owed.wanted + 1, owed.wanted)
    n_possible = exchangeable(
        list_starts,
        cells_of_kinds,
        own,
        cells.classes,
        cells.numbered_ends,
        cells.class_starts,
        starts,
        held,
        *cells.by_end,
        *guests_in,
        asked.rings,
        asked.sources,
        owed.labels,
        wanted,
    )
    missing = wanted - n_possible
    if asked.is_even:
        changed = np.flatnonzero(n_new)
        n_of_kind = np.bincount(kind_of, minlength=own.size)
        every = list_starts, cells_of_kinds
        is_known = _known_well(_held_in(every, own, n_of_kind, n_values), every, lists[example], own, changed)
        missing[changed[is_known]] = np.maximum(missing[changed[is_known]], 1)
    lacking = np.zeros(cells.n_all, dtype=np.int64)
    lacking[there] = missing[kind_of]
    return lacking


def _held_in(
    lists: tuple[Ids, Ids], own: Ids, n_of_kind: Ids, n_values: int
) -> tuple[Ids, Ids, Floats, Floats]:
    """The values of all persons of each cell: where those of each begin, the values, their shares, and those among all."""
    kinds_of_entries = np.repeat(np.arange(own.size), np.diff(lists[0]))
    keys = lists[1] * n_values + own[kinds_of_entries]
    numbers, firsts = number(keys)
    counts = np.bincount(numbers, n_of_kind[kinds_of_entries], minlength=firsts.size)
    order = np.argsort(keys[firsts])
    held_in, held = np.divmod(keys[firsts][order], n_values)
    sizes = np.bincount(held_in, counts[order])
    begins = np.searchsorted(held_in, np.arange(sizes.size + 1))
    prior = np.bincount(own, n_of_kind, minlength=n_values) / n_of_kind.sum()
    return begins, held, counts[order] / sizes[held_in], prior


def _known_well(
    told: tuple[Ids, Ids, Floats, Floats], lists: tuple[Ids, Ids], list_of: Ids, own: Ids, which: Ids
) -> Bools:
    """Of which of some kinds of persons more than half of the doubt would go, if it were known what each cell has."""
    begins, held, shares, prior = told
    different, firsts, number_of = np.unique(list_of[which], return_index=True, return_inverse=True)
    listed = listed_of(*lists, which[firsts])
    wanted = number_of * prior.size + own[which]
    most = np.zeros(which.size)
    # Someone may take all values to be as likely as they are common, or all worlds to be as likely.
    for base in (np.log(np.maximum(prior, SMALLEST)), np.zeros(prior.size)):
        units, possible, logs = beliefs(*listed, begins, held, np.log(shares) - base[held], base)
        believed, keys = normal(units, logs, different.size), units * prior.size + possible
        place = np.searchsorted(keys, wanted)
        most = np.maximum(most, believed[place])
    return np.asarray(2 * most > NEARLY * (1 + prior[own[which]]))


def _listed(keys: Ids, items: Ids) -> tuple[Ids, Ids, Ids]:
    """Items by their keys: where those of each key begin, the keys in order, and the items."""
    order = np.argsort(keys, kind="stable")
    different = distinct(keys)
    starts = np.searchsorted(keys[order], different)
    return np.append(starts, keys.size), different, items[order]


def exchanges_of(policy: Policy, table: Table, promises: tuple[Promise, ...]) -> Exchanges | None:
    """What must stay possible of attributes that do not change beside earlier releases; nothing where there are none."""
    earlier = table.earlier
    if earlier is None:
        return None
    judged = about_constants(policy, table.of_persons(), promises)
    owed = tuple(
        dict.fromkeys((promise.protects[0], _wanted(promise), promise.guarantee.level) for promise in judged)
    )
    releases = Releases(earlier, {name for name, _, _ in owed})
    return Exchanges(
        releases.past,
        releases.last,
        releases.n_last,
        earlier.n_persons,
        tuple(_owed(table, earlier, *one) for one in owed),
    )


def n_differing(counts: Ids, wanted: int) -> int:
    """How many persons must leave together to have so many different values but once in FAILS, about.

    >>> n_differing(np.array([50, 30, 20]), 2)
    7
    """
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    if shares.size < wanted:
        return wanted
    n = wanted
    while _fewer(shares * n, wanted) > 1 / FAILS:
        n += 1 + n // 16
    return n


def _fewer(expected: NDArray[np.float64], wanted: int) -> float:
    """The chance that fewer values than wanted are there, each of which is expected so often."""
    chances = np.append(1.0, np.zeros(wanted - 1))
    for absent in np.exp(-expected).tolist():
        chances = chances * absent + np.append(0.0, chances[:-1]) * (1 - absent)
    return float(chances.sum())


def room_to_leave(policy: Policy, table: Table, promises: tuple[Promise, ...], share: float) -> int:
    """How large groups must be for those to differ who leave them, of everybody a share, where something is constant; or 1.

    They should have a value more than they need, since some of them will come back.

    A table may be too small for that: then there are four groups at least.
    """
    judged = about_constants(policy, table.of_persons(), promises)
    n_leaving = max(
        (n_differing(table[promise.protects[0]].counts, _wanted(promise) + 1) for promise in judged),
        default=0,
    )
    return max(min(math.ceil(n_leaving / share), table.n_persons // 4), 1) if share else 1


def _wanted(promise: Promise) -> int:
    """How many values must stay possible by a promise."""
    guarantee = promise.guarantee
    return (
        max(guarantee.variety, NEVER_CERTAIN)
        if isinstance(guarantee, kinds.DistinctDiversity)
        else NEVER_CERTAIN
    )


def _owed(table: Table, earlier: Earlier, name: str, wanted: int, level: int) -> Owed:
    column, n_values = table[name], earlier.held[name].n_values
    known = earlier.values.get(name)
    values = np.full(earlier.n_persons, -1) if known is None else known.copy()
    assert table.persons is not None
    values[table.persons] = column.codes
    labels = np.arange(n_values)
    if level:
        step = column.levels[min(level, column.levels.highest)]
        # A value that the table does not have anymore is taken for one of its labels, which says less of it.
        labels = np.append(step.label_of, np.zeros(n_values - column.n_values, dtype=np.int64)).astype(
            np.int64
        )
    return Owed(values, labels, wanted)


@dataclass(frozen=True, repr=False)
class Releases:
    """The groups in which earlier releases show some attributes, release by release."""

    earlier: Earlier
    names: set[str]

    @cached_property
    def _is_meant(self) -> Bools:
        """Which groups show the attributes."""
        earlier = self.earlier
        shows = np.zeros(earlier.n_groups, dtype=bool)
        for name in self.names:
            shows[earlier.held[name].groups] = True
        return shows & earlier.is_shown

    def _of(self, release: int) -> tuple[tuple[Ids, Ids], int, int]:
        """Pairs of a person and her group in one release, numbered from 0; how many groups, and the first one."""
        ids = np.flatnonzero(self._is_meant & (self.earlier.release_of == release))
        numbers = np.full(self.earlier.n_groups, -1, dtype=np.int64)
        numbers[ids] = np.arange(ids.size)
        own = numbers[self.earlier.groups]
        return (self.earlier.persons[own >= 0], own[own >= 0]), ids.size, int(ids[0]) if ids.size else 0

    @property
    def last(self) -> tuple[Ids, Ids]:
        """The groups of the last release."""
        return self._of(self.earlier.n_releases - 1)[0]

    @property
    def n_last(self) -> int:
        """How many groups the last release shows."""
        return self._of(self.earlier.n_releases - 1)[1]

    @cached_property
    def past(self) -> Past:
        """The stints of all persons up to the last release."""
        past, last, n_last = NO_PAST, (NONE, NONE), 0
        for release in range(self.earlier.n_releases):
            own, n_groups, _ = self._of(release)
            parted = parting(last, n_last, own, n_groups, self.earlier.n_persons)
            past = past.then(own, parted)
            last, n_last = own, n_groups
        return past
