"""Groups of persons some of whom were in earlier releases: who stood together stays together, and others stand apart.

What can be told by subtracting one release from another is who left a group and who came into it. So nobody is put
into a group beside those who stood together before: newcomers, and those who come back or moved, get groups of their
own. Groups whose leavers are too alike join others, until all that can be told keeps every promise.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.generalize.mondrian import Judged
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Ids, distinct, examples
from manyveils.promises.keeping import Watch, kept_by_groups
from manyveils.promises.returning import Returning, returning_of
from manyveils.promises.work import Work
from manyveils.table import Table

Bools = NDArray[np.bool_]
# Groups of some persons, numbered from 0, -1 for who is left out, and how the method makes them.
Grouped = Callable[[Work], Ids]
# For so many groups at most others are sought one by one.
MOST_SOUGHT = 256
REMEDY = (
    "Publish again when more people have come or gone, raise suppression so that some can be held back, lower a "
    "threshold, or start a chain of its own for the people who stay."
)


@dataclass(frozen=True, repr=False)
class Cohorts:
    """How persons are put into groups beside earlier releases.

    `grouped` puts the persons of a table into groups as the method does without earlier releases; `judged` says which
    groups of persons keep every promise of their own, and `places` where persons stand, so that near groups are joined.
    """

    work: Work
    returning: Returning
    grouped: Grouped
    judged: Judged
    places: tuple[NDArray[np.float64], ...] = ()
    # A number for each group, the same for those that are published alike.
    alike: Callable[[Ids], Ids] = lambda groups: np.arange(int(groups.max(initial=-1)) + 1)

    def settled(self) -> Ids:
        """The group of every person; -1 for who is held back.

        Claim: all groups keep every promise, and so does what can be told of any person from all releases.
        Why: it ends only when nothing is found to be broken of the groups as they are given.
        Tested by: tests/claims/test_cohorts.py
        """
        groups = self._first()
        while True:
            groups = self._united(_numbered_anew(groups))
            broken, unsafe = self._broken(groups)
            if not broken.any():
                return groups
            held_back = self._held_back(groups, broken, unsafe)
            if held_back is not None:
                groups = np.where(held_back, -1, groups)
                continue
            company = self._company(groups, broken, unsafe)
            broken[groups[company]] = False
            if broken.any():
                groups = np.where(company, -1, self._joined(groups, broken, unsafe))
            else:
                groups = np.where(company, -1, groups)

    def _first(self) -> Ids:
        """Those who stood together, and the others by the method: newcomers, and those who come back or moved."""
        n_persons, last = self.returning.n_persons, self.returning.last_of
        stays = self._fits() & (last >= 0)
        groups = np.full(n_persons, -1, dtype=np.int64)
        groups[stays] = last[stays]
        n_groups = int(groups.max(initial=-1)) + 1
        was_seen = self.returning.was_seen
        for some, purpose in ((~stays & ~was_seen, "newcomers"), (~stays & was_seen, "returning")):
            if some.any():
                own = self._apart(np.flatnonzero(some), purpose)
                groups[some] = np.where(own < 0, -1, own + n_groups)
                n_groups = int(groups.max(initial=-1)) + 1
        return groups

    def _fits(self) -> Bools:
        """Who is still where her group is said to be."""
        earlier, fits = self.returning.earlier, np.ones(self.returning.n_persons, dtype=bool)
        if earlier.fits is not None:
            which = earlier.is_last & ~earlier.fits
            gone = earlier.persons[which]
            fits[gone[gone < fits.size]] = False
        return fits

    def _apart(self, persons: Ids, purpose: str) -> Ids:
        """Groups of some persons by themselves, as the method makes them; all in one where it cannot."""
        table, whole = some_persons(self.work.table, persons), self.work.table.whole
        of_all = {
            name: replace(one, of_all=self.work.table[name].counts) for name, one in table.attributes.items()
        }
        table = replace(table, attributes=of_all, reference=whole)
        large = Promise(KAnonymity(min(self._room_to_leave, persons.size)), self.work.quasi)
        work = replace(
            self.work,
            table=table,
            streams=self.work.streams.apart(purpose),
            counted=None,
            promises=(*self.work.promises, large),
        )
        try:
            groups = self.grouped(work)
        except InfeasibleError:
            return np.zeros(persons.size, dtype=np.int64)
        return groups

    @cached_property
    def _room_to_leave(self) -> int:
        """How large a group must be for as many to leave it until the next release as must differ, going by the last one."""
        earlier = self.returning.earlier
        n_before = int(np.count_nonzero(earlier.is_last))
        n_gone = int(np.count_nonzero(earlier.persons[earlier.is_last] >= self.returning.n_persons))
        owed = max((promise.guarantee.variety for promise in self.work.promises), default=1) + 1
        return max(owed * n_before // max(n_gone, 1), 1) if n_gone else 1

    def _united(self, groups: Ids) -> Ids:
        """The same with one number for groups that are published alike."""
        there = groups >= 0
        if not there.any():
            raise InfeasibleError([self._problem("nobody is left to be published.")])
        united = groups.copy()
        united[there] = self.alike(groups)[groups[there]]
        return united

    def _broken(self, groups: Ids) -> tuple[Bools, Bools]:
        """Which groups break a promise, of their own or beside earlier releases; and for whom one is broken."""
        n_groups = int(groups.max()) + 1
        fine = self.judged(groups, n_groups)
        there = np.flatnonzero(groups >= 0)
        verdict = self.returning.judged(self.returning.parted(there, groups[there], n_groups))
        return ~fine | verdict.broken, verdict.unsafe

    def _are_cohorts(self, groups: Ids) -> Bools:
        """Which groups have somebody who stood there before."""
        n_groups = int(groups.max()) + 1
        stood = (groups >= 0) & (self.returning.last_of >= 0) & self._fits()
        found: Bools = np.bincount(groups[stood], minlength=n_groups) > 0
        return found

    def _held_back(self, groups: Ids, broken: Bools, unsafe: Bools) -> Bools | None:
        """Who is held back: those for whom the last broken group of others would be; nobody if that were too many."""
        others = np.flatnonzero(broken & ~self._are_cohorts(groups))
        if others.size != 1:
            return None
        members = groups == others[0]
        unsafe = unsafe[: groups.size]
        # Only those go for whom something is broken, where it is; or else the whole group.
        going = members & unsafe if (members & unsafe).any() else members
        out: Bools = (groups < 0) | going
        return out if int(out.sum()) <= self.work.limit else None

    def _company(self, groups: Ids, broken: Bools, unsafe: Bools) -> Bools:
        """One of each large broken group who has a value that those who left want, to be held back along with them."""
        there = np.flatnonzero(groups >= 0)
        sizes = np.bincount(groups[there], minlength=broken.size)
        large = np.flatnonzero(broken & self._are_cohorts(groups) & (sizes > 2 * self._room_to_leave))
        chosen = np.zeros(groups.size, dtype=bool)
        if not large.size or large.size > MOST_SOUGHT:
            return chosen
        sorted_ = self.returning.parted(there, groups[there], broken.size)
        wanting, wanted = self.returning.wanted(sorted_, unsafe)
        offering, offered = self.returning.offered(sorted_)
        room = self.work.limit - int((groups < 0).sum())
        for own in large.tolist()[: max(room, 0)]:
            values, persons = np.unique(wanted[wanting == own], return_counts=True)
            new = ~np.isin(values, offered[offering == own])
            members = np.flatnonzero(groups == own)
            helps = self.returning.having(members, values[new], persons[new])
            if helps.size and helps.max() > 0:
                chosen[members[np.argmax(helps)]] = True
        return chosen

    def _joined(self, groups: Ids, broken: Bools, unsafe: Bools) -> Ids:
        """Broken groups joined with others of their kind: who stood together stays apart from who did not.

        Many are joined with each other, near ones first; for each of a few one is sought that helps.
        """
        cohorts, order = self._are_cohorts(groups), self._near(groups)
        into = np.arange(broken.size)
        for kind in (cohorts, ~cohorts):
            own = order[(broken & kind)[order]]
            if own.size > MOST_SOUGHT:
                pairs = own[: own.size // 2 * 2].reshape(-1, 2)
                into[pairs[:, 1]] = pairs[:, 0]
            elif own.size:
                self._seek(_Sought(groups, own, kind, order, unsafe), into)
        if (into == np.arange(broken.size)).all():
            raise InfeasibleError([self._problem(self._told(groups))])
        there = groups >= 0
        joined = groups.copy()
        joined[there] = into[groups[there]]
        return joined

    def _seek(self, sought: "_Sought", into: Ids) -> None:
        """For each of some groups the one it joins: whose leavers have most of the values that hers want, then the nearest."""
        groups, order = sought.groups, sought.order
        there = np.flatnonzero(groups >= 0)
        sorted_ = self.returning.parted(there, groups[there], into.size)
        wanting, wanted = self.returning.wanted(sorted_, sought.unsafe)
        offering, offered = self.returning.offered(sorted_)
        sizes, place = np.bincount(groups[there], minlength=into.size), np.argsort(order)
        is_free = np.ones(into.size, dtype=bool)
        for own in sought.broken[np.argsort(sizes[sought.broken], kind="stable")].tolist():
            if not is_free[own]:
                continue
            is_free[own] = False
            values, persons = np.unique(wanted[wanting == own], return_counts=True)
            first, last = np.searchsorted(offered, values), np.searchsorted(offered, values, side="right")
            lengths = last - first
            runs = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
            helps = np.bincount(offering[runs], np.repeat(persons, lengths), minlength=into.size)
            others = np.flatnonzero(is_free & sought.kind)
            others = others if others.size else np.flatnonzero(is_free)
            if others.size:
                far = np.abs(place[others] - place[own]) if self.places else sizes[others]
                chosen = others[np.lexsort((far, -helps[others]))[0]]
                into[own], is_free[chosen] = chosen, False

    def _near(self, groups: Ids) -> Ids:
        """All groups in an order in which near ones stand together."""
        n_groups = int(groups.max()) + 1
        if not self.places:
            order: Ids = np.arange(n_groups)
            return order
        there = groups >= 0
        sizes = np.maximum(np.bincount(groups[there], minlength=n_groups), 1)
        middles = np.stack(
            [np.bincount(groups[there], place[there], minlength=n_groups) / sizes for place in self.places]
        )
        return near_order(middles)

    def _problem(self, what: str) -> Problem:
        return Problem(f"{self.work.policy.name}: publish", what, REMEDY)

    def _told(self, groups: Ids) -> str:
        n_left = int((~np.isin(self.returning.last[0], np.flatnonzero(groups >= 0))).sum())
        return (
            "beside the earlier releases no grouping keeps every promise: what they tell together of "
            f"{n_left} persons who left and {int((~self.returning.was_seen).sum())} who came is too much, even in one "
            "group."
        )


@dataclass(frozen=True, repr=False)
class _Sought:
    """Broken groups of one kind, for each of which another one is sought to join; all groups in order of nearness."""

    groups: Ids
    broken: Ids
    kind: Bools
    order: Ids
    unsafe: Bools


def cohorts_of(
    work: Work,
    grouped: Grouped,
    watched: Callable[[Table], tuple[Watch, ...]],
    places: tuple[NDArray[np.float64], ...] = (),
    alike: Callable[[Ids], Ids] | None = None,
) -> Ids:
    """The group of every person beside earlier releases; -1 for who is held back."""
    returning = returning_of(work.policy, work.table, work.promises)
    assert returning is not None
    more = {} if alike is None else {"alike": alike}
    return Cohorts(work, returning, grouped, judge_of(watched, work.table), places, **more).settled()


def places_of(table: Table, names: tuple[str, ...], n_persons: int) -> tuple[NDArray[np.float64], ...]:
    """Where persons stand in each of some attributes: the rank of a value of theirs among all, from 0 to 1."""
    assert table.persons is not None
    rows = examples(table.persons, n_persons)
    places = []
    for name in names:
        counts = table[name].counts
        ranks = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
        places.append(ranks[table[name].codes[rows]])
    return tuple(places)


def near_order(middles: NDArray[np.float64]) -> Ids:
    """An order of points in which near ones stand together: halved again and again where they are spread most.

    >>> near_order(np.array([[0.0, 9.0, 1.0, 8.0]]))
    array([0, 2, 3, 1])
    """
    n = middles.shape[1]
    order, starts = np.arange(n), np.zeros(1, dtype=np.int64)
    while starts.size < n:
        stops = np.append(starts[1:], n)
        listed = middles[:, order]
        spread = np.maximum.reduceat(listed, starts, axis=1) - np.minimum.reduceat(listed, starts, axis=1)
        widest = np.repeat(np.argmax(spread, axis=0), stops - starts)
        part = np.repeat(np.arange(starts.size), stops - starts)
        order = order[np.lexsort((listed[widest, np.arange(n)], part))]
        starts = distinct(np.append(starts, (starts + stops) // 2))
    return order


def some_persons(table: Table, persons: Ids) -> Table:
    """The rows of some persons, who are numbered in their order."""
    assert table.persons is not None
    numbers = np.full(table.n_persons, -1, dtype=np.int64)
    numbers[persons] = np.arange(persons.size)
    rows = np.flatnonzero(numbers[table.persons] >= 0)
    part = table.taking(rows)
    whose = numbers[table.persons[rows]]
    is_plain = whose.size == persons.size and bool((whose == np.arange(whose.size)).all())
    return replace(part, persons=None if is_plain else whose, keys=None, earlier=None)


def judge_of(watched: Callable[[Table], tuple[Watch, ...]], table: Table) -> Judged:
    """What says which groups of persons keep every promise of their own; whoever has none is in no group.

    Where nobody has several rows, rows are counted, which is quicker.
    """
    persons = table.persons
    assert persons is not None
    if table.n_persons < table.n_rows:
        watches = watched(table)
        return lambda groups, n_groups: kept_by_groups(watches, groups[persons], n_groups)
    of_rows = watched(replace(table, persons=None))

    def judged(groups: Ids, n_groups: int) -> Bools:
        # Rows without a group are counted in one of their own, which is not judged.
        owners = np.where(groups < 0, n_groups, groups)[persons]
        return kept_by_groups(of_rows, owners, n_groups + 1)[:n_groups]

    return judged


def _numbered_anew(groups: Ids) -> Ids:
    present = np.bincount(groups + 1, minlength=1) > 0
    present[0] = False
    return np.where(groups < 0, -1, (np.cumsum(present) - 1)[groups + 1])
