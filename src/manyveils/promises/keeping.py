"""Which groups keep a promise: promises tied to the counts they need."""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.kernels.grouping import number
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    Elimination,
    FrequencyDiversity,
    LeastSize,
    Likeness,
    Linkability,
    SupersetCloseness,
)
from manyveils.promises.crowds import Crowd
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
    set_subject_of,
    subject_of,
)
from manyveils.promises.work import Work
from manyveils.table import Table
from manyveils.table.attributes import Attribute
from manyveils.table.attributes import tally as people

# A promise of these kinds about every value of a multi-valued attribute is decided from the values that people have.
ABOUT_SHARES = (
    FrequencyDiversity,
    CappedShare,
    Linkability,
    Likeness,
    Disclosure,
    Closeness,
    SupersetCloseness,
)
# Among them those that ask who has a value, and not how many of her rows do.
ABOUT_HOLDERS = (FrequencyDiversity, CappedShare, Linkability, Likeness)


@dataclass(frozen=True)
class Watch:
    """A promise together with the counts it needs; it may speak for the same one about every value of an attribute.

    Where the promise counts labels of a hierarchy, `subject` and `columns` hold them in place of values; a label is
    insensitive if all its values are.
    """

    promise: Promise
    subject: Subject | None
    is_sensitive: Kept
    columns: tuple[Attribute, ...]
    table: Table
    members: Members | None = None

    @property
    def counts_persons(self) -> bool:
        """Whether somebody has several rows, so that counts of persons do not add up."""
        return self.subject is not None and self.subject.persons is not None

    @property
    def merging_keeps(self) -> bool:
        """Whether two groups that keep the promise keep it as one."""
        return self.promise.merging_keeps and (not self.counts_persons or self.promise.guarantee.persons_add)

    @property
    def one_part_heals(self) -> bool:
        """Whether merging with one group that keeps the promise mends any group."""
        return self.promise.one_part_heals and (not self.counts_persons or self.promise.guarantee.persons_add)


def watch(
    promises: tuple[Promise, ...], table: Table, sensitive: tuple[str, ...], *, beside: Known | None = None
) -> tuple[Watch, ...]:
    """Prepare promises for being decided on a table; one watch speaks for all values of a multi-valued attribute.

    `sensitive` are the columns published together with the protected ones, which conditional promises take as known.
    `beside` is what else is known of every row beyond its group, and splits the group for everyone.

    Claim: groups keep all watches exactly if they keep all promises.
    Why: shares of a value are counted from the people who have it, and nobody is counted who has none.
    Tested by: tests/claims/test_many_values.py
    """
    families = _families(promises, table)
    subjects: dict[tuple[str, ...], Subject] = {}
    watches = []
    for family in families:
        if len(family) == 1:
            continue
        names = tuple(promise.protects[0] for promise in family)
        key = (*names, str(family[0].conditional))
        if key not in subjects:
            others = _others(family[0], table, sensitive)
            subjects[key] = set_subject_of(names, table, _known(table, others, beside))
        watches.append(_watch_set(family[0], table, subjects[key]))
    alone = tuple(family[0] for family in families if len(family) == 1)
    return (*watch_each(alone, table, sensitive, beside=beside), *watches)


def _families(promises: tuple[Promise, ...], table: Table) -> list[list[Promise]]:
    """Promises that differ in nothing but the value of a multi-valued attribute that they protect."""
    families: dict[object, list[Promise]] = {}
    for index, promise in enumerate(promises):
        is_one_value = len(promise.protects) == 1 and table.atom(promise.protects[0]) is not None
        if is_one_value and isinstance(promise.guarantee, _alike(table)) and promise.insensitive == {"0"}:
            alike: object = replace(promise, protects=(table.home(promise.protects[0]),))
        else:
            alike = index
        families.setdefault(alike, []).append(promise)
    return list(families.values())


def _alike(table: Table) -> tuple[type, ...]:
    """The kinds of promises that are decided for all values at once: of persons with several rows, those about shares."""
    return ABOUT_SHARES if table.persons is None else ABOUT_HOLDERS


def watch_each(
    promises: tuple[Promise, ...], table: Table, sensitive: tuple[str, ...], *, beside: Known | None = None
) -> tuple[Watch, ...]:
    """Prepare promises for being decided on a table, each by itself."""
    subjects: dict[tuple[tuple[str, ...], bool, int], Subject] = {}
    watches = []
    for promise in promises:
        if not promise.protects and beside is None and table.persons is None:
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
    decided_on = _decided_on(work, promises, sensitive, by)
    return tuple(watched for table, some in decided_on for watched in watch(some, table, sensitive))


