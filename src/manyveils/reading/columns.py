"""Published columns as numbers: what rows say, how often, and which originals their labels stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.domains import Domain, texts_of
from manyveils.release import Release, View
from manyveils.release.seal import BUCKET
from manyveils.release.views import ColumnFile

Ids = NDArray[np.int64]
Shares = NDArray[np.float64]
Masks = Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True, repr=False)
class Spread:
    """The labels of one attribute in one view; a label's weight is spread evenly over the originals it covers.

    `originals[starts[label]:starts[label + 1]]` are the codes under a label.
    """

    starts: Ids
    originals: Ids
    n_originals: int

    @cached_property
    def sizes(self) -> Ids:
        """How many originals each label covers."""
        return np.diff(self.starts)

    @cached_property
    def labels(self) -> Ids:
        """The label of each entry of `originals`."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def overlaps(self) -> bool:
        """Whether some original stands under several labels."""
        return bool(np.bincount(self.originals, minlength=self.n_originals).max(initial=0) > 1)

    @cached_property
    def label_of(self) -> Ids:
        """The one label of each original, -1 where there is none; only without overlaps."""
        found = np.full(self.n_originals, -1, dtype=np.int64)
        found[self.originals] = self.labels
        return found

    @cached_property
    def is_coarse(self) -> bool:
        """Whether some label covers several originals."""
        return bool(self.sizes.max(initial=1) > 1)

    def holds_for(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each label whether a predicate holds for its one original."""
        return mask[self.originals]

    def share_in(self, mask: NDArray[np.bool_]) -> Shares:
        """For each label the share of its originals that a predicate holds for."""
        inside = np.bincount(self.labels, weights=mask[self.originals], minlength=self.sizes.size)
        return inside / np.maximum(self.sizes, 1)


@dataclass(frozen=True, repr=False)
class PublishedColumn:
    """One published column: its different rows, bucket by bucket, with counts."""

    attributes: tuple[str, ...]
    buckets: Ids
    labels: Mapping[str, NDArray[np.int32]]
    counts: Ids
    spreads: Mapping[str, Spread]

    @cached_property
    def _is_unit(self) -> bool:
        """Whether every different row stands for one row."""
        return bool(self.counts.max(initial=1) == 1)

    def held(self, masks: Masks) -> NDArray[np.bool_] | None:
        """Which rows predicates hold for; nothing where a label stands for several originals."""
        asked = [name for name in self.attributes if name in masks]
        if any(self.spreads[name].is_coarse for name in asked):
            return None
        rows = np.ones(self.counts.size, dtype=bool)
        for name in asked:
            rows &= self.spreads[name].holds_for(masks[name])[self.labels[name]]
        return rows

    def rows_held(self, held: NDArray[np.bool_], n_buckets: int) -> Ids:
        """How many rows of each bucket are held."""
        if n_buckets == 1:
            return np.array([np.count_nonzero(held) if self._is_unit else self.counts[held].sum()])
        if self._is_unit:
            return np.bincount(self.buckets[held], minlength=n_buckets)
        return self.per_bucket(self.counts * held, n_buckets).astype(np.int64)

    def per_bucket(self, weights: Ids | Shares, n_buckets: int) -> Shares:
        """The sum of a number per row in each bucket."""
        if n_buckets == 1:
            return np.array([weights.sum()], dtype=np.float64)
        return np.bincount(self.buckets, weights=weights, minlength=n_buckets).astype(np.float64, copy=False)

    def weights(self, masks: Masks, among: tuple[str, ...]) -> Shares:
        """How many rows each different row stands for, as far as predicates about some attributes hold for it."""
        weights = self.counts.astype(np.float64)
        for name in among:
            if name in masks and name in self.labels:
                weights *= self.spreads[name].share_in(masks[name])[self.labels[name]]
        return weights


def part_of(
    release: Release, view: View, file: ColumnFile, domains: Mapping[str, Domain], names: tuple[str, ...]
) -> PublishedColumn:
    """Read some attributes of one published column."""
    frame = release.frames[file.table]
    spreads, codes = {}, {}
    for name in names:
        texts = texts_of(frame[name])
        distinct = texts.unique().sort()
        codes[name] = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
        spreads[name] = _spread(distinct.to_list(), release.recodings.get((view.name, name)), domains[name])
    bucket = frame[BUCKET].cast(pl.Int64) if view.bucketed else pl.zeros(frame.height, pl.Int64, eager=True)
    # Grouped in the order of their first appearance, which is sorted, so that nothing depends on threads.
    rows = pl.DataFrame({"#bucket": bucket, **{f"#{name}": codes[name] for name in names}})
    rows = rows.group_by(rows.columns, maintain_order=True).len("#rows")
    return PublishedColumn(
        names,
        rows["#bucket"].to_numpy(),
        {name: rows[f"#{name}"].to_numpy().astype(np.int32) for name in names},
        rows["#rows"].cast(pl.Int64).to_numpy(),
        spreads,
    )


def _spread(labels: list[str], recoding: pl.DataFrame | None, domain: Domain) -> Spread:
    covered: dict[str, list[int]] = {label: [] for label in labels}
    if recoding is not None:
        pairs = recoding.select(pl.col("published", "original").fill_null("")).iter_rows()
        for label, original in pairs:
            if label in covered:
                covered[label].append(domain.code[original])
    for label, codes in covered.items():
        if not codes:
            # A label that nothing explains stands for itself, and one that hides everything for every original.
            codes += [domain.code[label]] if label in domain.code else range(len(domain.texts))
    lists = [sorted(set(covered[label])) for label in labels]
    sizes = np.array([len(codes) for codes in lists], dtype=np.int64)
    flat = [code for codes in lists for code in codes]
    return Spread(np.append(0, np.cumsum(sizes)), np.array(flat, dtype=np.int64), len(domain.texts))
