"""Releases of the same people that no ledger joins: what two publishers tell together, who know nothing of each other.

Ganta, Kasiviswanathan and Smith (2008): whoever is in both has a value that both leave open.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from manyveils.attacks.adversaries import Adversary, Reader, shares_of
from manyveils.attacks.beliefs import Beliefs, Known, spread_out
from manyveils.attacks.correspondence import Records
from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Bools, Ids, People, alike, members
from manyveils.attacks.search import Batch
from manyveils.attacks.sparse_rows import Rows, normalized, stacked
from manyveils.attacks.worlds import Limits, Shared, Sighted, TooMany, shared
from manyveils.reading.views import PublishedView
from manyveils.table import Table

MOST_COMPOSED = 20_000
NO_GROUP = -1


@dataclass(frozen=True, repr=False)
class Collector:
    """Someone who has read several releases; of the first she may know more than a reader, who is then `first`."""

    readers: tuple[Reader, ...]
    first: Adversary | None = None

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The product of what the releases say that somebody fits in, over how common the value is."""
        readers = [reader for reader in self.readers if about in reader.readable]
        beliefs = [reader.beliefs(people, known, about) for reader in readers]
        if self.first is not None and readers[0] is self.readers[0]:
            beliefs[0] = self.first.beliefs(people, known, about)
        fits = [fitting(reader, people, known, about) for reader in readers[1:]]
        codes = [*(own.row_of for own in beliefs), *(own.astype(np.int64) for own in fits)]
        row_of, firsts = alike(codes, people.n)
        table = readers[0].table
        counts = table[about].counts
        share = np.maximum(counts, 1) / max(int(counts.sum()), 1)
        if table.persons is not None:
            share = np.maximum(shares_of(table, about), 1 / table.n_rows)
        told = [own.of(firsts).among(counts.size) for own in beliefs]
        rows = told[0]
        believed = rows.beliefs
        for number, own in enumerate(told[1:], 1):
            gained = own.at(rows.cases, rows.values) / share[rows.values]
            counts_here = _is_new(own, told[:number]) & fits[number - 1][firsts]
            believed = believed * np.where(counts_here[rows.cases], gained, 1.0)
        return Beliefs(normalized(rows.believing(believed), rows), row_of)


def _is_new(rows: Rows, earlier: list[Rows]) -> Bools:
    """Which rows differ from those of all earlier releases."""
    is_new = np.ones(rows.n, dtype=bool)
    for before in earlier:
        is_new &= Rows.of(abs(rows.matrix - before.matrix)).greatest() > TOLERANCE
    return is_new


def fitting(reader: Reader, people: People, known: Known, about: str) -> Bools:
    """Who fits some row of a release beside an attribute; everybody, where nothing that is known stands there."""
    fits = np.zeros(people.n, dtype=bool)
    for view, names in _showing(reader, known, about):
        if not names:
            return np.ones(people.n, dtype=bool)
        fits |= reader.search(people, view, names).gathered(Batch.expected) > 0
    return fits


def _showing(reader: Reader, known: Known, about: str) -> Iterator[tuple[PublishedView, Known]]:
    """The views that show an attribute, and what is known that they show."""
    for view in reader.views:
        if about in view.attributes and view.n_rows:
            yield view, tuple(name for name in reader.readable_in(view, known) if name != about)


@dataclass(frozen=True, repr=False)
class Composer:
    """Someone who has several releases, and knows that whoever fits one group of a release is in it.

    Where groups are small her beliefs are shares of all worlds, which she counts; elsewhere, and of people who fit several
    groups of a release, they are products, or, if she believes `only_counted` worlds, what the first release says.
    """

    collector: Collector
    limits: Limits
    only_counted: bool = False
    _shared: dict[tuple[Known, str], tuple[Shared, Bools] | None] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The data of the first release."""
        return self.collector.readers[0].table

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The share of each value over all worlds where they were counted."""
        plain = self.collector.readers[0] if self.only_counted else self.collector
        beliefs = plain.beliefs(people, known, about)
        worlds = self.shared(known, about) if people.rows is not None else None
        if worlds is None or people.rows is None:
            return beliefs
        told, is_told = worlds
        n_values = max(told.rows.n_values, beliefs.rows.n_values)
        both = [rows.placed(np.arange(rows.n_values), n_values) for rows in (told.rows, beliefs.rows)]
        set_of = told.set_of[people.rows]
        counted = is_told[people.rows]
        return Beliefs(stacked(both), np.where(counted, set_of, told.rows.n + beliefs.row_of))

    def is_exact(self, known: Known, about: str) -> bool:
        """Whether worlds were counted for everybody."""
        worlds = self.shared(known, about)
        return worlds is not None and bool(worlds[1].all())

    def shared(self, known: Known, about: str) -> tuple[Shared, Bools] | None:
        """What all worlds say and for whom they were counted; None where people are too many, or have several rows."""
        if self.table.persons is not None or self.table.n_rows > MOST_COMPOSED:
            return None
        if (known, about) not in self._shared:
            self._shared[known, about] = self._worked_out(known, about)
        return self._shared[known, about]

    def _worked_out(self, known: Known, about: str) -> tuple[Shared, Bools] | None:
        everybody = replace(
            members(self.table, self.table.n_rows, np.random.default_rng(0)), name="everybody"
        )
        texts = list(self.table[about].texts)
        groups = [
            own
            for reader in self.collector.readers
            if about in reader.readable
            for own in _groups(reader, everybody, known, about, texts)
        ]
        try:
            told = shared(_sighted(groups, everybody.n, len(texts)), self.limits)
        except TooMany:
            return None
        is_told = np.logical_and.reduce([own.is_told for own in groups]) & (told.set_of >= 0)
        sets = told.set_of[is_told]
        is_told[is_told] = told.is_counted[sets] & (told.rows.totals() > 0)[sets]
        return told, is_told


