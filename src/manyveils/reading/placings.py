"""Where the rows of the original stand in a published column, and how many different persons are behind published rows.

Whoever has the placements reads it off them. Without them it follows from labels where every value has one: a view is
then as its rows say, but for persons who are left out with all of theirs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from manyveils.reading.columns import PublishedColumn
from manyveils.reading.keys import Bools, Floats, Ids, numbered
from manyveils.reading.meanings import texts_of
from manyveils.reading.views import PublishedView
from manyveils.release import Release
from manyveils.table import Table

Names = tuple[str, ...]
SHARED = ("_groups", "_orders", "met")


@dataclass(frozen=True, repr=False)
class Placing:
    """The kind of published row that each row of the original is, -1 where it is left out; `kind_of` numbers them.

    Published rows of one kind agree in the bucket and in all labels that show where a row stands.
    """

    column: PublishedColumn
    kinds: Ids
    kind_of: Ids
    persons: Ids

    def groups(self, names: Names) -> tuple[Ids, Ids]:
        """A number for published rows of one bucket that agree in some attributes; of the original's rows too, or -1."""
        labels = [self.column.labels[name].astype(np.int64) for name in names if name in self.column.labels]
        of_row, _ = numbered([self.column.buckets, *labels])
        of_kind = np.zeros(int(self.kind_of.max(initial=-1)) + 1, dtype=np.int64)
        of_kind[self.kind_of] = of_row
        return of_row, np.where(self.kinds >= 0, np.append(of_kind, -1)[self.kinds], -1)

    def shares(self, groups: Ids) -> Floats:
        """What each row of the original weighs, if everybody weighs 1 in a group, spread evenly over her rows in it."""
        inside = np.flatnonzero(groups >= 0)
        weights = np.zeros(groups.size)
        if inside.size:
            pairs, _ = numbered([self.persons[inside], groups[inside]])
            weights[inside] = 1.0 / np.bincount(pairs)[pairs]
        return weights

    def counts(self, weights: Floats) -> Floats:
        """The weight of every published row; those of one kind share theirs as they share their rows."""
        n = int(self.kind_of.max(initial=-1)) + 1
        inside = self.kinds >= 0
        totals = np.bincount(self.kinds[inside], weights=weights[inside], minlength=n)
        rows = np.bincount(self.kind_of, weights=self.column.counts, minlength=n)
        return (totals / np.maximum(rows, 1))[self.kind_of] * self.column.counts


def placings(release: Release, view: PublishedView, table: Table) -> tuple[Placing, ...] | None:
    """Where the rows of the original stand in every column of a view; None where that cannot be told.

    Claim: where it is told, every kind of published row has as many rows of the original as are published.
    Why: it is counted.
    Tested by: tests/attacks/test_persons.py
    """
    if table.persons is None or not view.n_rows:
        return None
    lines = _lines(release, view, table)
    bucketed = next(own.bucketed for own in release.views if own.name == view.name)
    none: Ids | None = np.zeros(table.n_rows, dtype=np.int64)
    buckets = _buckets(release, view, table, lines) if bucketed else none
    if buckets is None:
        return None
    placed = []
    for column in view.columns:
        labels = _labels(release, view, column, table, None if bucketed else lines)
        kinds, kind_of = _matched(column, buckets, labels)
        fitting = _fitting(kinds, kind_of, column, table.persons)
        open_names = [name for name in column.attributes if name not in release.manifest.secret]
        if fitting is None or not _are_told(column, kind_of, open_names):
            return None
        placed.append(Placing(column, fitting, kind_of, table.persons))
    return tuple(placed)


def _lines(release: Release, view: PublishedView, table: Table) -> Ids | None:
    """The bucket or the line of each row of the original, if somebody says so and it can be."""
    lines = release.placements.get(view.name)
    if (
        lines is None
        or lines.size != table.n_rows
        or lines.max(initial=-1) >= max(view.n_rows, view.n_buckets)
    ):
        return None
    return lines.astype(np.int64)


def _buckets(release: Release, view: PublishedView, table: Table, lines: Ids | None) -> Ids | None:
    """The bucket of each row: as placed, or the only one that has its labels; -1 where it has none."""
    if lines is not None:
        return lines
    buckets = np.full(table.n_rows, -1, dtype=np.int64)
    is_open = np.ones(table.n_rows, dtype=bool)
    for column in view.columns:
        labels = _labels(release, view, column, table, None)
        none = np.zeros_like(column.buckets)
        kinds, kind_of = _matched(column, np.zeros(table.n_rows, dtype=np.int64), labels, none)
        low, high = (np.full(int(kind_of.max(initial=-1)) + 2, end) for end in (view.n_buckets, -1))
        np.minimum.at(low, kind_of, column.buckets)
        np.maximum.at(high, kind_of, column.buckets)
        told = (kinds >= 0) & (low == high)[kinds]
        buckets[told] = high[kinds[told]]
        is_open &= ~told & (kinds >= 0)
    return None if is_open.any() else buckets


