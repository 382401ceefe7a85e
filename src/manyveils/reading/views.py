"""A view as a distribution: buckets by size, columns independent inside a bucket, labels spread over originals."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.cover import Cover
from manyveils.reading.keys import Floats, Ids, numbered
from manyveils.reading.matching import matches_of

Tuples = Mapping[str, Ids]


@dataclass(frozen=True, repr=False)
class PublishedView:
    """The columns of one view as numbers."""

    name: str
    columns: tuple[PublishedColumn, ...]
    n_rows: int
    n_buckets: int

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the view."""
        return tuple(name for column in self.columns for name in column.attributes)

    @cached_property
    def sizes(self) -> Ids:
        """Rows of every bucket."""
        column = self.columns[0]
        return np.bincount(column.buckets, weights=column.counts, minlength=self.n_buckets).astype(np.int64)

    def column_of(self, name: str) -> PublishedColumn:
        """The column that shows an attribute."""
        return next(column for column in self.columns if name in column.covers)

    def cover_of(self, name: str) -> Cover:
        """What the labels of an attribute stand for."""
        return self.column_of(name).covers[name]

    def mass(self, tuples: Tuples, n_tuples: int, masks: Masks) -> Floats:
        """The probability of each tuple of some attributes, together with predicates about others.

        `tuples` gives the code of every tuple in each of its attributes; without any, there is one empty tuple.
        """
        if self.n_rows == 0:
            return np.zeros(n_tuples)
        if not tuples:
            return np.repeat(self._mass({}, 1, masks), n_tuples)
        # Equal tuples are worked out once.
        numbers, firsts = numbered(list(tuples.values()))
        different = {name: codes[firsts] for name, codes in tuples.items()}
        return self._mass(different, firsts.size, masks)[numbers]

    def _mass(self, tuples: Tuples, n_tuples: int, masks: Masks) -> Floats:
        owners, _, shares = self.located(tuples, n_tuples, masks)
        return np.bincount(owners, weights=shares, minlength=n_tuples) / self.n_rows

    def _rows_held(self, column: PublishedColumn, masks: Masks) -> Floats:
        """How many rows of each bucket predicates hold for, as far as a column tells."""
        held = column.held(masks)
        if held is not None:
            return column.rows_held(held, self.n_buckets).astype(np.float64)
        return column.per_bucket(column.weights(masks, column.attributes), self.n_buckets)

    def located(self, tuples: Tuples, n_tuples: int, masks: Masks) -> tuple[Ids, Ids, Floats]:
        """How many rows of which bucket each tuple takes, by (tuple, bucket)."""
        sizes, per_bucket, keyed = np.maximum(self.sizes, 1), np.ones(self.n_buckets), []
        for column in self.columns:
            if any(name in tuples for name in column.attributes):
                keyed.append(column)
            elif any(name in masks for name in column.attributes):
                per_bucket *= self._rows_held(column, masks) / sizes
        if not keyed:
            owners = np.repeat(np.arange(n_tuples), self.n_buckets)
            buckets = np.tile(np.arange(self.n_buckets), n_tuples)
            return owners, buckets, np.tile(per_bucket * self.sizes, n_tuples)
        matches = (matches_of(column, tuples, masks) for column in keyed)
        first, *others = sorted(matches, key=lambda matches: matches.n_expanded)
        owners, buckets, shares = first.expanded(self.n_buckets)
        for matches_beside in others:
            shares = shares * matches_beside.at(owners, buckets, self.n_buckets) / sizes[buckets]
        return owners, buckets, shares * per_bucket[buckets]
