"""What the published labels of one attribute leave open: the originals under them, their level, their leaves."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP, Lines
from manyveils.reading import Reading
from manyveils.reading.cover import Bools, Cover, Floats, Ids
from manyveils.reading.meanings import Listing, Meanings, range_ends
from manyveils.table import Attribute

UNKNOWN = np.nan


@dataclass(frozen=True, repr=False)
class Coverage:
    """The labels of one attribute in one view, how many rows have each, and which originals they stand for."""

    attribute: Attribute
    lines: Lines | None
    texts: pl.Series
    rows: Ids
    cover: Cover

    @property
    def height(self) -> int:
        """The top level of the attribute's hierarchy."""
        return len(self.attribute.levels) - 1

    @cached_property
    def is_value(self) -> Bools:
        """Whether a label is a value of the original and stands for nothing else."""
        originals = np.array([*self.attribute.texts, None], dtype=object)[self.cover.firsts]
        return (self.cover.sizes == 1) & (originals == self.texts.to_numpy())

    @cached_property
    def hidden(self) -> Bools:
        """Whether a label is `*` and tells nothing."""
        return (self.texts == TOP).to_numpy() & ~self.is_value

    @cached_property
    def levels(self) -> tuple[Ids, Bools]:
        """The lowest level that has each label, else the lowest with one label for all it covers; and which it is."""
        by_name = np.full(self.rows.size, self.height + 1)
        by_cover = np.full(self.rows.size, self.height)
        texts = self.texts.to_numpy()
        for number in range(self.height, -1, -1):
            level = self.attribute.levels[number]
            shared = self.cover.constant(level.label_of)
            names = np.array([*level.labels, None], dtype=object)[shared]
            by_cover[shared >= 0] = number
            by_name[(shared >= 0) & (names == texts)] = number
        named = self.hidden | (by_name <= self.height)
        lowest = np.where(by_name <= self.height, by_name, by_cover)
        return np.where(self.hidden, self.height, lowest), named

    @property
    def n_leaves(self) -> int:
        """The size of the attribute's domain."""
        return domain_size(self.attribute, self.lines)

    def leaves_by_name(self) -> Floats:
        """The leaves of the domain under each label that the hierarchy has; not a number for others."""
        counts = list(_names_in_lines(self.lines) if self.lines else _names_in_data(self.attribute))
        levels, named = self.levels
        leaves = (
            counts[level].get(text, UNKNOWN) if is_named else UNKNOWN
            for text, level, is_named in zip(self.texts, levels.tolist(), named.tolist(), strict=True)
        )
        return np.array(list(leaves), dtype=np.float64)

    def covered(self) -> Floats:
        """How many originals each label covers; not a number where it is none."""
        return np.where(self.cover.sizes > 0, self.cover.sizes, UNKNOWN)

    def spans(self) -> Floats:
        """The length of each range as a share of the domain's; not a number where a label is no range of numbers."""
        low, high = self._ends
        domain = self._domain
        first, last = (float(domain.min()), float(domain.max())) if domain.size else (0.0, 0.0)
        length = np.clip(high, first, last) - np.clip(low, first, last)
        return length / (last - first) if last > first else low * 0.0

    def in_range(self) -> Floats:
        """How many numbers of the domain lie in each range; not a number where a label is none."""
        low, high = self._ends
        numbers = np.unique(self._domain)
        inside = np.searchsorted(numbers, high, side="right") - np.searchsorted(numbers, low)
        return np.where(np.isnan(low), UNKNOWN, inside)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        if self.attribute.kind != "numeric":
            return np.full(self.rows.size, UNKNOWN), np.full(self.rows.size, UNKNOWN)
        low, high = (end.cast(pl.Float64).to_numpy() for end in range_ends(self.texts))
        return low, high

    @cached_property
    def _domain(self) -> NDArray[np.float64]:
        if self.attribute.kind != "numeric":
            return np.zeros(0)
        texts = pl.Series([line[0] for line in self.lines or ()], dtype=pl.String)
        written = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
        numbers = written if written.size else self.attribute.numbers
        return numbers[np.isfinite(numbers)]


def domain_size(attribute: Attribute, lines: Lines | None) -> int:
    """Count the lines of a written hierarchy, else the values of the original."""
    return len(lines) if lines else attribute.n_values


def _names_in_lines(lines: Lines) -> Iterator[Mapping[str, int]]:
    return (Counter(names) for names in zip(*lines, strict=True))


def _names_in_data(attribute: Attribute) -> Iterator[Mapping[str, int]]:
    for level in attribute.levels.each:
        counts = np.bincount(level.label_of, minlength=len(level.labels))
        yield dict(zip(level.labels, counts.tolist(), strict=True))


def coverages_of(reading: Reading, attribute: Attribute, lines: Lines | None) -> Iterator[Coverage]:
    """What every view that shows an attribute publishes of it."""
    for view in reading.estimate.shapes:
        if attribute.name in view.attributes:
            column = view.column_of(attribute.name)
            texts, labels = column.texts[attribute.name], column.labels[attribute.name]
            rows = np.bincount(labels, weights=column.counts, minlength=len(texts)).astype(np.int64)
            recoding = reading.release.recodings.get((view.name, attribute.name))
            listed = None if recoding is None else Listing(recoding)
            cover = Meanings(attribute, lines).cover(texts.to_list(), listed)
            yield Coverage(attribute, lines, texts, rows, cover)


def first_known(*amounts: Floats | float) -> Floats:
    """Of several amounts for each label the first that is known."""
    known = np.asarray(amounts[0], dtype=np.float64)
    for amount in amounts[1:]:
        known = np.where(np.isnan(known), amount, known)
    return known
