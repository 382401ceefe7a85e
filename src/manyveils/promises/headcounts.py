"""Which groups keep promises where somebody has several rows: persons are counted only where a glance does not decide."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.persons import have_pairs, have_persons
from manyveils.policy.guarantees import DistinctDiversity, LeastSize
from manyveils.promises.crowds import Crowd, Persons, persons_of
from manyveils.promises.entries import Ids, Kept, Subject, distinct
from manyveils.promises.keeping import Watch, all_kept, count_for, kept
from manyveils.table.attributes import tally as people

# Pairs that a glance may remember, over all groups.
MOST_PAIRS = 1 << 25
# A glance at so few rows takes longer than counting their persons.
FEW_ROWS = 1 << 12


@dataclass(frozen=True, repr=False)
class Headcount:
    """Promises to persons about some rows, which are listed person after person; `starts` says where those of each begin.

    Owners of rows are listed in the same order, and a row with a negative owner is nowhere.
    """

    rows: Ids
    starts: Ids
    watches: tuple[Watch, ...]

    def among(self, which: NDArray[np.bool_]) -> "Headcount":
        """The same about some of the rows."""
        starts = np.append(0, np.cumsum(which))[self.starts]
        return Headcount(self.rows[which], distinct(starts), self.watches)

    def at(self, places: Ids) -> "Headcount":
        """The same about the rows at some places, which are in order."""
        whose = np.searchsorted(self.starts, places, side="right")
        starts = np.append(np.flatnonzero(np.diff(whose, prepend=-1)), places.size)
        return Headcount(self.rows[places], starts, self.watches)

    def of(self, watches: tuple[Watch, ...]) -> "Headcount":
        """Other promises about the same rows."""
        return Headcount(self.rows, self.starts, watches)

    @cached_property
    def k(self) -> int:
        """How many persons every group needs by k-anonymity."""
        return max((_k_of(watched) for watched in self.watches), default=0)

    @cached_property
    def stages(self) -> tuple["Headcount", ...]:
        """The same promises one subject after another, those that are decided soonest first."""
        about_rows = tuple(watched for watched in self.watches if _k_of(watched))
        parts = [about_rows] if about_rows else []
        parts += [watches for _, watches in self._by_subject]
        return tuple(map(self.of, parts))

    def kept(self, owners: Ids, n_owners: int, asked: Kept | None = None) -> Kept:
        """Which owners keep every promise; those that are not asked about are not looked at, and do.

        Claim: it is what counting all persons of all owners says.
        Why: an owner is decided without counting only if it has too few persons, or if so many persons with different
        values were met as are asked for; and owners share no row, so each can be counted by itself.
        Tested by: tests/claims/test_headcounts.py
        """
        asked = np.ones(n_owners, dtype=bool) if asked is None else asked
        fine = have_persons(self.starts, owners, asked, self.k) if self.k > 1 else asked.copy()
        for subject, watches in self._by_subject:
            seen = [self._at_a_glance(watched, owners, fine) for watched in watches]
            open_ = fine & ~np.logical_and.reduce(seen)
            if open_.any():
                fine[open_] = self._counted(subject, watches, owners, open_)
        return fine | ~asked

    @cached_property
    def _by_subject(self) -> tuple[tuple[Subject, tuple[Watch, ...]], ...]:
        subjects: dict[int, tuple[Subject, tuple[Watch, ...]]] = {}
        for watched in self.watches:
            if not _k_of(watched):
                assert watched.subject is not None
                _, others = subjects.get(id(watched.subject), (None, ()))
                subjects[id(watched.subject)] = watched.subject, (*others, watched)
        return tuple(subjects.values())

    def _at_a_glance(self, watched: Watch, owners: Ids, asked: Kept) -> Kept:
        """Owners among those that are asked about that surely keep a promise."""
        guarantee, subject = watched.promise.guarantee, watched.subject
        assert subject is not None
        is_plain = isinstance(guarantee, DistinctDiversity) and subject.n_known == 1 and subject.rows is None
        if not is_plain or owners.size <= FEW_ROWS or asked.size * guarantee.variety > MOST_PAIRS:
            return np.zeros(asked.size, dtype=bool)
        seen: Kept = have_pairs(self.starts, owners, self._codes(subject), asked, guarantee.variety)
        return seen

    def _codes(self, subject: Subject) -> Ids:
        """The codes of the rows."""
        if id(subject) not in self._of_subject:
            assert subject.persons is not None
            is_all = self.rows is subject.persons.order
            self._of_subject[id(subject)] = subject.codes_in_order if is_all else subject.codes[self.rows]
        return self._of_subject[id(subject)]

    @cached_property
    def _of_subject(self) -> dict[int, Ids]:
        return {}

    def _counted(self, subject: Subject, watches: tuple[Watch, ...], owners: Ids, open_: Kept) -> Kept:
        """Which of the open owners keep some promises about one subject."""
        numbers = np.where(open_, np.cumsum(open_) - 1, -1)
        crowd = self._crowd(subject, np.where(owners < 0, -1, numbers[owners]), int(numbers.max()) + 1)
        fine = np.ones(crowd.n_owners, dtype=bool)
        for watched in watches:
            # Sizes are those of the crowd.
            fine &= kept(watched, crowd, np.zeros(crowd.n_owners, dtype=np.int64))
        return fine

    def _crowd(self, subject: Subject, owners: Ids, n_owners: int) -> Crowd:
        there = np.flatnonzero(owners >= 0)
        assert subject.persons is not None
        if 2 * there.size > owners.size == subject.persons.numbers.size and subject.rows is None:
            return subject.crowd_in_order(owners, n_owners)
        return subject.of_rows(self.rows[there]).crowd(owners[there], n_owners)


def headcount(persons: Persons, watches: tuple[Watch, ...]) -> Headcount:
    """Promises to persons about all rows of their table."""
    return Headcount(persons.order, persons.starts, watches)


def kept_by_groups(
    watches: tuple[Watch, ...], groups: Ids, n_groups: int, weights: Ids | None = None
) -> Kept:
    """Which groups of rows keep every promise; a row stands for one person unless weights say for how many.

    Where somebody has several rows, persons are counted, and rows of negative groups are nowhere.
    """
    persons = persons_of(watches[0].table) if watches else None
    if persons is not None:
        return headcount(persons, watches).kept(groups[persons.order], n_groups)
    there = groups >= 0
    sizes = people(groups[there], None if weights is None else weights[there], n_groups)
    return all_kept(watches, count_for(watches, groups, n_groups), sizes)


def _k_of(watched: Watch) -> int:
    """How many persons a promise asks for and nothing else; 0 where it asks for more, or of parts of groups."""
    guarantee, subject = watched.promise.guarantee, watched.subject
    is_plain = isinstance(guarantee, LeastSize) and subject is not None and subject.n_known == 1
    return guarantee.least_rows if is_plain else 0
