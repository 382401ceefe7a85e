"""A view as a distribution: buckets by size, columns independent inside a bucket, labels spread over originals."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.cover import Cover, Floats, Ids
from manyveils.reading.keys import numbered
from manyveils.reading.matching import matches_of

Tuples = Mapping[str, Ids]


@dataclass(frozen=True, repr=False)
class PublishedView:
    """The columns of one view as numbers."""

    name: str
    parts: tuple[PublishedColumn, ...]
    n_rows: int
    n_buckets: int

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the view."""
        return tuple(name for part in self.parts for name in part.attributes)

    @cached_property
    def sizes(self) -> Ids:
        """Rows of every bucket."""
        part = self.parts[0]
        return np.bincount(part.buckets, weights=part.counts, minlength=self.n_buckets).astype(np.int64)

    def mass(self, tuples: Tuples, n_tuples: int, masks: Masks) -> Floats:
        """The probability of each tuple of some attributes, together with predicates about others.

        `tuples` gives the code of every tuple in each of its attributes; without any, there is one empty tuple.
        """
        if self.n_rows == 0:
            return np.zeros(n_tuples)
        if not tuples:
            return np.repeat(self._mass({}, 1, masks), n_tuples)
        # Tuples that are alike here are worked out once.
        numbers, firsts = numbered(list(tuples.values()))
        return self._mass({name: codes[firsts] for name, codes in tuples.items()}, firsts.size, masks)[
            numbers
        ]

    def column_of(self, name: str) -> PublishedColumn:
        """The column that shows an attribute."""
        return next(column for column in self.parts if name in column.covers)

    def cover_of(self, name: str) -> Cover:
        """What the labels of an attribute stand for."""
        return self.column_of(name).covers[name]

    def spread_of(self, name: str) -> Cover:
        """Going away."""
        return self.cover_of(name)

    def _mass(self, tuples: Tuples, n_tuples: int, masks: Masks) -> Floats:
        places, _, shares = self.located(tuples, n_tuples, masks)
        return np.bincount(places, weights=shares, minlength=n_tuples) / self.n_rows

    def _held(self, part: PublishedColumn, masks: Masks) -> Floats:
        """How many rows of each bucket predicates hold for, as far as a column tells."""
        held = part.held(masks)
        if held is not None:
            return part.rows_held(held, self.n_buckets).astype(np.float64)
        return part.per_bucket(part.weights(masks, part.attributes), self.n_buckets)

    def located(self, tuples: Tuples, n_tuples: int, masks: Masks) -> tuple[Ids, Ids, Floats]:
        """How many rows of which bucket each tuple takes, by (tuple, bucket)."""
        asked = [part for part in self.parts if any(n in tuples or n in masks for n in part.attributes)]
        keyed = [part for part in asked if any(name in tuples for name in part.attributes)]
        per_bucket = np.ones(self.n_buckets)
        sizes = np.maximum(self.sizes, 1)
        for part in asked:
            if part not in keyed:
                per_bucket *= self._held(part, masks) / sizes
        if not keyed:
            everywhere = np.tile(np.arange(self.n_buckets), n_tuples)
            places = np.repeat(np.arange(n_tuples), self.n_buckets)
            return places, everywhere, np.tile(per_bucket * self.sizes, n_tuples)
        found = sorted((matches_of(part, tuples, masks) for part in keyed), key=lambda each: each.n_expanded)
        places, buckets, shares = found[0].expanded(self.n_buckets)
        for other in found[1:]:
            shares = shares * other.at(places, buckets, self.n_buckets) / sizes[buckets]
        return places, buckets, shares * per_bucket[buckets]
