"""Persons with several rows as units: their order by chance, and groups of whole persons mended until promises are kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.mondrian import Judged as Judged
from manyveils.promises.entries import Ids, examples, numbered
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import Watch
from manyveils.promises.work import Work, shuffled_rows
from manyveils.table import Attribute
from manyveils.table.order import in_order

Marks = NDArray[np.uint64]
# Rounds in which groups that are not kept join others before anybody is left out for them.
ROUNDS = 4


def persons_of(work: Work) -> Ids:
    """The person of each row, where somebody has several."""
    assert work.table.persons is not None
    return work.table.persons


def marks_of(persons: Ids, items: Ids, n_persons: int) -> Marks:
    """A number for the items of each person, however many and in whatever order they are listed.

    Persons with equal items, counted as often as they have them, have equal numbers; others do not but by a chance
    of one in 10^19.
    """
    by_person = in_order(persons)
    totals = np.append(np.zeros(1, dtype=np.uint64), np.cumsum(_mixed(items)[by_person]))
    lengths = np.bincount(persons, minlength=n_persons)
    stops = np.cumsum(lengths)
    marks: Marks = totals[stops] - totals[stops - lengths]
    return marks


def _mixed(items: Ids) -> Marks:
    """Numbers that look like chance, and are the same on any machine (splitmix64)."""
    mixed = (items.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def shuffled_persons(work: Work, purpose: str) -> Ids:
    """All persons in random order, which depends on the published values of their rows and the seed alone.

    Persons with equal rows are interchangeable, so sorting by rows and then shuffling places forgets the source.
    """
    rows, _ = numbered(work.table, work.published)
    order = np.argsort(marks_of(persons_of(work), rows, work.table.n_persons), kind="stable")
    shuffled: Ids = order[work.streams.of(purpose).permutation(order.size)]
    return shuffled


@dataclass(frozen=True, repr=False)
class Units:
    """Persons in random order, the person of each row, and a row that stands for each person, by chance."""

    order: Ids
    of_row: Ids
    row_of_each: Ids

    def standing(self, attribute: Attribute) -> Attribute:
        """The attribute of the rows that stand for persons."""
        return attribute.taking(self.row_of_each)


def units_of(work: Work, purpose: str) -> Units:
    """The persons of a table as what is put into groups, in place of rows."""
    persons, shuffled = persons_of(work), shuffled_rows(work, purpose)
    standing = shuffled[examples(persons[shuffled], work.table.n_persons)]
    return Units(shuffled_persons(work, f"{purpose}.order"), persons, standing)


def judge_of(watches: tuple[Watch, ...], persons: Ids) -> Judged:
    """What says of groups of whole persons which keep every promise; whoever has none is in no group."""
    return lambda groups, n_groups: kept_by_groups(watches, groups[persons], n_groups)


def mended(groups: Ids, judged: Judged, spare: int) -> Ids | None:
    """Groups of persons, numbered from 0, of which each is kept; nothing if even a single group is not.

    Persons without a group have -1. Groups that are not kept join ever more of those that are, or each other where they
    are too many. After some rounds up to `spare` persons of such groups are left out instead: whoever is left out takes
    all her rows along, so that joining costs less at first.

    Claim: every group was judged as it is given.
    Why: a group that others joined is judged again, and one that nobody joined has not changed.
    Tested by: tests/claims/test_persons_in_buckets.py
    """
    n_groups = int(groups.max(initial=-1)) + 1
    alive = np.arange(n_groups)
    broken, reach, n_rounds = _broken(alive, groups, n_groups, judged), 1, 0
    while broken.size and (n_rounds < ROUNDS or np.isin(groups, broken).sum() > spare):
        if alive.size == 1:
            break
        n_rounds += 1
        fine = np.setdiff1d(alive, broken, assume_unique=True)
        joined, roots = _joined(broken, fine, reach, n_groups)
        reach = 2 * reach if roots.size == broken.size else reach
        groups = np.where(groups < 0, -1, joined[groups])
        alive = np.unique(joined[alive])
        broken = _broken(roots, groups, n_groups, judged)
    if np.isin(groups, broken).sum() > spare:
        return None
    left = np.where(np.isin(groups, broken), -1, groups)
    numbers = np.cumsum(np.isin(np.arange(n_groups), left)) - 1
    return np.where(left < 0, -1, numbers[left]) if (left >= 0).any() else None


def _broken(some: Ids, groups: Ids, n_groups: int, judged: Judged) -> Ids:
    """Those of some groups that are not kept."""
    # The last number stands for persons without a group.
    numbers = np.full(n_groups + 1, -1, dtype=np.int64)
    numbers[some] = np.arange(some.size)
    return some[~judged(numbers[groups], some.size)] if some.size else some


def _joined(broken: Ids, fine: Ids, reach: int, n_groups: int) -> tuple[Ids, Ids]:
    """The group that each one joins, which may be itself, and those that others joined."""
    joined = np.arange(n_groups)
    n_taken = broken.size * reach
    if n_taken <= fine.size:
        # Taken from all over the list, since neighbours hold much the same.
        joined[fine[np.arange(n_taken) * fine.size // n_taken]] = np.tile(broken, reach)
        return joined, broken
    if broken.size == 1:
        joined[fine] = broken[0]
        return joined, broken
    half = broken.size // 2
    joined[broken] = broken[np.arange(broken.size) % half]
    return joined, broken[:half]
