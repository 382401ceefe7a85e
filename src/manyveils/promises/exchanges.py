"""What else could be true of persons who came and went: values that could be exchanged while every group keeps what it has.

Whoever reads all releases may know how often each class has each value, and each end of stints. What she reads stays true
if two persons exchange values who are in the same cells, of one class and one end, or several in a ring of classes of
two ends. So whoever could exchange hers for enough other values is certain to nobody.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.kernels.grouping import number
from manyveils.kernels.sightings import beliefs
from manyveils.kernels.stints import exchangeable
from manyveils.policy import Policy, Promise
from manyveils.policy import guarantees as kinds
from manyveils.promises.cells import Cells
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.parting import Parting, parting
from manyveils.promises.sightings import SMALLEST, about_constants, listed_of, normal
from manyveils.promises.stints import OPEN, Past, Releases, Stints, end_of
from manyveils.table import Table
from manyveils.table.earlier import Earlier

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
# Where a promise does not say how many values must be possible.
NEVER_CERTAIN = 2
# Beliefs that are taken for as much as half of the doubt, since they are estimates.
NEARLY = 1.0
# The share of persons expected to leave until the next release, where nothing is known of it.
LEAVING = 0.1
# How much more may be asked than is promised.
STRICTEST = 2
# Of so many groups one will have to be mended once those who leave it are known.
FAILS = 1000


@dataclass(frozen=True, repr=False)
class Owed:
    """How many different labels of an attribute must be possible of everybody; persons whose value is not known have -1."""

    values: Ids
    labels: Ids
    wanted: int


@dataclass(frozen=True, repr=False)
class Exchanges:
    """Promises that enough values of attributes that do not change stay possible, whatever is read from all releases.

    Claim: whoever lacks nothing has as many different values as are wanted in worlds that agree with all releases.
    Why: classes and ends keep what they have where values are exchanged within a cell, or between two cells of a class
    and back between two of another with the same ends. Groups are made of classes and ends, so they keep it too; and
    whoever is in several cells exchanges in each of them, with persons who are in no other but for one.
    Tested by: tests/claims/test_exchanges.py
    """

    past: Past
    last: tuple[Ids, Ids]
    n_last: int
    n_all: int
    owed: tuple[Owed, ...]
    # Of whom nobody knows who they are; and who of the table was held back last.
    nameless: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    held_back: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

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
        somebody leaves a class now, nor with guests, and wants one value more of who comes back, or leaves again. One of
        2 also wants that nobody is known well.
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
    there, lists = cells.lists
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
        *_by_list(lists[example], own),
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


def _by_list(list_of: Ids, own: Ids) -> tuple[Ids, Ids, Ids]:
    """The list of cells of each kind, numbered from 0, where the kinds of each list begin, and their values."""
    order = np.argsort(list_of, kind="stable")
    numbers = np.cumsum(np.append(False, np.diff(list_of[order]) != 0)) if order.size else order
    of_kind = np.empty_like(list_of)
    of_kind[order] = numbers
    starts = np.searchsorted(numbers, np.arange(int(numbers.max(initial=-1)) + 2))
    return of_kind, starts, own[order]


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
    _refuse_unfollowed(policy, judged, releases.n_apart)
    return Exchanges(
        releases.past,
        releases.last,
        releases.n_last,
        earlier.n_persons,
        tuple(_owed(policy, table, earlier, *one) for one in owed),
        earlier.hashes.is_null().to_numpy(),
        earlier.held_back,
    )


def _refuse_unfollowed(policy: Policy, judged: tuple[Promise, ...], n_apart: int) -> None:
    """Refuse what is not worked out over several releases: combinations, and persons in several groups of one release."""
    PolicyError.refuse(
        Problem(
            f"{policy.name}: guarantee.joint",
            f"{' and '.join(promise.protects)} are constant, and what several releases tell of a combination is not "
            "worked out.",
            "Drop it from joint.",
        )
        for promise in dict.fromkeys(judged)
        if len(promise.protects) > 1
    )
    if n_apart:
        what = f"{n_apart:,} persons stood in several groups of one earlier release, and nobody works out what that tells."
        remedy = "Begin the chain with a method that keeps all rows of a person in one group: anatomize, slice or separate."
        raise InfeasibleError([Problem(f"{policy.name}: publish.method", what, remedy)])


def n_differing(counts: Ids, wanted: int) -> int:
    """How many persons must leave together to have so many different values but once in FAILS, about.

    >>> n_differing(np.array([50, 30, 20]), 2)
    14
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


def _owed(policy: Policy, table: Table, earlier: Earlier, name: str, wanted: int, level: int) -> Owed:
    column, n_values = table[name], earlier.held[name].n_values
    known = earlier.values.get(name)
    values = np.full(earlier.n_persons, -1) if known is None else known.copy()
    assert table.persons is not None
    values[table.persons] = column.codes
    # Whose identity is missing may have been anybody, so that nothing is known of her.
    values[earlier.hashes.is_null().to_numpy()] = -1
    labels = np.arange(n_values)
    if level:
        step = column.levels[min(level, column.levels.highest)]
        above = {line[0]: line[min(level, len(line) - 1)] for line in policy.lines(name) or ()}
        numbers = {label or "": number for number, label in enumerate(step.labels)}
        gone = [numbers.get(above.get(text, "")) for text in earlier.held[name].more]
        if None in gone:
            what = f"{gone.count(None):,} values of earlier releases have no label in its hierarchy."
            raise PolicyError.at(f"{policy.name}: attributes.{name}.hierarchy", what, "Add them.")
        labels = np.append(step.label_of, np.array(gone, dtype=np.int64)).astype(np.int64)
    return Owed(values, labels, wanted)
