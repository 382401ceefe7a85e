"""Which groups keep a promise: promises tied to the counts they need."""

from dataclasses import dataclass

import numpy as np

from manyveils.kernels.grouping import number
from manyveils.policy import Promise
from manyveils.policy.guarantees import Elimination, KAnonymity
from manyveils.promises.decisions import DECISIONS
from manyveils.promises.entries import (
    Entries,
    Ids,
    Kept,
    Known,
    Members,
    Subject,
    Tally,
    count,
    dense,
    for_each_once,
    members_of,
    subject_of,
)
from manyveils.promises.work import Work
from manyveils.table import Table
from manyveils.table.attributes import Attribute
from manyveils.table.attributes import tally as people


@dataclass(frozen=True)
class Watch:
    """A promise together with the counts it needs.

    Where the promise counts labels of a hierarchy, `subject` and `columns` hold them in place of values; a label is
    insensitive if all its values are.
    """

    promise: Promise
    subject: Subject | None
    is_sensitive: Kept
    columns: tuple[Attribute, ...]
    table: Table
    members: Members | None = None


def watch(
    promises: tuple[Promise, ...], table: Table, sensitive: tuple[str, ...], *, beside: Known | None = None
) -> tuple[Watch, ...]:
    """Prepare promises for being decided on a table.

    `sensitive` are the columns published together with the protected ones, which conditional promises take as known.
    `beside` is what else is known of every row beyond its group, and splits the group for everyone.
    """
    subjects: dict[tuple[tuple[str, ...], bool, int], Subject] = {}
    watches = []
    for promise in promises:
        if not promise.protects and beside is None:
            watches.append(Watch(promise, None, np.ones(0, dtype=bool), (), table))
            continue
        names = (*promise.protects, *_ruled_out(promise, table, sensitive))
        key = names, promise.conditional, promise.guarantee.level
        if key not in subjects:
            others = _others(promise, table, sensitive)
            seen = table.at_level(names, promise.guarantee.level)
            subjects[key] = subject_of(names, seen, _known(table, others, beside))
        watches.append(_watch_one(promise, table, subjects[key], names))
    return tuple(watches)


def watch_counts(
    work: Work, promises: tuple[Promise, ...], sensitive: tuple[str, ...], by: tuple[str, ...] = ()
) -> tuple[Watch, ...]:
    """Prepare promises for being decided on what can be counted of their columns beside the columns `by`."""
    tables = [work.counts((*by, *needed(promise, work.table, sensitive))) for promise in promises]
    watches: dict[int, Watch] = {}
    for table in {id(table): table for table in tables}.values():
        numbers = [number for number, counted in enumerate(tables) if counted is table]
        # Promises decided on one table share their subjects.
        prepared = watch(tuple(promises[number] for number in numbers), table, sensitive)
        watches |= dict(zip(numbers, prepared, strict=True))
    return tuple(watches[number] for number in range(len(promises)))


def needed(promise: Promise, table: Table, sensitive: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that decide whether a promise is kept in a group."""
    others = _others(promise, table, sensitive)
    return (*promise.protects, *_ruled_out(promise, table, sensitive), *others)


def _others(promise: Promise, table: Table, sensitive: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that a conditional promise takes as known: all but those of the attributes it protects."""
    families = [names for names in table.derived.values() if set(names) & set(promise.protects)]
    own = {*promise.protects, *(name for names in families for name in names)}
    return tuple(name for name in sensitive if name not in own) if promise.conditional else ()


def _ruled_out(promise: Promise, table: Table, sensitive: tuple[str, ...]) -> tuple[str, ...]:
    """The columns beside the protected one whose values someone may rule out."""
    if not isinstance(promise.guarantee, Elimination):
        return ()
    return tuple(name for name in table.expand(promise.guarantee.ruled_out) if name in sensitive)


def _known(table: Table, names: tuple[str, ...], beside: Known | None) -> Known | None:
    if not names:
        return beside
    ids, n_ids = (np.zeros(table.n_rows, dtype=np.int64), 1) if beside is None else beside
    return dense((ids, *table.codes(names)), (n_ids, *table.sizes(names)), table.n_rows)


def _watch_one(promise: Promise, table: Table, subject: Subject, names: tuple[str, ...]) -> Watch:
    level = promise.guarantee.level
    columns = tuple(table[name].at_level(level) for name in names)
    members = members_of(subject, columns) if isinstance(promise.guarantee, Elimination) else None
    is_sensitive = np.ones(subject.n_values, dtype=bool)
    if len(promise.protects) == 1 and promise.insensitive:
        column = table[names[0]]
        is_sensitive = np.array([text not in promise.insensitive for text in column.texts])
        is_sensitive = column.labels_of(is_sensitive, level)
        is_sensitive = is_sensitive if members is None else is_sensitive[members[0]]
    return Watch(promise, subject, is_sensitive, columns, table, members)


def count_for(watches: tuple[Watch, ...], owners: Ids, n_owners: int) -> tuple[Entries | None, ...]:
    """Count every subject in the groups of the rows; promises about the same subject share the counts."""
    return for_each_once(
        [watched.subject for watched in watches], lambda subject: count(subject, owners, n_owners)
    )


def kept_by_groups(
    watches: tuple[Watch, ...], groups: Ids, n_groups: int, weights: Ids | None = None
) -> Kept:
    """Which groups of rows keep every promise; a row stands for one person unless weights say for how many."""
    return all_kept(watches, count_for(watches, groups, n_groups), people(groups, weights, n_groups))


def kept(watched: Watch, entries: Entries | None, sizes: Ids) -> Kept:
    """Which groups keep one promise."""
    guarantee = watched.promise.guarantee
    if entries is None:
        assert isinstance(guarantee, KAnonymity)
        return sizes >= guarantee.k
    tally, group_of = tallied(watched, entries, sizes)
    fine = DECISIONS[type(guarantee)](guarantee, tally)
    return fine if group_of is None else np.bincount(group_of[~fine], minlength=sizes.size) == 0


def tallied(watched: Watch, entries: Entries, sizes: Ids) -> tuple[Tally, Ids | None]:
    """The counts a promise is decided on; where more is known than the group, also the group of each part."""
    subject = watched.subject
    assert subject is not None
    owners, values, unit_sizes, group_of = entries.owners, entries.codes, sizes, None
    if subject.n_known > 1:
        values, known = np.divmod(entries.codes, subject.n_known)
        owners, firsts = number(entries.owners * subject.n_known + known)
        group_of = entries.owners[firsts]
        unit_sizes = np.bincount(owners, weights=entries.counts, minlength=len(firsts)).astype(np.int64)
    about = subject.reference, watched.is_sensitive, watched.columns, watched.members
    return Tally(owners, values, entries.counts, unit_sizes, *about), group_of


def all_kept(watches: tuple[Watch, ...], counted: tuple[Entries | None, ...], sizes: Ids) -> Kept:
    """Which groups keep every promise."""
    fine = np.ones(sizes.size, dtype=bool)
    for watched, entries in zip(watches, counted, strict=True):
        fine &= kept(watched, entries, sizes)
    return fine
