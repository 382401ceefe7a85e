"""Groups of persons some of whom were in earlier releases: who stood together stays together, and others stand apart.

What can be told by subtracting one release from another is who left a group and who came into it. So nobody is put
into a group beside those who stood together before. Newcomers, and those who come back or moved, get groups of their
own, large enough that those who leave them will differ. Where those who leave a group differ too little, some who would
have stayed, or all, go to the newcomers' groups with them: nobody can tell then which of them has what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.generalize.mondrian import Judged
from manyveils.methods.judging import Watched, judge_of
from manyveils.methods.nearness import Place, far_off, near_order, with_near
from manyveils.methods.newcomers import Grouped, Newcomers
from manyveils.promises.cells import Cells
from manyveils.promises.company import Company
from manyveils.promises.entries import Ids, dense, distinct, examples
from manyveils.promises.exchanges import LEAVING, STRICTEST, Exchanges, exchanges_of, room_to_leave
from manyveils.promises.returning import Returning, returning_of, share_promises
from manyveils.promises.stints import LEFT, OPEN, VANISHED, Stints
from manyveils.promises.work import Work
from manyveils.wording import counted

Bools = NDArray[np.bool_]
# Rounds at most, and those in which more is asked for than is promised.
ROUNDS, FEW_ROUNDS = 60, 4
REMEDY = (
    "Raise suppression so that more can be held back, publish when more people have come, lower a threshold, or let "
    "the first release of a chain have larger groups (k)."
)


@dataclass(frozen=True, repr=False)
class Cohorts:
    """How persons are put into groups beside earlier releases.

    `newcomers` have groups as the method makes them without earlier releases; `judged` says which groups of persons keep
    every promise of their own, and `alike` numbers groups of persons as they are published.
    """

    work: Work
    exchanges: Exchanges
    returning: Returning | None
    newcomers: Newcomers
    judged: Judged
    alike: Callable[[Ids], Ids]
    # Where each person stands in each quasi-identifier, from 0 to 1; none where that is no matter.
    places: tuple[Place, ...] = ()
    # Whether groups are told apart by where persons stand, so that whoever moves must leave hers.
    is_told_apart: bool = True

    def settled(self) -> Ids:
        """The group of every person; -1 for who is held back.

        Claim: all groups keep every promise, and so does what can be told of anybody from all releases.
        Why: it ends only when nothing is found to be broken of the groups as they are given.
        Tested by: tests/claims/test_cohorts.py
        """
        # Whose identity is missing may have been here before.
        nameless = self.exchanges.nameless[: self.n_persons].copy()
        if nameless.sum() > self.work.limit:
            raise InfeasibleError([self._problem(self._without_names(int(nameless.sum())))])
        state = _State(self._stays.copy(), nameless, np.arange(self.exchanges.n_last), self._room_to_leave)
        settled: Ids | None = None
        found: _Found | None = None
        groups = self._groups(state)
        told = self._told(groups)
        if self._found(told, STRICTEST) is None:
            return groups
        for strictness in range(STRICTEST + 1):
            for _ in range(FEW_ROUNDS if strictness else ROUNDS):
                found = self._found(told, strictness)
                if found is None:
                    break
                try:
                    self._change(state, groups, found, strictness)
                except InfeasibleError:
                    if not strictness:
                        raise
                    break
                groups = self._groups(state)
                told = self._told(groups)
            # Whatever more was asked for, what is promised must hold.
            if settled is not groups and (found is None or self._found(told, 0) is None):
                settled = groups
        if settled is None:
            raise InfeasibleError([self._problem(f"something is still broken after {ROUNDS} rounds.")])
        return settled

    @cached_property
    def company(self) -> Company:
        """Who could be held back along with those who left."""
        return Company(self.exchanges, self.n_persons)

    @property
    def n_persons(self) -> int:
        """How many persons the table has."""
        return self.work.table.n_persons

    @cached_property
    def _last_of(self) -> Ids:
        """The last group of each person, one of them if there were several; -1 where there was none."""
        groups = np.full(self.exchanges.n_all, -1, dtype=np.int64)
        persons, last = self.exchanges.last
        groups[persons[::-1]] = last[::-1]
        return groups[: self.n_persons]

    @cached_property
    def _stays(self) -> Bools:
        """Who stood in a group of the last release, and still stands near the others."""
        stays = self._last_of >= 0
        for place in self.places if self.is_told_apart else ():
            stays &= ~far_off(place, self._last_of, self.exchanges.n_last)
        return stays

    @cached_property
    def _room_to_leave(self) -> int:
        """How large new groups are: for the share that is said to leave, or else that has left those of the last release."""
        persons, _ = self.exchanges.last
        said = self.work.policy.publish.leaving
        n_gone = np.count_nonzero(persons >= self.n_persons) + np.count_nonzero(
            ~self._stays & (self._last_of >= 0)
        )
        share = (n_gone / max(persons.size, 1) or LEAVING) if said is None else float(said)
        return room_to_leave(self.work.policy, self.work.table, self.work.promises, share)

    def _groups(self, state: "_State") -> Ids:
        """The cohorts of those who stay, and groups of all others as the method makes them."""
        groups = np.where(state.stays & ~state.held_back, state.into[self._last_of], -1)
        for fresh, own in self.newcomers.grouped_apart(~state.stays & ~state.held_back, state.room):
            groups[fresh] = np.where(own < 0, -1, own + 1 + max(int(groups.max()), self.exchanges.n_last))
            if state.is_together:
                # Where they keep no promise of their own, they go to the largest cohort.
                stays = groups[state.stays & ~state.held_back]
                groups[fresh] = np.argmax(np.bincount(stays)) if stays.size else groups.max()
        there = groups >= 0
        if not there.any():
            raise InfeasibleError([self._problem("nobody is left to be published.")])
        groups[there] = dense((groups[there],), (int(groups.max()) + 1,), int(there.sum()))[0]
        groups[there] = self.alike(groups)[groups[there]]
        return groups

    def _told(self, groups: Ids) -> "_Told":
        """What groups tell, however strictly it is asked."""
        n_groups = int(groups.max()) + 1
        there = np.flatnonzero(groups >= 0)
        own = there, groups[there]
        stints = self.exchanges.then(own, n_groups)
        unsafe = np.zeros(self.exchanges.n_all, dtype=bool)
        if self.returning is not None:
            unsafe = self.returning.judged(self.exchanges.parted(own, n_groups)).unsafe
        return _Told(~self.judged(groups, n_groups), unsafe, stints, self.exchanges.laid_out(stints))

    def _found(self, told: "_Told", strictness: int) -> "_Found | None":
        """What is broken; nothing where all promises are kept."""
        lacking = self.exchanges.lacking(told.cells, strictness)
        unsafe: Bools = told.unsafe | lacking.any(axis=0)
        if not told.broken.any() and not unsafe.any():
            return None
        return _Found(told.broken, unsafe, lacking, told.stints, told.cells)

    def _change(self, state: "_State", groups: Ids, found: "_Found", strictness: int) -> None:
        """Join cohorts, give newcomers larger groups, or hold some persons back."""
        before = state.weight
        fresh = ~state.stays & ~state.held_back
        lost = fresh & found.unsafe[: self.n_persons]
        without = fresh & np.append(found.broken, False)[groups]
        room = self._room(state, strictness)
        going = lost if strictness else np.zeros_like(lost)
        going, is_little = self.company.within(room, found.cells, found.lacking, going, state.held_back)
        if is_little or strictness:
            lost = lost | going
        # Where cohorts are joined, exchanges by way of other classes become more, and shares more like those of all.
        is_share = bool((found.unsafe & ~found.lacking.any(axis=0)).any())
        is_enough = (is_little or strictness > 0) and not is_share
        blamed = self._blamed(found, (OPEN,) if is_enough else (OPEN, LEFT, VANISHED))
        self._join(state, np.append(blamed, False)[groups])
        if without.any() and state.weight == before:
            lost |= self._without_groups(state, without, room)
        if not lost.any() and state.weight == before:
            # Somebody came back without whom those who left are too much alike.
            lost = self._returners_of(found)
        if lost.any():
            self._hold_back(state, lost, room, is_asked=not strictness)
        if state.weight == before:
            raise InfeasibleError([self._problem(self._says(found))])

    def _without_groups(self, state: "_State", which: Bools, room: int) -> Bools:
        """Give larger groups to newcomers whose own keep no promise, or all one with a cohort; or who is held back instead."""
        n_fresh = int((~state.stays & ~state.held_back).sum())
        if which.sum() <= room:
            return which
        if 2 * state.room <= n_fresh:
            state.room *= 2
        elif not state.is_together:
            state.is_together = True
        else:
            return which
        return np.zeros_like(which)

    def _blamed(self, found: "_Found", kinds: tuple[int, ...]) -> Bools:
        """Groups that keep no promise of their own, or in which stints ended of persons of whom too little is possible."""
        blamed, stints = found.broken.copy(), found.stints
        ends = stints.ends[found.unsafe[stints.persons] & np.isin(stints.ends % 3, kinds)]
        own = ends // 3 - self.exchanges.past.n_groups
        blamed[own[own >= 0]] = True
        return blamed

    def _join(self, state: "_State", is_broken: Bools) -> None:
        """Join cohorts that keep no promise of their own with each other, near ones first, or one with the nearest."""
        stays = state.stays & ~state.held_back
        cohorts = state.into[self._last_of[stays]]
        numbers, n_present = dense((cohorts,), (self.exchanges.n_last,), cohorts.size)
        present = cohorts[examples(numbers, n_present)]
        broken = np.bincount(numbers, is_broken[stays], minlength=present.size) > 0
        if not broken.any():
            return
        if present.size == 1:
            # There are only the others to join it.
            state.is_together = True
            return
        sizes = np.bincount(numbers, minlength=present.size)
        own, heads = with_near(broken, self._near(stays, numbers, present.size), sizes)
        into = np.arange(self.exchanges.n_last)
        into[present[own]] = present[heads]
        state.into = into[state.into]

    def _near(self, stays: Bools, numbers: Ids, n: int) -> Ids:
        """All cohorts in an order in which near ones stand together."""
        if not self.places:
            return np.arange(n)
        persons = np.flatnonzero(stays)
        return near_order(np.stack([place.middles(numbers, persons, n) for place in self.places]))

    def _room(self, state: "_State", strictness: int) -> int:
        """How many more persons may be held back; for more than is promised, a quarter of them less."""
        return max(self.work.limit - int(state.held_back.sum()), 0)

    def _hold_back(self, state: "_State", which: Bools, room: int, *, is_asked: bool) -> None:
        """Hold some persons back, who were held back before last; only if there is room for all, where that is asked."""
        persons = np.flatnonzero(which & ~state.held_back)
        if is_asked and persons.size > room:
            raise InfeasibleError([self._problem(self._too_many(persons.size, room))])
        waited = np.isin(persons, self.exchanges.held_back)
        state.held_back[persons[np.argsort(waited, kind="stable")][:room]] = True

    def _returners_of(self, found: "_Found") -> Bools:
        """Persons who came back now, and once left together with somebody who is unsafe."""
        stints = found.stints
        cells = stints.entries * (int(stints.ends.max()) + 1) + stints.ends
        touched = np.isin(cells, cells[found.unsafe[stints.persons]])
        came = np.zeros(self.exchanges.n_all, dtype=bool)
        came[stints.persons[stints.entries >= self.exchanges.past.n_groups]] = True
        back = np.zeros(self.exchanges.n_all, dtype=bool)
        back[stints.persons[touched]] = True
        return (back & came)[: self.n_persons]

    def _problem(self, what: str) -> Problem:
        return Problem(f"{self.work.policy.name}: publish.suppression", what, REMEDY)

    def _without_names(self, n: int) -> str:
        return (
            f"{counted(n, 'person has', 'persons have')} no identity, so that nobody knows whether they were here before; they are held back, "
            f"{self.work.limit:,} at most."
        )

    def _too_many(self, n: int, room: int) -> str:
        return (
            f"{counted(n, 'more person', 'more persons')} would have to be held back, {room:,} at most: beside the earlier releases too "
            "little would stay possible of them."
        )

    def _says(self, found: "_Found") -> str:
        n_gone = int(found.unsafe[self.n_persons :].sum())
        return (
            f"beside the earlier releases too little would stay possible of {counted(int(found.unsafe.sum()), 'person')}, "
            f"{n_gone:,} of whom are gone."
        )


@dataclass(repr=False)
class _State:
    """Who stays in a cohort, who is held back, which cohorts were joined, and how large the groups of the others are at least.

    The others may also have to go all together to a cohort.
    """

    stays: Bools
    held_back: Bools
    # The last group that each last group was joined with.
    into: Ids
    room: int
    is_together: bool = False

    @property
    def weight(self) -> tuple[int, ...]:
        """What changes with every change."""
        n_cohorts = distinct(self.into).size
        return int(self.stays.sum()), int(self.held_back.sum()), n_cohorts, self.room, self.is_together


@dataclass(frozen=True, repr=False)
class _Told:
    """Groups that keep no promise of their own, for whom beliefs break one, and the stints and cells of all."""

    broken: Bools
    unsafe: Bools
    stints: Stints
    cells: Cells


@dataclass(frozen=True, repr=False)
class _Found:
    """Groups that keep no promise of their own, persons for whom one is broken, and the stints of all.

    `lacking` says of every attribute how many more values would have to be possible of each person.
    """

    broken: Bools
    unsafe: Bools
    lacking: Ids
    stints: Stints
    cells: Cells


def cohorts_of(
    work: Work,
    grouped: Grouped,
    watched: Watched,
    alike: Callable[[Ids], Ids] | None = None,
    places: tuple[Place, ...] = (),
    *,
    is_told_apart: bool = True,
) -> Ids:
    """The group of every person beside earlier releases; -1 for who is held back."""
    of_shares = share_promises(work.policy, work.table, work.promises)
    returning = returning_of(work.policy, work.table, of_shares) if of_shares else None
    exchanges = exchanges_of(work.policy, work.table, work.promises)
    assert exchanges is not None
    apart = alike or (lambda groups: np.arange(int(groups.max(initial=-1)) + 1))
    judged = judge_of(watched, work.table)
    newcomers = Newcomers(work, exchanges, grouped)
    return Cohorts(work, exchanges, returning, newcomers, judged, apart, places, is_told_apart).settled()
