"""How often each protected value stands in each group: the counts that promises are decided on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import NEAR, merge_entries, number
from manyveils.kernels.tallies import largest
from manyveils.promises.crowds import LARGEST_KEY, Crowd, Floats, Persons, persons_of
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally as people
from manyveils.table.order import in_order

Kept = NDArray[np.bool_]
Members = NDArray[np.int32]
Ids = NDArray[np.int64]
Known = tuple[Ids, int]
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Entries:
    """Counts per (owner, code), in order of code; each pair at most once."""

    owners: Ids
    codes: Ids
    counts: Ids

    def some(self, which: NDArray[np.bool_]) -> "Entries":
        """Only some of the entries."""
        return Entries(self.owners[which], self.codes[which], self.counts[which])

    def under(self, owner_of: NDArray[np.integer], n_owners: int) -> "Entries":
        """The same counts after owners became one another's; a negative owner is dropped."""
        return Entries(*merge_entries(owner_of, self.owners, self.codes, self.counts, n_owners))


@dataclass(frozen=True)
class Subject:
    """What a promise protects, row by row: the value, and what else the adversary knows.

    A code is `value * n_known + known`; without conditional knowledge `n_known` is 1.
    A multi-valued attribute has a code for each value that a row has, and one for the row itself, the last value, so
    that all rows are counted too; `rows` then has the row of each code.
    """

    codes: Ids
    n_values: int
    n_known: int
    reference: Ids
    weights: Ids | None = None
    rows: Ids | None = None
    # Whose each code is, where somebody has several rows; the reference then counts persons.
    persons: Persons | None = None

    def of_rows(self, rows: Ids, weights: Ids | None = None) -> "Subject":
        """The same of listed rows, which may stand for several people each."""
        if self.rows is None:
            persons = None if self.persons is None else self.persons.of(rows)
            return replace(self, codes=self.codes[rows], weights=weights, persons=persons)
        order, starts, lengths = self._by_row
        listed = np.repeat(np.arange(rows.size), lengths[rows])
        steps = np.arange(listed.size) - np.repeat(np.cumsum(lengths[rows]) - lengths[rows], lengths[rows])
        entries = order[np.repeat(starts[rows], lengths[rows]) + steps]
        codes = self.codes[entries]
        persons = None if self.persons is None else self.persons.of(entries)
        weights = None if weights is None else weights[listed]
        return replace(self, codes=codes, rows=listed, weights=weights, persons=persons)

    def crowd(self, owners: Ids, n_owners: int) -> Crowd:
        """The persons of every owner; rows have owners, and a negative one is nowhere."""
        assert self.persons is not None
        owners = owners if self.rows is None else owners[self.rows]
        return self.crowd_in_order(owners[self.persons.order], n_owners)

    def crowd_in_order(self, owners: Ids, n_owners: int) -> Crowd:
        """The same where the owners of all codes are listed person after person."""
        assert self.persons is not None
        return Crowd(self.persons, owners, self.codes_in_order, n_owners, self.n_known)

    @cached_property
    def codes_in_order(self) -> Ids:
        """The codes person after person."""
        assert self.persons is not None
        return self.codes[self.persons.order]

    @cached_property
    def everyone(self) -> Crowd:
        """The persons of the whole table as one unit."""
        assert self.persons is not None
        together = np.zeros(self.codes.size, dtype=np.int64)
        return Crowd(self.persons, together, self.codes_in_order // self.n_known, 1)

    @cached_property
    def expected(self) -> Floats:
        """What each value weighs in the whole table, where somebody has several rows."""
        weights = np.zeros(self.n_values)
        weights[self.everyone.values] = self.everyone.weights
        return weights

    @cached_property
    def _by_row(self) -> tuple[Ids, Ids, Ids]:
        """The codes in the order of their rows, where those of each row start, and how many it has."""
        assert self.rows is not None
        lengths = np.bincount(self.rows)
        return np.argsort(self.rows, kind="stable"), np.cumsum(lengths) - lengths, lengths


def dense(columns: tuple[NDArray[np.integer], ...], sizes: tuple[int, ...], n_rows: int) -> tuple[Ids, int]:
    """Number the different combinations of some columns from 0, in the order of their codes.

    >>> dense((np.array([1, 0, 1]), np.array([0, 0, 0])), (2, 1), 3)
    (array([1, 0, 1]), 2)
    """
    ids, n_ids = np.zeros(n_rows, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if n_ids * size >= LARGEST_KEY:
            ids, n_ids = _squeezed(ids, n_ids)
        ids = ids * size + column
        n_ids *= size
    return _squeezed(ids, n_ids)


def numbered(table: Table, names: tuple[str, ...]) -> tuple[Ids, int]:
    """The number of each row's combination of some attributes, and how many combinations there are."""
    return dense(table.codes(names), table.sizes(names), table.n_rows)


def examples(numbers: Ids, n_numbers: int) -> Ids:
    """A row of each number: the last that has it.

    >>> examples(np.array([1, 0, 1]), 2)
    array([1, 2])
    """
    rows = np.zeros(n_numbers, dtype=np.int64)
    rows[numbers] = np.arange(numbers.size)
    return rows


def _squeezed(ids: Ids, span: int) -> tuple[Ids, int]:
    if ids.size == 0:
        return ids, 0
    if span <= NEAR * ids.size:
        is_there = np.zeros(span, dtype=bool)
        is_there[ids] = True
        rank = np.cumsum(is_there) - 1
        return rank[ids], int(rank[-1]) + 1
    numbers, firsts = number(ids)
    order = in_order(ids[firsts])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[numbers], len(order)


def distinct(keys: Ids) -> Ids:
    """The different keys in order.

    NumPy's own way to the values alone hashes them, which takes forty times as long for a million.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered


def subject_of(names: tuple[str, ...], table: Table, known: Known | None = None) -> Subject:
    """The values of protected columns taken as one, beside what is known of each row."""
    values, n_values = _values(names, table)
    if known is None:
        known = np.zeros(table.n_rows, dtype=np.int64), 1
    reference = people(values, table.weights, n_values)
    if table.reference is not None:
        reference = _of_all(names, table, values, n_values)
        n_values = reference.size
    codes, persons = values * known[1] + known[0], persons_of(table)
    return _of_persons(Subject(codes, n_values, known[1], reference, table.weights, persons=persons))


def _of_persons(subject: Subject) -> Subject:
    """The subject with a reference that counts persons, if somebody has several rows."""
    if subject.persons is None:
        return subject
    reference = np.zeros(subject.n_values, dtype=np.int64)
    reference[subject.everyone.values] = subject.everyone.counts
    counting = replace(subject, reference=reference)
    counting.__dict__["everyone"] = subject.everyone
    return counting


def set_subject_of(names: tuple[str, ...], table: Table, known: Known | None = None) -> Subject:
    """The values of a multi-valued attribute, by its derived attributes; the commonest value of all people comes first."""
    counts = np.array([table[name].counts[1] for name in names])
    order = np.argsort(-counts, kind="stable")
    holders = [np.flatnonzero(table[names[index]].codes) for index in order.tolist()]
    rows = np.concatenate([*holders, np.arange(table.n_rows)])
    values = np.repeat(np.arange(order.size + 1), [*map(len, holders), table.n_rows])
    known = known or (np.zeros(table.n_rows, dtype=np.int64), 1)
    reference = np.append(counts[order], table[names[0]].counts.sum())
    weights = None if table.weights is None else table.weights[rows]
    codes, persons = values * known[1] + known[0][rows], persons_of(table, rows)
    return _of_persons(Subject(codes, order.size + 1, known[1], reference, weights, rows, persons))


def _of_all(names: tuple[str, ...], table: Table, values: Ids, n_values: int) -> Ids:
    """How many of all people have each value that the rows at hand have; values that only others have come last."""
    if len(names) < 2:
        return table[names[0]].counts if names else people(values, table.weights, n_values)
    whole = table.whole(names)
    codes = zip(table.codes(names), whole.codes(names), strict=True)
    joined = tuple(np.append(of_rows, of_all) for of_rows, of_all in codes)
    numbers, n_numbers = dense(joined, table.sizes(names), values.size + whole.n_rows)
    value_of = np.full(n_numbers, -1, dtype=np.int64)
    value_of[numbers[: values.size]] = values
    others = value_of < 0
    value_of[others] = n_values + np.arange(np.count_nonzero(others))
    return people(value_of[numbers[values.size :]], whole.weights, n_numbers)


def members_of(subject: Subject, columns: tuple[Attribute, ...]) -> NDArray[np.int32]:
    """The codes of every column for each value of a subject that combines them."""
    row_of = examples(subject.codes // subject.n_known, subject.n_values)
    return np.stack([column.codes[row_of] for column in columns])


def _values(names: tuple[str, ...], table: Table) -> tuple[Ids, int]:
    if not names:
        return np.zeros(table.n_rows, dtype=np.int64), 1
    if len(names) == 1:
        return table[names[0]].codes.astype(np.int64), table[names[0]].n_values
    return numbered(table, names)


def for_each_once(items: Iterable[A | None], make: Callable[[A], B]) -> tuple[B | None, ...]:
    """What is made of every item, once for items that are one object; nothing of none.

    Promises about the same subject share its counts in this way.
    """
    listed = tuple(items)
    results = {
        id(item): make(item) for item in {id(item): item for item in listed}.values() if item is not None
    }
    return tuple(results.get(id(item)) for item in listed)


def count(subject: Subject, owners: Ids, n_owners: int) -> "Entries | Crowd":
    """Count a subject's codes owner by owner, or the persons who have them; rows have owners."""
    if subject.persons is not None:
        return subject.crowd(owners, n_owners)
    owners = owners if subject.rows is None else owners[subject.rows]
    span = subject.n_values * subject.n_known
    keys = subject.codes * n_owners + owners if span * n_owners < LARGEST_KEY else None
    if keys is None:
        order = np.lexsort((owners, subject.codes))
        weights = np.ones(len(order), dtype=np.int64) if subject.weights is None else subject.weights[order]
        return Entries(owners[order], subject.codes[order], weights).under(np.arange(n_owners), n_owners)
    distinct_keys, counts = tally(keys, span * n_owners, subject.weights)
    codes, counted = np.divmod(distinct_keys, n_owners)
    return Entries(counted, codes, counts)


def tally(keys: Ids, span: int, weights: Ids | None = None) -> tuple[Ids, Ids]:
    """The different keys, all below `span`, and how many people have each."""
    if span <= 4 * keys.size + 1024:
        counts = people(keys, weights, span)
        present = np.flatnonzero(counts)
        return present, counts[present]
    if weights is None:
        return np.unique(keys, return_counts=True)
    present, numbers = np.unique(keys, return_inverse=True)
    return present, people(numbers, weights, present.size)


@dataclass(frozen=True)
class Tally:
    """The counts of one subject in every group, and what they are compared with.

    `members` has the codes of each column for every combination, where values are combinations to be taken apart.
    With `of_sets`, people may have several values or none, and the last number of the reference is that of all people.
    """

    owners: Ids
    values: Ids
    counts: Ids
    sizes: Ids
    reference: Ids
    is_sensitive: Kept
    columns: tuple[Attribute, ...]
    members: Members | None = None
    of_sets: bool = False
    # The persons that are counted in place of rows, and what is counted of them.
    crowd: Crowd | None = None
    subject: Subject | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the whole table, or persons."""
        if self.crowd is not None:
            return self.crowd.persons.n
        return int(self.reference[-1] if self.of_sets else self.reference.sum())

    def largest(self, depth: int = 1) -> Ids:
        """The largest counts of each group."""
        return largest(self.owners, self.counts, self.sizes.size, depth)

    def of_sensitive(self) -> "Tally":
        """Only the entries whose value needs protection."""
        wanted = self.is_sensitive[self.values]
        if wanted.all():
            return self
        owners, values, counts = self.owners[wanted], self.values[wanted], self.counts[wanted]
        return replace(self, owners=owners, values=values, counts=counts, members=None)

    def harmless(self) -> Kept:
        """Groups in which no value needs protection."""
        return np.bincount(self.of_sensitive().owners, minlength=self.sizes.size) == 0
