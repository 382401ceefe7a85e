"""A sliced view as an adversary searches it: targets, the rows of each column that match them, and their buckets.

What is known of a person stands in several columns, so no row of the view is surely hers; each column has, in
each bucket, some rows that may be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.reading.cover import Cover
from manyveils.reading.evidence import BUCKET, Evidence, Key
from manyveils.reading.keys import Floats, Ids, combined, dense, distinct, example
from manyveils.release import View
from manyveils.release.views import ColumnFile

MOST_PAIRS = 5_000_000


@dataclass(frozen=True, repr=False)
class Slice:
    """One column: which of its rows match what.

    `of_target` gives each target what it must match in this column. A unit is a bucket with what is matched in it, in
    the order of `keys` (what · n_buckets + bucket); `counts` are its rows and `shares` their share of the bucket.
    `groups` pairs units with the groups of equal published rows: unit, group.
    """

    table: str
    of_target: Ids
    n_buckets: int
    keys: Ids
    counts: Ids
    shares: Floats
    groups: pl.DataFrame

    @cached_property
    def starts(self) -> Ids:
        """Where the units of each thing to match start, and past the last."""
        ends = np.arange(int(self.of_target.max(initial=-1)) + 2, dtype=np.int64) * self.n_buckets
        return np.searchsorted(self.keys, ends)

    @cached_property
    def buckets(self) -> Ids:
        """The bucket of each unit."""
        return self.keys % self.n_buckets

    @cached_property
    def degrees(self) -> Ids:
        """The number of buckets that match each target in this column."""
        return np.diff(self.starts)[self.of_target]


@dataclass(frozen=True, repr=False)
class Slices:
    """The columns that hold something known, or something protected, and how many people of the original are each target."""

    columns: tuple[Slice, ...]
    rows: Ids

    def index_of(self, table: str) -> int:
        """Which of the slices a table holds."""
        return next(index for index, column in enumerate(self.columns) if column.table == table)


@dataclass(frozen=True, repr=False)
class Pairs:
    """Targets with the buckets that match them in every column; the pairs of one target follow each other.

    `units` has, slice by slice, the rows that match; `weight` is the product of their shares.
    """

    target: Ids
    units: tuple[Ids, ...]
    weight: Floats


def pairs_of(slices: Slices) -> Iterator[Pairs]:
    """The matching buckets of all targets, a bounded number of pairs at a time: quick where few buckets match."""
    degrees = np.stack([column.degrees for column in slices.columns])
    lead, fewest = degrees.argmin(axis=0), degrees.min(axis=0)
    for index in range(len(slices.columns)):
        targets = np.flatnonzero((lead == index) & (fewest > 0))
        ends = np.cumsum(fewest[targets])
        cuts = np.searchsorted(ends, np.arange(MOST_PAIRS, ends.max(initial=0), MOST_PAIRS))
        for chunk in np.split(targets, cuts):
            if len(chunk):
                yield _paired(slices.columns, index, chunk)


def _paired(columns: tuple[Slice, ...], index: int, targets: Ids) -> Pairs:
    """Take the buckets that match in the leading column, and keep those that match in the others too."""
    lead = columns[index]
    counts = lead.degrees[targets]
    first = lead.starts[lead.of_target[targets]]
    target = np.repeat(targets, counts)
    units = {index: np.arange(len(target)) + np.repeat(first - np.cumsum(counts) + counts, counts)}
    for number, column in enumerate(columns):
        if number == index:
            continue
        keys = column.of_target[target] * column.n_buckets + lead.buckets[units[index]]
        nearest = np.minimum(np.searchsorted(column.keys, keys), len(column.keys) - 1)
        is_match = column.keys[nearest] == keys
        units = {known: unit[is_match] for known, unit in (units | {number: nearest}).items()}
        target = target[is_match]
    weight = np.prod([columns[number].shares[unit] for number, unit in units.items()], axis=0)
    return Pairs(target, tuple(units[number] for number in range(len(columns))), weight)


def slices_of(evidence: Evidence, view: View, known: frozenset[str], tables: Key) -> Slices:
    """Slice a view for those who know some of its attributes; `tables` hold what is protected."""
    question = ("slices", view.name, tuple(sorted(known)), tables)
    return evidence.remembered(question, lambda: _sliced(evidence, view, known, tables))


def _sliced(evidence: Evidence, view: View, known: frozenset[str], tables: Key) -> Slices:
    files = [file for file in view.files if file.table in tables or not known.isdisjoint(file.attributes)]
    covers = [
        {name: evidence.cover(view, file, name) for name in file.attributes if name in known}
        for file in files
    ]
    sought = [_sought(evidence, own) for own in covers]
    first, counts = distinct(combined([numbers for numbers, _ in sought]), evidence.table.weights)
    buckets, n_buckets = evidence.bucket_numbers(files)
    columns = [
        _Column(evidence, file, covers[index], buckets[index], n_buckets).matching(numbers[first], wanted)
        for index, (file, (numbers, wanted)) in enumerate(zip(files, sought, strict=True))
    ]
    return Slices(tuple(columns), counts)


def _sought(evidence: Evidence, covers: Mapping[str, Cover]) -> tuple[Ids, pl.DataFrame]:
    """What each row of the original must match in a column, as a number, and the classes behind each number."""
    if not covers:
        return np.zeros(evidence.table.n_rows, dtype=np.int64), pl.DataFrame({"what": [0]})
    classes = [cover.classes[0][evidence.table[name].codes] for name, cover in covers.items()]
    numbers = dense(combined(classes))
    shown = example(numbers)
    columns = {f"class_{index}": own[shown] for index, own in enumerate(classes)}
    return numbers, pl.DataFrame({"what": np.arange(len(shown)), **columns})


@dataclass(frozen=True, repr=False)
class _Column:
    """One published column, with the cover of what is known in it and the bucket of each row."""

    evidence: Evidence
    file: ColumnFile
    covers: Mapping[str, Cover]
    buckets: Ids
    n_buckets: int

    def matching(self, of_target: Ids, wanted: pl.DataFrame) -> Slice:
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
        matched = self._values(wanted).join(pl.DataFrame(columns), on="value")
        matched = matched.select("group", "count", key=key).sort("key")
        matched = matched.with_columns(unit=pl.col("key").rle_id().cast(pl.Int64))
        units = matched.group_by("unit", maintain_order=True).agg(
            pl.col("key").first(), pl.col("count").sum()
        )
        keys, counts = units["key"].to_numpy(), units["count"].to_numpy()
        shares = counts / evidence.tally(file, self.buckets)[keys % self.n_buckets]
        return Slice(
            file.table, of_target, self.n_buckets, keys, counts, shares, matched.select("unit", "group")
        )

    def _values(self, wanted: pl.DataFrame) -> pl.DataFrame:
        """Which published values match what is wanted: what, value. Attribute by attribute, so that few pairs arise."""
        shown = example(self.evidence.group_numbers(self.file, tuple(self.covers)))
        published = pl.DataFrame({"value": np.arange(len(shown))}).with_columns(
            pl.Series(f"label_{index}", self.evidence.coded(self.file, name).codes[shown])
            for index, name in enumerate(self.covers)
        )
        matched, on = wanted, []
        for index, cover in enumerate(self.covers.values()):
            _, classes, numbers = cover.classes
            labels = pl.DataFrame({f"class_{index}": classes, f"label_{index}": numbers}).unique()
            on.append(f"label_{index}")
            matched = matched.join(labels, on=f"class_{index}").join(published, on=on, how="semi")
        joined = matched.join(published, on=on) if on else matched.join(published, how="cross")
        return joined.select("what", "value")
