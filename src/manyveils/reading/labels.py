"""The values of one attribute as a view publishes them, beside the original."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.reading.cover import Cover, Ids
from manyveils.reading.meanings import Meanings, texts_of
from manyveils.table import Attribute


@dataclass(frozen=True, repr=False)
class Labels:
    """The values of one attribute as a view publishes them, numbered in the order of the domain.

    Originals that no published label covers stand for themselves. `of_code[c]` is the value that stands for original
    c; `is_exact` says that every original has one value only.
    """

    attribute: Attribute
    texts: tuple[str, ...]
    cover: Cover
    of_code: Ids
    is_exact: bool
    # The value that each published text is.
    meant: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The number of each value, however it is written."""
        number = {text: number for number, text in enumerate(self.texts)}
        return {text: number[value] for text, value in self.meant.items()} | number

    def numbers_of(self, published: pl.Series) -> Ids:
        """Number published values, which must all be known."""
        return np.array([self.number[text] for text in texts_of(published).to_list()], dtype=np.int64)

    @cached_property
    def counts(self) -> Ids:
        """People of the original under each value; none under a value the original does not have."""
        return self.cover.sums(self.attribute.counts)

    @property
    def hides(self) -> bool:
        """Whether some value stands for several originals, and every value for one at least."""
        return bool(self.cover.is_coarse and self.cover.sizes.min(initial=1) > 0)

    def at_level(self, level: int) -> Ids:
        """The label of each value at a level of the hierarchy; a value above that level is its own label."""
        step = self.attribute.levels[level]
        own = len(step.labels) + np.arange(len(self.texts), dtype=np.int64)
        above = self.cover.constant(step.label_of)
        return np.where(above >= 0, above, own)

    def lowest_level(self, start: int) -> Ids:
        """The lowest level, from `start` on, at which all that a value stands for has one label; else the top."""
        top = len(self.attribute.levels) - 1
        lowest = np.full(len(self.texts), top, dtype=np.int64)
        for level in range(top - 1, start - 1, -1):
            lowest[self.at_level(level) < len(self.attribute.levels[level].labels)] = level
        return lowest


def unrecoded(attribute: Attribute) -> Labels:
    """Values that stand for themselves."""
    codes = np.arange(attribute.n_values, dtype=np.int64)
    cover = Cover(np.arange(attribute.n_values + 1), codes, codes, attribute.n_values)
    return Labels(attribute, attribute.texts, cover, codes, is_exact=True)


def labels_of(meanings: Meanings, published: Sequence[str], cover: Cover) -> Labels:
    """The values of an attribute: published texts in the order of what they stand for, and originals under none.

    Texts that stand for the same originals are one value, however they are written.
    """
    attribute = meanings.attribute
    if not cover.is_coarse and all(text in meanings.code_of for text in published):
        return unrecoded(attribute)
    alone = np.flatnonzero(cover.depth == 0)
    texts = [*published, *(attribute.texts[code] for code in alone)]
    cover = cover.with_values(alone)
    canonical = canonical_texts(meanings, texts, cover)
    first: dict[str, int] = {}
    for label, text in enumerate(canonical):
        first.setdefault(text, label)
    # By the lowest original under a label, then by how many there are; labels without any come last.
    is_empty, firsts, sizes = (cover.sizes == 0).tolist(), cover.firsts.tolist(), cover.sizes.tolist()
    ordered = sorted(
        first, key=lambda text: (is_empty[first[text]], firsts[first[text]], sizes[first[text]], text)
    )
    labels = _numbered(attribute, tuple(ordered), cover.taking(np.array([first[text] for text in ordered])))
    return replace(labels, meant=dict(zip(texts, canonical, strict=True)))


# No cell is written so.
MARK = "\0"


def canonical_texts(meanings: Meanings, texts: Sequence[str], cover: Cover) -> list[str]:
    """One text for all that stand for the same originals: the original, if it is one, else the first of them.

    Claim: texts that stand for different originals get different ones.
    Why: a label that is written like an original, but is not that, is told from it by a mark.
    Tested by: tests/claims/test_labels.py
    """
    canonical = [f"{MARK}{text}" if text in meanings.code_of else text for text in texts]
    by_cover: dict[tuple[bytes, bytes], str] = {}
    originals, sizes, firsts = meanings.attribute.texts, cover.sizes.tolist(), cover.firsts.tolist()
    for label, text in enumerate(texts):
        if sizes[label] == 1 and not meanings.unseen(text):
            canonical[label] = originals[firsts[label]]
        elif sizes[label] > 1:
            runs = slice(int(cover.starts[label]), int(cover.starts[label + 1]))
            covered = cover.low[runs].tobytes(), cover.high[runs].tobytes()
            canonical[label] = by_cover.setdefault(covered, canonical[label])
    return canonical


def _numbered(attribute: Attribute, texts: tuple[str, ...], cover: Cover) -> Labels:
    is_exact = not cover.overlaps
    if is_exact:
        return Labels(attribute, texts, cover, cover.label_of, is_exact=True)
    number = {text: label for label, text in enumerate(texts)}
    labels, codes = cover.pairs()
    of_code = np.full(attribute.n_values, len(texts), dtype=np.int64)
    np.minimum.at(of_code, codes, labels)
    own = np.array([number.get(text, -1) for text in attribute.texts], dtype=np.int64)
    is_own = (own >= 0) & cover.covers(np.maximum(own, 0), np.arange(attribute.n_values))
    return Labels(attribute, texts, cover, np.where(is_own, own, of_code), is_exact=False)