def watch_each_count(
    work: Work, promises: tuple[Promise, ...], sensitive: tuple[str, ...], by: tuple[str, ...] = ()
) -> tuple[Watch, ...]:
    """The same with a watch for each promise, in their order."""
    decided_on = _decided_on(work, promises, sensitive, by)
    pairs = (
        pair
        for table, some in decided_on
        for pair in zip(some, watch_each(some, table, sensitive), strict=True)
    )
    watches = dict(pairs)
    return tuple(watches[promise] for promise in promises)


def _decided_on(
    work: Work, promises: tuple[Promise, ...], sensitive: tuple[str, ...], by: tuple[str, ...]
) -> list[tuple[Table, tuple[Promise, ...]]]:
    """The tables on which promises are decided; those decided on one table share their subjects."""
    tables = [work.counts((*by, *needed(promise, work.table, sensitive))) for promise in promises]
    alike: dict[int, list[int]] = {}
    for index, table in enumerate(tables):
        alike.setdefault(id(table), []).append(index)
    return [(tables[numbers[0]], tuple(promises[number] for number in numbers)) for numbers in alike.values()]


def needed(promise: Promise, table: Table, sensitive: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that decide whether a promise is kept in a group."""
    others = _others(promise, table, sensitive)
    return (*promise.protects, *_ruled_out(promise, table, sensitive), *others)


def known_beside(promise: Promise, table: Table, sensitive: tuple[str, ...]) -> Known | None:
    """What a promise takes as known of every row beyond its group; nothing where that is nothing."""
    return _known(table, _others(promise, table, sensitive), None)


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


def _watch_set(promise: Promise, table: Table, subject: Subject) -> Watch:
    is_sensitive = np.arange(subject.n_values) < subject.n_values - 1
    return Watch(promise, subject, is_sensitive, (table[promise.protects[0]],), table)


def count_for(watches: tuple[Watch, ...], owners: Ids, n_owners: int) -> tuple[Entries | Crowd | None, ...]:
    """Count every subject in the groups of the rows; promises about the same subject share the counts."""
    return for_each_once(
        [watched.subject for watched in watches], lambda subject: count(subject, owners, n_owners)
    )


def kept(watched: Watch, entries: Entries | Crowd | None, sizes: Ids) -> Kept:
    """Which groups keep one promise."""
    guarantee = watched.promise.guarantee
    if entries is None:
        assert isinstance(guarantee, LeastSize)
        return sizes >= guarantee.least_rows
    tally, group_of = tallied(watched, entries, sizes)
    fine = DECISIONS[type(guarantee)](guarantee, tally)
    return fine if group_of is None else np.bincount(group_of[~fine], minlength=sizes.size) == 0


def tallied(watched: Watch, entries: Entries | Crowd, sizes: Ids) -> tuple[Tally, Ids | None]:
    """The counts a promise is decided on; where more is known than the group, also the group of each part."""
    subject = watched.subject
    assert subject is not None
    if isinstance(entries, Crowd):
        return _of_crowd(watched, subject, entries), entries.group_of
    owners, values, group_of = entries.owners, entries.codes, None
    if subject.n_known > 1:
        values, known = np.divmod(entries.codes, subject.n_known)
        owners, firsts = number(entries.owners * subject.n_known + known)
        group_of = entries.owners[firsts]
    counts, of_sets = entries.counts, subject.rows is not None
    # Of sets, the last value is had by every row.
    is_row = values == subject.n_values - 1 if of_sets else np.ones(values.size, dtype=bool)
    unit_sizes = sizes if group_of is None else people(owners[is_row], counts[is_row], group_of.size)
    if of_sets:
        owners, values, counts = owners[~is_row], values[~is_row], counts[~is_row]
    about = subject.reference, watched.is_sensitive, watched.columns, watched.members, of_sets
    return Tally(owners, values, counts, unit_sizes, *about), group_of


def _of_crowd(watched: Watch, subject: Subject, crowd: Crowd) -> Tally:
    """The same where persons are counted."""
    of_sets = subject.rows is not None
    # Of sets, the last value is had by every person.
    is_value = crowd.values < subject.n_values - 1 if of_sets else np.ones(crowd.values.size, dtype=bool)
    return Tally(
        crowd.owners[is_value],
        crowd.values[is_value],
        crowd.counts[is_value],
        crowd.sizes,
        subject.reference,
        watched.is_sensitive,
        watched.columns,
        watched.members,
        of_sets,
        crowd,
        subject,
    )


def all_kept(watches: tuple[Watch, ...], counted: tuple[Entries | Crowd | None, ...], sizes: Ids) -> Kept:
    """Which groups keep every promise."""
    fine = np.ones(sizes.size, dtype=bool)
    for watched, entries in zip(watches, counted, strict=True):
        fine &= kept(watched, entries, sizes)
    return fine
