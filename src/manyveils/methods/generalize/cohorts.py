"""Mondrian beside earlier releases: who stood together stays together, and the others are cut into groups of their own."""

from functools import partial

import numpy as np

from manyveils.methods.generalize.cutting import Labels, cutting_of
from manyveils.methods.generalize.labels import alike, cut_table
from manyveils.methods.generalize.mondrian import partition
from manyveils.methods.nearness import places_of
from manyveils.methods.persons import judge_of, units_of
from manyveils.methods.returning import cohorts_of
from manyveils.promises.entries import Ids, dense
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work


def groups_beside(work: Work, labels: Labels, *, relaxed: bool) -> Ids:
    """The group of each row, which is that of its person; -1 where she is held back."""
    assert work.table.persons is not None
    groups = cohorts_of(
        work,
        lambda own, _: _cut(own, labels, relaxed=relaxed),
        lambda table: watch(work.promises, table, work.sensitive),
        lambda groups: _alike(work, groups, labels),
        places_of(work.table, work.quasi, work.table.n_persons),
    )
    return groups[work.table.persons]


def _alike(work: Work, groups: Ids, labels: Labels) -> Ids:
    """A number for each group of persons, the same for those that are published alike."""
    assert work.table.persons is not None
    n_groups = int(groups.max(initial=-1)) + 1
    # Who is held back stands aside, in a group that nobody asks about.
    of_row = np.where(groups < 0, n_groups, groups)[work.table.persons]
    numbers = alike(work, of_row, labels)[:n_groups]
    return dense((numbers,), (int(numbers.max(initial=-1)) + 1,), n_groups)[0]


def _cut(work: Work, labels: Labels, *, relaxed: bool) -> Ids:
    """Groups of whole persons by Mondrian, without regard to earlier releases."""
    if work.table.persons is None:
        return cut_table(work, work.with_room, work.sensitive, labels=labels, relaxed=relaxed)
    watches = watch(work.with_room, work.table, work.sensitive)
    people = units_of(work, "mondrian.persons")
    columns = tuple(people.standing(work.table[name]) for name in work.quasi)
    cutting = cutting_of(columns, tuple(map(work.n_leaves, work.quasi)), labels)
    judged, progress = judge_of(watches, people.of_row), partial(work.progress, "cutting")
    return partition(cutting, people.order, watches, relaxed=relaxed, progress=progress, judged=judged)
