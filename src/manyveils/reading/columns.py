"""Published columns as numbers: what rows say, how often, and which originals their labels stand for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.cover import Cover
from manyveils.reading.domains import Domain, listed_cover
from manyveils.reading.keys import LARGEST, Bools, Floats, Ids, numbered, ranges
from manyveils.reading.meanings import texts_of
from manyveils.release import Release, View
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile

Masks = Mapping[str, Bools]


@dataclass(frozen=True, repr=False)
class Met:
    """The groups of rows in which combinations of originals may stand, as far as they were asked for; keys in order."""

    keys: Ids
    lengths: Ids
    groups: Ids

    @cached_property
    def starts(self) -> Ids:
        """Where the groups of each combination begin."""
        return np.cumsum(self.lengths) - self.lengths

    def joined(self, keys: Ids, lengths: Ids, groups: Ids) -> "Met":
        """With the groups of more combinations."""
        every_key, every_length = np.append(self.keys, keys), np.append(self.lengths, lengths)
        order = np.argsort(every_key)
        starts = np.cumsum(every_length) - every_length
        picked = ranges(starts[order], every_length[order])
        return Met(every_key[order], every_length[order], np.append(self.groups, groups)[picked])


NOBODY = Met(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True, repr=False)
class PublishedColumn:
    """One published column: its different rows, bucket by bucket, with counts; labels are numbers in `texts`."""

    attributes: tuple[str, ...]
    buckets: Ids
    labels: Mapping[str, NDArray[np.int32]]
    counts: Ids
    covers: Mapping[str, Cover]
    texts: Mapping[str, pl.Series] = field(default_factory=dict)

    @cached_property
    def _is_unit(self) -> bool:
        """Whether every different row stands for one row."""
        return bool(self.counts.max(initial=1) == 1)

    @cached_property
    def met(self) -> dict[tuple[str, ...], Met]:
        """What is remembered of combinations of some attributes."""
        return {}

    @cached_property
    def _groups(self) -> dict[tuple[str, ...], tuple[Ids, Ids]]:
        return {}

    @cached_property
    def _orders(self) -> dict[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], Ids, Ids]]:
        return {}

    def grouped(self, names: tuple[str, ...]) -> tuple[Ids, Ids]:
        """A number for rows with the same labels of some attributes, and where each number stands first; remembered."""
        if not names:
            return np.zeros(self.counts.size, dtype=np.int64), np.zeros(1, dtype=np.int64)
        if names not in self._groups:
            self._groups[names] = numbered([self.labels[name].astype(np.int64) for name in names])
        return self._groups[names]

    def sizes_of(self, names: tuple[str, ...]) -> Ids:
        """How many different rows each of these groups has."""
        return np.bincount(self.grouped(names)[0])

    def sorted_by(self, names: tuple[str, ...], others: tuple[str, ...]) -> tuple[tuple[str, ...], Ids, Ids]:
        """Rows in the order of their group by some attributes, and in it of the labels of others; remembered.

        It is the other attributes that go into the keys, as many as there is room for in one number; the keys in
        order; and the rows.
        """
        if (names, others) not in self._orders:
            keys, firsts = self.grouped(names)
            n_keyed, span = 0, firsts.size
            for name in others:
                span *= self.covers[name].n_labels
                if span >= LARGEST:
                    break
                keys, n_keyed = keys * self.covers[name].n_labels + self.labels[name], n_keyed + 1
            order = np.argsort(keys, kind="stable")
            self._orders[names, others] = others[:n_keyed], keys[order], order
        return self._orders[names, others]

    def held(self, masks: Masks) -> Bools | None:
        """Which rows predicates hold for; None where a label stands for several originals."""
        names = [name for name in self.attributes if name in masks]
        if any(self.covers[name].is_coarse for name in names):
            return None
        rows = np.ones(self.counts.size, dtype=bool)
        for name in names:
            rows &= masks[name][self.covers[name].firsts][self.labels[name]]
        return rows

    def rows_held(self, held: Bools, n_buckets: int) -> Ids:
        """How many rows of each bucket are among those that predicates hold for."""
        if n_buckets == 1:
            return np.array([np.count_nonzero(held) if self._is_unit else self.counts[held].sum()])
        if self._is_unit:
            return np.bincount(self.buckets[held], minlength=n_buckets)
        return self.per_bucket(self.counts * held, n_buckets).astype(np.int64)

    def per_bucket(self, weights: Ids | Floats, n_buckets: int) -> Floats:
        """The sum of a number per row in each bucket."""
        if n_buckets == 1:
            return np.array([weights.sum()], dtype=np.float64)
        return np.bincount(self.buckets, weights=weights, minlength=n_buckets).astype(np.float64, copy=False)

    def weights(self, masks: Masks, among: tuple[str, ...]) -> Floats:
        """How many rows each different row stands for, as far as predicates about some attributes hold for it."""
        weights = self.counts.astype(np.float64)
        for name in among:
            if name in masks and name in self.labels:
                weights *= self.covers[name].share_in(masks[name])[self.labels[name]]
        return weights


def read_column(
    release: Release, view: View, file: ColumnFile, domains: Mapping[str, Domain], names: tuple[str, ...]
) -> PublishedColumn:
    """Read some attributes of one published column."""
    lines, texts = _lines(release, view, file, names)
    # Grouped in the order of their first appearance, which is sorted, so that nothing depends on threads.
    rows = lines.group_by(lines.columns, maintain_order=True).len("rows")
    recodings = {name: release.recodings.get((view.name, name)) for name in names}
    return PublishedColumn(
        names,
        rows["bucket"].to_numpy(),
        {name: rows[str(index)].to_numpy().astype(np.int32) for index, name in enumerate(names)},
        rows["rows"].cast(pl.Int64).to_numpy(),
        {name: listed_cover(texts[name], recodings[name], domains[name]) for name in names},
        texts,
    )


def rows_of_lines(release: Release, view: View, file: ColumnFile, names: tuple[str, ...]) -> Ids:
    """For each line of a file the different row, as `read_column` reads them, that it is one of."""
    lines, _ = _lines(release, view, file, names)
    numbers, firsts = numbered([lines[name].to_numpy() for name in lines.columns])
    order = np.empty(firsts.size, dtype=np.int64)
    order[np.argsort(firsts)] = np.arange(firsts.size)
    return order[numbers]


def _lines(
    release: Release, view: View, file: ColumnFile, names: tuple[str, ...]
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """The bucket of each line of a file and the numbers of its labels, and the texts of these."""
    frame = release.frames[file.table]
    # Fields go by numbers, since an attribute may have any name.
    texts, codes = {}, {}
    for index, name in enumerate(names):
        published = texts_of(frame[name])
        texts[name] = published.unique().sort()
        codes[str(index)] = published.cast(pl.Enum(texts[name])).to_physical().cast(pl.Int64)
    bucket = frame[BUCKET].cast(pl.Int64) if view.bucketed else pl.zeros(frame.height, pl.Int64, eager=True)
    return pl.DataFrame({"bucket": bucket, **codes}), texts