@dataclass(frozen=True, repr=False)
class _Groups:
    """What the groups of one view hold, in codes of all releases, and the group of everybody, or none.

    `is_told` says of whom it is known: she fits one group, or none.
    """

    rows: Rows
    group_of: Ids
    is_told: Bools


def _groups(reader: Reader, people: People, known: Known, about: str, texts: list[str]) -> Iterator[_Groups]:
    """The groups of every view of a release that shows an attribute; what it has of further values comes to the texts."""
    for view, names in _showing(reader, known, about):
        column = view.column_of(about)
        if not names:
            fits = np.ones(people.n, dtype=bool)
            of_row, group_of = (
                np.zeros(column.counts.size, dtype=np.int64),
                np.zeros(people.n, dtype=np.int64),
            )
        elif {*names} <= {*column.attributes}:
            fits, records = fitting(reader, people, known, about), Records(reader, view, names, about)
            of_row, group_of = records.groups, records.group_of(people)
        else:
            fits, of_row = fitting(reader, people, known, about), column.buckets
            group_of = _buckets(reader, people, view, names)
            if {*names} & {*column.attributes}:
                # Some of the bucket's values can be told apart further, and nobody says who has which.
                group_of = np.full(people.n, NO_GROUP)
        rows = _held(reader, view, about, of_row, texts)
        n_inside = np.bincount(group_of[group_of >= 0], minlength=rows.n)
        has_room = np.append(n_inside <= np.rint(rows.totals()), False)
        group_of = np.where(has_room[group_of], group_of, NO_GROUP)
        yield _Groups(rows, group_of, (group_of >= 0) | ~fits)


def _buckets(reader: Reader, people: People, view: PublishedView, names: Known) -> Ids:
    """The bucket that fits each person; none where several do."""

    def bucket(batch: Batch) -> Ids:
        targets, buckets, _ = batch.located
        least, most = np.full(batch.n, view.n_buckets), np.full(batch.n, NO_GROUP)
        np.minimum.at(least, targets, buckets)
        np.maximum.at(most, targets, buckets)
        return np.where(least == most, least, NO_GROUP)

    return reader.search(people, view, names).gathered(bucket, float(NO_GROUP)).astype(np.int64)


def _held(reader: Reader, view: PublishedView, about: str, of_row: Ids, texts: list[str]) -> Rows:
    """How many rows of each group have each value."""
    column = view.column_of(about)
    shape = int(of_row.max(initial=-1)) + 1, column.covers[about].n_labels
    labels = Rows.of(
        csr_array((column.counts.astype(np.float64), (of_row, column.labels[about])), shape=shape)
    )
    own = reader.release.reading.estimate.domains[about].texts
    texts += [text for text in own if text not in {*texts}]
    place_of = {text: place for place, text in enumerate(texts)}
    places = np.array([place_of[text] for text in own], dtype=np.int64)
    return spread_out(labels, column.covers[about]).placed(places, len(texts))


def _sighted(groups: list[_Groups], n: int, n_values: int) -> Sighted:
    """Everybody in the groups of all releases."""
    starts = np.cumsum([0, *(own.rows.n for own in groups)])
    inside = [np.flatnonzero(own.group_of >= 0) for own in groups]
    pairs = list(zip(groups, starts.tolist(), strict=False))
    return Sighted(
        np.concatenate(inside),
        np.concatenate([own.group_of[who] + start for (own, start), who in zip(pairs, inside, strict=True)]),
        n,
        np.concatenate([own.rows.cases + start for own, start in pairs]),
        np.concatenate([own.rows.values for own in groups]),
        np.concatenate([own.rows.beliefs for own in groups]),
        n_values,
        np.repeat(np.arange(len(groups)), np.diff(starts)),
    )
