"""What published labels lose: the values of the domain that they add to a cell's own.

A reader knows a label by its text, so labels that read alike are one here, whatever groups they were made for.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.methods.alpha_beta_k.domain import domain_numbers, domain_size
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.promises.entries import Ids, distinct
from manyveils.release import Recoding
from manyveils.table import Attribute

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
RANGE = re.compile(rf"\[{NUMBER}, {NUMBER}\]")
SET = re.compile(r"\{(.*)\}")
UNKNOWN = 0


def mean_loss(column: Attribute, lines: Lines | None, recoding: Recoding | None) -> float:
    """The mean over cells of (values under the label - 1) / domain; nothing is lost where nothing is recoded.

    Claim: it is what `utility.distortion` measures of the release, though no code is shared.
    Tested by: tests/claims/test_alpha_beta_k_losses.py
    """
    if recoding is None:
        return 0.0
    shown = _shown(column, recoding)
    size = domain_size(column, lines)
    leaves = np.clip(_leaves(column, lines, shown, size), 1, size)
    return float((shown.rows * (leaves - 1)).sum()) / (size * max(recoding.codes.size, 1))


@dataclass(frozen=True, repr=False)
class Shown:
    """The different texts that are published, the rows of each, and the codes it covers as pairs."""

    texts: tuple[str, ...]
    rows: Ids
    owners: Ids
    codes: Ids

    @property
    def covered(self) -> Ids:
        """How many values of the data each text covers."""
        return np.bincount(self.owners, minlength=len(self.texts))


def _shown(column: Attribute, recoding: Recoding) -> Shown:
    number_of: dict[str, int] = {}
    labels = recoding.values.fill_null("").to_list()
    text_of = np.array([number_of.setdefault(text, len(number_of)) for text in labels], dtype=np.int64)
    code_of = {text: code for code, text in enumerate(column.texts)}
    numbers, originals = recoding.covers or (np.zeros(0, dtype=np.int64), ())
    listed = text_of[numbers]
    # A label that lists nothing stands for itself.
    alone = np.setdiff1d(np.arange(len(number_of)), listed)
    texts = tuple(number_of)
    owners = np.append(listed, alone)
    codes = [code_of.get(text, -1) for text in (*originals, *(texts[place] for place in alone.tolist()))]
    found = np.array(codes, dtype=np.int64)
    keys = distinct(owners[found >= 0] * column.n_values + found[found >= 0])
    rows = np.bincount(text_of[recoding.codes], minlength=len(texts))
    return Shown(texts, rows, *np.divmod(keys, max(column.n_values, 1)))


def _leaves(column: Attribute, lines: Lines | None, shown: Shown, size: int) -> Ids:
    """How many values of the domain each text stands for: all, those under its name, or what its words say."""
    leaves = _by_name(column, lines, shown)
    numbers: Sequence[float] = domain_numbers(column, lines).tolist() if column.kind == "numeric" else ()
    values = {*column.texts, *(line[0] for line in lines or ())}
    covered = shown.covered
    for place in np.flatnonzero(leaves == UNKNOWN).tolist():
        text = shown.texts[place]
        leaves[place] = _in_range(text, numbers) or _members(text, values) or covered[place] or size
    return np.where([text == TOP for text in shown.texts], size, leaves)


def _by_name(column: Attribute, lines: Lines | None, shown: Shown) -> Ids:
    """The values under the lowest label that has the name and all that is covered; 0 where there is none."""
    leaves = np.full(len(shown.texts), UNKNOWN, dtype=np.int64)
    covers_some = shown.covered > 0
    # From the top down, so that the lowest level has the last word.
    for number in reversed(range(len(column.levels))):
        level = column.levels[number]
        places = {name: place for place, name in enumerate(level.labels)}
        named = np.array([places.get(text, -1) for text in shown.texts], dtype=np.int64)
        elsewhere = shown.owners[level.label_of[shown.codes] != named[shown.owners]]
        is_label = covers_some & (np.bincount(elsewhere, minlength=leaves.size) == 0)
        counts = _counts(column, lines, number)
        for place in np.flatnonzero(is_label).tolist():
            leaves[place] = 1 if number == 0 else counts.get(shown.texts[place], UNKNOWN)
    return leaves


def _counts(column: Attribute, lines: Lines | None, number: int) -> Mapping[str, int]:
    if lines:
        return Counter(line[number] for line in lines)
    level = column.levels[number]
    counted = np.bincount(level.label_of, minlength=len(level.labels)).tolist()
    return dict(zip(level.labels, counted, strict=True))


def _in_range(text: str, numbers: Sequence[float]) -> int:
    """The numbers of the domain from one end of a range to the other; 0 if it is none."""
    ends = RANGE.fullmatch(text) if numbers else None
    return bisect_right(numbers, float(ends[2])) - bisect_left(numbers, float(ends[1])) if ends else 0


def _members(text: str, values: set[str]) -> int:
    """The members of a set of known values; 0 if it is none."""
    inside = SET.fullmatch(text)
    parts = inside[1].split(", ") if inside else []
    return len(parts) if values.issuperset(parts) else 0
