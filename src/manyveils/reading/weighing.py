"""Views whose counts are people: what published rows weigh, where it is told where the rows of each person stand."""

from dataclasses import dataclass, replace

import numpy as np

from manyveils.policy import Policy
from manyveils.reading.columns import PublishedColumn, rows_of_lines
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids, numbered
from manyveils.reading.persons import Standing, shown_of, standing_in
from manyveils.reading.secrets import as_published
from manyveils.reading.views import PublishedView
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
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


def placings(release: Release, table: Table, policy: Policy) -> dict[str, tuple[Placing, ...]]:
    """Where the rows of the original stand in the columns of each view of which it is told; nothing without persons.

    Claim: every kind of published row has as many rows of the original as are published.
    Why: every line has one row of the original, and equal lines are of one kind.
    Tested by: tests/attacks/test_persons.py
    """
    if table.persons is None:
        return {}
    evidence, placed = Evidence(release, as_published(release, table), policy), {}
    for view, published in zip(release.views, release.reading.estimate.views, strict=True):
        standing = standing_in(evidence, view) if published.n_rows else None
        if standing is not None:
            pairs = zip(view.files, published.columns, strict=True)
            placed[view.name] = tuple(_placing(evidence, view, standing, *pair) for pair in pairs)
    return placed


def _placing(
    evidence: Evidence, view: View, standing: Standing, file: ColumnFile, column: PublishedColumn
) -> Placing:
    assert evidence.table.persons is not None
    names = column.attributes
    # Who has which secret label only the publisher can say, and in buckets nobody needs to.
    if view.bucketed or standing.how != "said":
        names = tuple(name for name in shown_of(evidence, file) if name in column.labels)
    kind_of, _ = numbered([column.buckets, *(column.labels[name].astype(np.int64) for name in names)])
    kinds = np.full(standing.n_rows, -1, dtype=np.int64)
    of_line = rows_of_lines(evidence.release, view, file, column.attributes)
    kinds[standing.rows[file.table]] = kind_of[of_line]
    return Placing(column, kinds, kind_of, evidence.table.persons)


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
