"""A sliced view as an adversary searches it: targets, the rows of each column that match them, and their buckets.

What is known of a person stands in several columns, so no row of the view is surely hers; each column has, in
each bucket, some rows that may be.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.cover import Cover
from manyveils.reading.evidence import BUCKET, Evidence, Key
from manyveils.reading.keys import Floats, Ids, combined, combined_together, dense, example, numbered
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table.attributes import tally

NO_UNIT = -1
LONGEST_LIST = 10_000_000


@dataclass(frozen=True, repr=False)
class Units:
    """The rows of one column that match what is sought in it.

    A unit is a bucket with what is matched in it, in the order of `keys` (what · n_buckets + bucket); `counts` are its
    rows and `shares` their share of the bucket. `groups` pairs units with the groups of equal published rows: unit,
    group.
    """

    n_buckets: int
    keys: Ids
    counts: Ids
    shares: Floats
    groups: pl.DataFrame

    @cached_property
    def _at(self) -> NDArray[np.int32] | None:
        """The unit at each key, and -1 where there is none; nothing where that would be a long list."""
        n_keys = int(self.keys[-1]) + 1 if len(self.keys) else 0
        if n_keys > LONGEST_LIST:
            return None
        at = np.full(n_keys + 1, NO_UNIT, dtype=np.int32)
        at[self.keys] = np.arange(len(self.keys))
        return at

    def at(self, what: Ids, buckets: Ids) -> Ids:
        """The unit that holds what is sought in each bucket, -1 where there is none."""
        keys = what * self.n_buckets + buckets
        if self._at is not None:
            return self._at[np.minimum(keys, len(self._at) - 1)]
        nearest = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[nearest] == keys, nearest, NO_UNIT)


@dataclass(frozen=True, repr=False)
class Slice:
    """One column as targets search it: its units, and what each target must match in it."""

    units: Units
    of_target: Ids

    @cached_property
    def starts(self) -> Ids:
        """Where the units of each thing to match start, and past the last."""
        ends = np.arange(int(self.of_target.max(initial=-1)) + 2, dtype=np.int64) * self.units.n_buckets
        return np.searchsorted(self.units.keys, ends)

    @cached_property
    def buckets(self) -> Ids:
        """The bucket of each unit."""
        return self.units.keys % self.units.n_buckets

    @cached_property
    def degrees(self) -> Ids:
        """The number of buckets that match each target in this column."""
        return np.diff(self.starts)[self.of_target]

    def matching(self, targets: Ids, buckets: Ids) -> Ids:
        """The unit that holds what each target seeks in a bucket, -1 where there is none."""
        return self.units.at(self.of_target[targets], buckets)

    def some(self, targets: Ids) -> "Slice":
        """The column as some targets search it."""
        return Slice(self.units, self.of_target[targets])


@dataclass(frozen=True, repr=False)
class Slices:
    """The columns that hold something known, and how many people of the original are each target.

    `examples` has a row of the original of each target, and `of_row` the target of each row. `tables` names the
    columns; `unknown` has the others, which every row of theirs matches.
    """

    columns: tuple[Slice, ...]
    rows: Ids
    examples: Ids
    of_row: Ids
    tables: Key
    unknown: Callable[[str], Units]

    @property
    def n_buckets(self) -> int:
        """The number of buckets."""
        return self.columns[0].units.n_buckets

    def holding(self, table: str) -> Slice:
        """The column that a table holds, whether something in it is known or not."""
        if table in self.tables:
            return self.columns[self.tables.index(table)]
        return Slice(self.unknown(table), np.zeros(len(self.rows), dtype=np.int64))

    def beside(self, table: str) -> tuple[Slice, ...]:
        """The columns with something known but for one."""
        named = zip(self.tables, self.columns, strict=True)
        return tuple(column for name, column in named if name != table)


def slices_of(evidence: Evidence, view: View, known: frozenset[str]) -> Slices:
    """Slice a view for those who know some of its attributes."""
    question = ("slices", view.name, tuple(sorted(known)), ())
    return evidence.remembered(question, lambda: _sliced(evidence, view, known))


def _sliced(evidence: Evidence, view: View, known: frozenset[str]) -> Slices:
    files = [file for file in view.files if not known.isdisjoint(file.attributes)]
    sought = [_sought(evidence, view, file, known) for file in files]
    of_row, examples = numbered([numbers for numbers, _ in sought])
    columns = [Slice(units, numbers[examples]) for numbers, units in sought]
    by_table = {file.table: file for file in view.files}
    return Slices(
        tuple(columns),
        tally(of_row, evidence.table.weights, len(examples)),
        examples,
        of_row,
        tuple(file.table for file in files),
        lambda table: _sought(evidence, view, by_table[table], frozenset())[1],
    )


def _sought(evidence: Evidence, view: View, file: ColumnFile, known: frozenset[str]) -> tuple[Ids, Units]:
    """What each row of the original must match in a column, as a number, and the rows that match it."""
    names = tuple(name for name in file.attributes if name in known)
    question = ("sought", file.table, names, ())
    return evidence.remembered(question, lambda: _searched(evidence, view, file, names))


def _searched(evidence: Evidence, view: View, file: ColumnFile, names: Key) -> tuple[Ids, Units]:
    covers = {name: evidence.cover(view, file, name) for name in names}
    numbers, wanted = _wanted(evidence, covers)
    buckets, n_buckets = evidence.buckets_of(view, file)
    return numbers, _Column(evidence, file, covers, buckets, n_buckets).matching(wanted)


def _wanted(evidence: Evidence, covers: Mapping[str, Cover]) -> tuple[Ids, pl.DataFrame]:
    """What each row of the original must match in a column, as a number, and the classes behind each number."""
    if not covers:
        return np.zeros(evidence.table.n_rows, dtype=np.int64), pl.DataFrame({"what": [0]})
    # One attribute after the other: there may be hundreds.
    codes = {name: evidence.table[name].codes for name in covers}
    numbers = dense(combined(cover.classes[0][codes[name]] for name, cover in covers.items()))
    shown = example(numbers)
    columns = {
        f"class_{index}": cover.classes[0][codes[name][shown]]
        for index, (name, cover) in enumerate(covers.items())
    }
    return numbers, pl.DataFrame({"what": np.arange(len(shown)), **columns})


@dataclass(frozen=True, repr=False)
class _Column:
    """One published column, with the cover of what is known in it and the bucket of each row."""

    evidence: Evidence
    file: ColumnFile
    covers: Mapping[str, Cover]
    buckets: Ids
    n_buckets: int

    def matching(self, wanted: pl.DataFrame) -> Units:
        """The rows that match what targets want."""
        evidence, file, names = self.evidence, self.file, tuple(self.covers)
        groups = evidence.group_numbers(file, (BUCKET, *names))
        shown = example(groups)
        columns = {
            "group": np.arange(len(shown)),
            "bucket": self.buckets[shown],
            "value": evidence.group_numbers(file, names)[shown],
            "count": evidence.tally(file, groups),
        }
        key = pl.col("what") * self.n_buckets + pl.col("bucket")
        matched = _values(evidence, file, self.covers, wanted).join(pl.DataFrame(columns), on="value")
        matched = matched.select("group", "count", key=key).sort("key")
        matched = matched.with_columns(unit=pl.col("key").rle_id().cast(pl.Int64))
        units = matched.group_by("unit", maintain_order=True).agg(
            pl.col("key").first(), pl.col("count").sum()
        )
        keys, counts = units["key"].to_numpy(), units["count"].to_numpy()
        shares = counts / evidence.tally(file, self.buckets)[keys % self.n_buckets]
        return Units(self.n_buckets, keys, counts, shares, matched.select("unit", "group"))


def values_for(evidence: Evidence, view: View, file: ColumnFile, names: Key) -> tuple[Ids, pl.DataFrame]:
    """What each row of the original seeks among the published values of some attributes, as a number, and what it finds.

    Values are numbered as `group_numbers` does: what, value.
    """
    covers = {name: evidence.cover(view, file, name) for name in names}
    numbers, wanted = _wanted(evidence, covers)
    return numbers, _values(evidence, file, covers, wanted)


def _values(
    evidence: Evidence, file: ColumnFile, covers_of: Mapping[str, Cover], wanted: pl.DataFrame
) -> pl.DataFrame:
    """Which published values match what is wanted: what, value. Attribute by attribute, so that few pairs arise."""
    shown = example(evidence.group_numbers(file, tuple(covers_of)))
    labels_of = {index: evidence.coded(file, name).codes for index, name in enumerate(covers_of)}
    covers = list(enumerate(covers_of.values()))
    published = pl.DataFrame({"value": np.arange(len(shown))}).with_columns(
        pl.Series(f"label_{index}", labels_of[index][shown]) for index, cover in covers if cover.overlaps
    )
    # Where labels do not overlap, there is one for each class, and classes are numbered after it, from 1 on.
    single = [index for index, cover in covers if not cover.overlaps]
    matched, on = wanted, list[str]()
    if single:
        own = ((wanted[f"class_{index}"].to_numpy(), labels_of[index][shown] + 1) for index in single)
        keys = combined_together(own)
        matched = wanted.drop(f"class_{index}" for index in single)
        matched = matched.with_columns(single=keys[: wanted.height])
        published, on = published.with_columns(single=keys[wanted.height :]), ["single"]
    pairs = [_pairs(index, cover) for index, cover in covers if cover.overlaps]
    for labels in sorted(pairs, key=_breadth):
        matched, on = _narrowed(matched, on, labels, published)
    joined = matched.join(published, on=on) if on else matched.join(published, how="cross")
    return joined.select("what", "value")


def _pairs(index: int, cover: Cover) -> pl.DataFrame:
    """The labels that may stand for each class of originals: class_…, label_…."""
    _, classes, labels = cover.classes
    return pl.DataFrame({f"class_{index}": classes, f"label_{index}": labels}).unique()


def _narrowed(
    matched: pl.DataFrame, on: list[str], labels: pl.DataFrame, published: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    """What is wanted beside the labels of one attribute more that may stand for it, if they are published together."""
    wider = [*on, labels.columns[1]]
    present = published.select(wider).unique()
    n_before = published.select(on).n_unique() if on else 1
    if not on or _breadth(labels) * n_before <= present.height:
        found = matched.join(labels, on=labels.columns[0]).join(present, on=wider, how="semi")
    else:
        # Many labels may stand for it, of which few go with those found so far.
        found = matched.join(present, on=on).join(labels, on=labels.columns, how="semi")
    return found, wider


def _breadth(labels: pl.DataFrame) -> float:
    """How many labels may stand for a class, on average."""
    return labels.height / max(labels.to_series(0).n_unique(), 1)
