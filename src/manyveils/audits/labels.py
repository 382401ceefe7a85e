"""The values of one attribute as a view publishes them, and how often the original has them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.audits.evidence import Evidence
from manyveils.reading.keys import Numbers
from manyveils.table import Attribute


@dataclass(frozen=True, repr=False)
class Labels:
    """Published values, numbered in the order of the domain.

    `label` and `code` pair values with the originals they stand for; `of_code[c]` is the value that stands
    for original c; `is_exact` says that every original has one value only.
    """

    column: Attribute
    texts: tuple[str, ...]
    label: Numbers
    code: Numbers
    of_code: Numbers
    is_exact: bool

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The number of each value."""
        return {text: number for number, text in enumerate(self.texts)}

    def numbers_of(self, published: pl.Series) -> Numbers:
        """Number published values, which must all be known."""
        return np.array([self.number[text] for text in texts_of(published)], dtype=np.int64)

    @cached_property
    def counts(self) -> Numbers:
        """People of the original under each value; none under a value the original does not have."""
        counts = np.zeros(len(self.texts), dtype=np.int64)
        np.add.at(counts, self.label, self.column.counts[self.code])
        return counts

    @property
    def hides(self) -> bool:
        """Whether some value stands for several originals, and none is a stranger."""
        covered = np.bincount(self.label, minlength=len(self.texts))
        return bool((covered > 1).any() and (covered > 0).all())

    def at_level(self, level: int) -> Numbers:
        """The label of each value at a level of the hierarchy; a value above that level is its own label."""
        above = self.column.levels[level].label_of[self.code]
        own = len(self.column.levels[level].labels) + np.arange(len(self.texts), dtype=np.int64)
        low, high = np.full(len(self.texts), own[-1] + 1), np.full(len(self.texts), -1)
        np.minimum.at(low, self.label, above)
        np.maximum.at(high, self.label, above)
        return np.where(low == high, low, own)

    def lowest_level(self, start: int) -> Numbers:
        """The lowest level, from `start` on, at which all a value stands for has one label; the top for strangers."""
        top = len(self.column.levels) - 1
        lowest = np.full(len(self.texts), top, dtype=np.int64)
        for level in range(top - 1, start - 1, -1):
            lowest[self.at_level(level) < len(self.column.levels[level].labels)] = level
        return lowest


def texts_of(published: pl.Series) -> list[str]:
    """Write published values as the table's texts; a missing one is empty."""
    return published.cast(pl.String).fill_null("").to_list()


def labels_of(evidence: Evidence, view: str, attribute: str, published: pl.Series) -> Labels:
    """The values of an attribute in a view: those of the original, or its public labels, and any others seen."""
    column = evidence.original(attribute)
    pairs = evidence.release.recodings.get((view, attribute))
    own = unrecoded(column) if pairs is None else _recoded(column, pairs)
    strange = [text for text in texts_of(published) if text not in own.number]
    return replace(own, texts=(*own.texts, *sorted(strange)))


def unrecoded(column: Attribute) -> Labels:
    """Values that stand for themselves."""
    codes = np.arange(column.n_values, dtype=np.int64)
    return Labels(column, column.texts, codes, codes, codes, is_exact=True)


def _recoded(column: Attribute, pairs: pl.DataFrame) -> Labels:
    """Labels in the order of the lowest original they cover; originals that no label covers stand for themselves."""
    code_of = {text: code for code, text in enumerate(column.texts)}
    labels: dict[int, list[str]] = {}
    for label, original in pairs.select(pl.col("published", "original").fill_null("")).unique().iter_rows():
        if original in code_of:
            labels.setdefault(code_of[original], []).append(label)
    for code, text in enumerate(column.texts):
        labels.setdefault(code, [text])
    is_exact = all(len(found) == 1 for found in labels.values())
    covered: dict[str, list[int]] = {}
    for code in range(column.n_values):
        for label in labels[code]:
            # Where only some cells of a value are recoded, the value still stands for itself alone.
            if is_exact or label not in code_of or code_of[label] == code:
                covered.setdefault(label, []).append(code)
    return _numbered(column, covered, labels, is_exact=is_exact)


def _numbered(
    column: Attribute, covered: Mapping[str, list[int]], labels: Mapping[int, list[str]], *, is_exact: bool
) -> Labels:
    texts = sorted(covered, key=lambda label: (covered[label][0], len(covered[label]), label))
    number = {label: place for place, label in enumerate(texts)}
    pairs = [(number[label], code) for label in texts for code in covered[label]]
    label, code = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    of_code = [_standing_for(text, labels[place], number) for place, text in enumerate(column.texts)]
    return Labels(column, tuple(texts), label, code, np.array(of_code, dtype=np.int64), is_exact)


def _standing_for(text: str, labels: list[str], number: Mapping[str, int]) -> int:
    known = [label for label in labels if label in number]
    return number[text] if text in known else number[known[0]]