def _labels(
    release: Release, view: PublishedView, column: PublishedColumn, table: Table, lines: Ids | None
) -> dict[str, Ids]:
    """For each attribute that shows where a row stands, the label of each row of the original; -1 where it has none."""
    if lines is not None:
        file = next(own.files[0] for own in release.views if own.name == view.name)
        return {name: _at_lines(release, file.table, name, column, lines) for name in column.attributes}
    domains = release.reading.estimate.domains
    labels = {}
    for name in column.attributes:
        if (
            name in table.attributes
            and name not in release.manifest.secret
            and not column.covers[name].overlaps
        ):
            codes = domains[name].codes_of(table[name].texts)[table[name].codes]
            label_of = column.covers[name].label_of
            labels[name] = np.where(codes >= 0, label_of[np.maximum(codes, 0)], -1)
    return labels


def _at_lines(release: Release, file: str, name: str, column: PublishedColumn, lines: Ids) -> Ids:
    published = texts_of(release.frames[file][name]).cast(pl.Enum(column.texts[name]))
    of_line = published.to_physical().cast(pl.Int64).to_numpy()
    return np.where(lines >= 0, np.append(of_line, -1)[lines], -1)


def _matched(
    column: PublishedColumn, buckets: Ids, labels: dict[str, Ids], own: Ids | None = None
) -> tuple[Ids, Ids]:
    """The kind of each row of the original, -1 where none fits, and the kind of each published row."""
    published = [
        column.buckets if own is None else own,
        *(column.labels[name].astype(np.int64) for name in labels),
    ]
    wanted = [buckets, *labels.values()]
    keys = [np.concatenate(pair) + 1 for pair in zip(published, wanted, strict=True)]
    numbers, _ = numbered(keys)
    n = published[0].size
    kind_of = np.unique(numbers[:n], return_inverse=True)[1].astype(np.int64)
    place = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
    place[numbers[:n]] = kind_of
    return place[numbers[n:]], kind_of


def _are_told(column: PublishedColumn, kind_of: Ids, names: list[str]) -> bool:
    """Whether published rows of one kind agree in these attributes."""
    n = int(kind_of.max(initial=-1)) + 1
    labels = [kind_of, *(column.labels[name].astype(np.int64) for name in names)]
    return numbered(labels)[1].size == n


def _fitting(kinds: Ids, kind_of: Ids, column: PublishedColumn, persons: Ids) -> Ids | None:
    """The kinds as they are, or without all rows of persons who miss one, whichever agrees with what is published."""
    rows = np.bincount(kind_of, weights=column.counts).astype(np.int64)
    for left_out in _left_out(kinds, persons):
        inside = np.where(left_out, -1, kinds)
        if np.array_equal(np.bincount(inside[inside >= 0], minlength=rows.size), rows):
            return inside
    return None


def _left_out(kinds: Ids, persons: Ids) -> Iterator[Bools]:
    yield kinds < 0
    is_out = np.zeros(int(persons.max(initial=-1)) + 1, dtype=bool)
    is_out[persons[kinds < 0]] = True
    yield is_out[persons]


def weighed(view: PublishedView, placed: tuple[Placing, ...], names: Names) -> PublishedView:
    """A view whose counts are persons: each weighs 1 in every group of rows that agree in some attributes.

    Rows of a column that shows none of them are a group by bucket, and without any attribute all rows are one.
    """
    columns = []
    for placing in placed:
        _, groups = placing.groups(names)
        if not names:
            groups = np.where(groups >= 0, 0, -1)
        counts = placing.counts(placing.shares(groups))
        column = replace(placing.column, counts=counts)  # type: ignore[arg-type]
        # What is remembered of labels is true of both.
        vars(column).update({name: getattr(placing.column, name) for name in SHARED})
        columns.append(column)
    own = replace(view, columns=tuple(columns), n_rows=n_placed(placed))
    vars(own)["sizes"] = _persons_in(placed[0], view.n_buckets)
    return own


def n_placed(placed: tuple[Placing, ...]) -> int:
    """How many different persons a view has."""
    return np.unique(placed[0].persons[placed[0].kinds >= 0]).size


def _persons_in(placing: Placing, n_buckets: int) -> Ids:
    """The different persons in each bucket."""
    of_kind = np.zeros(int(placing.kind_of.max(initial=-1)) + 1, dtype=np.int64)
    of_kind[placing.kind_of] = placing.column.buckets
    inside = placing.kinds >= 0
    pairs = numbered([of_kind[placing.kinds[inside]], placing.persons[inside]])[1]
    return np.bincount(of_kind[placing.kinds[inside]][pairs], minlength=n_buckets)
