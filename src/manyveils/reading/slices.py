"""A sliced view as an adversary searches it: targets, and the rows of each column that match them.

What is known of a person stands in several columns, so no row of the view is surely hers; each column has, in
each bucket, some rows that may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.cover import Cover
from manyveils.reading.evidence import BUCKET, Evidence, Key
from manyveils.reading.keys import Numbers, combined, dense, example
from manyveils.reading.people import distinct
from manyveils.release import View
from manyveils.release.views import ColumnFile


@dataclass(frozen=True, repr=False)
class Slice:
    """One column: which of its rows match what.

    `of_target` gives each target what it must match here. A unit is a bucket with what is matched in it, in the
    order of `keys` (what · n_buckets + bucket); `counts` are its rows and `shares` their share of the bucket.
    `groups` pairs units with the groups of equal published rows: unit, group.
    """

    table: str
    of_target: Numbers
    n_buckets: int
    keys: Numbers
    counts: Numbers
    shares: NDArray[np.float64]
    groups: pl.DataFrame

    @cached_property
    def starts(self) -> Numbers:
        """Where the units of each thing to match start, and past the last."""
        ends = np.arange(int(self.of_target.max(initial=-1)) + 2, dtype=np.int64) * self.n_buckets
        return np.searchsorted(self.keys, ends)

    @cached_property
    def buckets(self) -> Numbers:
        """The bucket of each unit."""
        return self.keys % self.n_buckets

    @cached_property
    def degrees(self) -> Numbers:
        """The number of buckets that match each target here."""
        return np.diff(self.starts)[self.of_target]


@dataclass(frozen=True, repr=False)
class Slices:
    """The columns that hold something known, or something protected, and how many people of the original are each target."""

    each: tuple[Slice, ...]
    rows: Numbers

    def place_of(self, table: str) -> int:
        """The place of a column among the slices."""
        return next(place for place, found in enumerate(self.each) if found.table == table)


def slices_of(evidence: Evidence, view: View, known: frozenset[str], tables: Key) -> Slices:
    """Slice a view for those who know some of its attributes; `tables` hold what is protected."""
    question = ("slices", view.name, tuple(sorted(known)), tables)
    return evidence.remembered(question, lambda: _sliced(evidence, view, known, tables))


def _sliced(evidence: Evidence, view: View, known: frozenset[str], tables: Key) -> Slices:
    files = [file for file in view.files if file.table in tables or not known.isdisjoint(file.attributes)]
    beside = [tuple(name for name in file.attributes if name in known) for file in files]
    covers = [
        {name: evidence.cover(view, file, name) for name in names}
        for file, names in zip(files, beside, strict=True)
    ]
    sought = [_sought(evidence, own) for own in covers]
    rows = combined([numbers for numbers, _ in sought])
    first, counts = distinct(rows, evidence.table.weights)
    buckets, n_buckets = _buckets(evidence, files)
    each = [
        _slice(evidence, file, covers[place], numbers[first], wanted, buckets[place], n_buckets)
        for place, (file, (numbers, wanted)) in enumerate(zip(files, sought, strict=True))
    ]
    return Slices(tuple(each), counts)


def _sought(evidence: Evidence, covers: dict[str, Cover]) -> tuple[Numbers, pl.DataFrame]:
    """What each row of the original must match in a column, as a number, and the classes behind each number."""
    if not covers:
        return np.zeros(evidence.table.n_rows, dtype=np.int64), pl.DataFrame({"what": [0]})
    classes = [cover.classes[0][evidence.table[name].codes] for name, cover in covers.items()]
    numbers = dense(combined(classes))
    shown = example(numbers)
    found = {f"class_{place}": one[shown] for place, one in enumerate(classes)}
    return numbers, pl.DataFrame({"what": np.arange(len(shown)), **found})


def _buckets(evidence: Evidence, files: Sequence[ColumnFile]) -> tuple[list[Numbers], int]:
    """The bucket of each published row, numbered alike in all columns, and the number of buckets."""
    fields = [evidence.coded(file, BUCKET) for file in files]
    every = pl.concat([field.values.cast(pl.String) for field in fields]).unique().to_frame("text")
    numbered = every.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    found = []
    for field in fields:
        texts = field.values.cast(pl.String).to_frame("text")
        joined = texts.join(numbered, on="text", how="left", nulls_equal=True, maintain_order="left")
        found.append(joined["number"].to_numpy()[field.codes])
    return found, numbered.height


def _slice(
    evidence: Evidence,
    file: ColumnFile,
    covers: dict[str, Cover],
    of_target: Numbers,
    wanted: pl.DataFrame,
    buckets: Numbers,
    n_buckets: int,
) -> Slice:
    names = tuple(covers)
    groups = evidence.group_numbers(file, (BUCKET, *names))
    shown = example(groups)
    published = pl.DataFrame(
        {
            "group": np.arange(len(shown)),
            "bucket": buckets[shown],
            "value": evidence.group_numbers(file, names)[shown],
            "count": evidence.tally(file, groups),
        }
    )
    matched = _matching(evidence, file, covers, wanted).join(published, on="value")
    key = pl.col("what") * n_buckets + pl.col("bucket")
    matched = matched.select("group", "count", key=key).sort("key")
    matched = matched.with_columns(unit=pl.col("key").rle_id().cast(pl.Int64))
    units = matched.group_by("unit", maintain_order=True).agg(pl.col("key").first(), pl.col("count").sum())
    keys, counts = units["key"].to_numpy(), units["count"].to_numpy()
    shares = counts / evidence.tally(file, buckets)[keys % n_buckets]
    return Slice(file.table, of_target, n_buckets, keys, counts, shares, matched.select("unit", "group"))


def _matching(
    evidence: Evidence, file: ColumnFile, covers: dict[str, Cover], wanted: pl.DataFrame
) -> pl.DataFrame:
    """Which published values match what is sought: what, value. Attribute by attribute, so that few pairs arise."""
    names = tuple(covers)
    values = evidence.group_numbers(file, names)
    shown = example(values)
    published = pl.DataFrame({"value": np.arange(len(shown))}).with_columns(
        pl.Series(f"label_{place}", evidence.coded(file, name).codes[shown])
        for place, name in enumerate(names)
    )
    matched = wanted
    for place, name in enumerate(names):
        _, classes, numbers = covers[name].classes
        labels = pl.DataFrame({f"class_{place}": classes, f"label_{place}": numbers}).unique()
        seen = [f"label_{before}" for before in range(place + 1)]
        matched = matched.join(labels, on=f"class_{place}").join(published, on=seen, how="semi")
    on = [f"label_{place}" for place in range(len(names))]
    joined = matched.join(published, on=on) if on else matched.join(published, how="cross")
    return joined.select("what", "value")
