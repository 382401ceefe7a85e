"""What is read in place of values: pseudonyms of values or their groups, as each person chose, and grades of numbers."""

import base64
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.keys.choices import ACTUAL, HIDDEN, PSEUDONYM_LENGTH, Choices, choices_of, is_choice
from manyveils.keys.key import BEND, HIGHEST, Grades, Pseudonyms
from manyveils.policy.sections import Kind
from manyveils.promises.work import Work
from manyveils.release.draft import Lookup
from manyveils.table import Attribute
from manyveils.table.levels import Codes, value_or_top

Numbers = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]
FEWEST_PLACES, MOST_PLACES = 4, 15


def checked_choices(work: Work) -> Choices:
    """The choices of a table, all of which can be understood."""
    choices = choices_of(work.policy, work.table.attributes)
    if choices.attribute is not None:
        attribute = work.table[choices.attribute]
        wrong = [code for code, text in enumerate(attribute.texts) if not is_choice(text)]
        if wrong:
            what = f"{int(attribute.counts[wrong].sum())} cells hold something other than a choice."
            remedy = "Write 1, 2 or 3 into them, or leave them empty."
            raise DataError.at(f"data: {choices.attribute}", what, remedy)
    return choices


def pseudonymized(work: Work, column: Attribute, choices: Choices) -> tuple[Lookup, Pseudonyms]:
    """What is published of a column for each choice and value, and the key; decided from how they occur together.

    A missing cell stays missing, whatever was chosen.
    """
    n_values = column.n_values
    parents = column.levels[min(1, len(column.levels) - 1)]
    n_parents = len(parents.labels)
    codes = _codes(work, column, n_values + n_parents)
    own, of_value, of_parent = list(column.texts), codes[:n_values], codes[n_values:]
    labels = (*(text or None for text in own), *of_value, *of_parent)
    numbers = _numbers(column, parents.label_of, choices)
    used = np.zeros(len(labels), dtype=bool)
    used[numbers[_occurring(work, column, choices)]] = True
    values = {code: own[number] for number, code in enumerate(of_value) if used[n_values + number]}
    groups = {
        code: (_named(parents.labels[number], n_parents), _members(column, number))
        for number, code in enumerate(of_parent)
        if used[2 * n_values + number]
    }
    return _lookup(column.name, numbers, labels, used, choices), Pseudonyms(values, groups)


def _numbers(column: Attribute, parent_of: Codes, choices: Choices) -> NDArray[np.int64]:
    """What is read for each choice and value: a number below the values, the codes of values or those of parents."""
    n_values, every, meant = column.n_values, np.arange(column.n_values), choices.meant[:, np.newaxis]
    hidden, generalized = n_values + every, 2 * n_values + parent_of
    numbers = np.where(meant == ACTUAL, every, np.where(meant == HIDDEN, hidden, generalized))
    if column.has_missing:
        numbers[:, -1] = n_values - 1
    return numbers


def _occurring(work: Work, column: Attribute, choices: Choices) -> NDArray[np.bool_]:
    """Which values occur with which choices."""
    if choices.attribute is None:
        return column.counts[np.newaxis, :] > 0
    both = work.counts((column.name, choices.attribute))
    keys = both[choices.attribute].codes.astype(np.int64) * column.n_values + both[column.name].codes
    span = choices.meant.size * column.n_values
    return (np.bincount(keys, minlength=span) > 0).reshape(-1, column.n_values)


def _lookup(
    name: str,
    numbers: NDArray[np.int64],
    labels: tuple[str | None, ...],
    used: NDArray[np.bool_],
    choices: Choices,
) -> Lookup:
    """A column of the labels that occur, in the order of their texts, a missing one last."""
    ordered = sorted(
        np.flatnonzero(used).tolist(), key=lambda number: (labels[number] is None, labels[number] or "")
    )
    rank = np.zeros(len(labels), dtype=np.int32)
    rank[ordered] = np.arange(len(ordered))
    domain = pl.Series(name, [labels[number] for number in ordered], dtype=pl.String)
    return lookup_of("categorical", domain, rank[numbers], choices.attribute)


def lookup_of(kind: Kind, domain: pl.Series, numbers: NDArray[np.int32], choice: str | None = None) -> Lookup:
    """Labels that stand for themselves, or for anything."""
    texts = [text if text is not None else "" for text in domain.cast(pl.String).to_list()]
    return Lookup(kind, domain, value_or_top(texts), numbers, choice)


def _named(label: str, n_labels: int) -> str:
    return "any value" if n_labels == 1 and label == "*" else label


def _members(column: Attribute, label: int) -> tuple[str, ...]:
    level = column.levels[min(1, len(column.levels) - 1)]
    texts = (column.texts[code] for code in np.flatnonzero(level.label_of == label).tolist())
    return tuple(text for text in texts if text)


def _codes(work: Work, column: Attribute, n_codes: int) -> list[str]:
    """As many codes, all different and like no value; without the seed nothing can be said of one from others."""
    codes: list[str] = []
    taken = set(column.texts)
    turn = 0
    while len(codes) < n_codes:
        secret = work.streams.secret(f"alias {column.name} {turn}")
        code = base64.b32encode(secret).decode()[:PSEUDONYM_LENGTH]
        turn += 1
        if code not in taken:
            taken.add(code)
            codes.append(code)
    return codes


def categories_of(column: Attribute, wanted: object, spacing: str, where: str) -> Pairs:
    """The categories of an attribute: as given, or as many of equal width or of equal rows as asked for."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    if isinstance(wanted, Sequence):
        pairs = tuple((float(low), float(high)) for low, high in wanted)
        PolicyError.refuse(_misfits(pairs, column, where))
        return pairs
    assert isinstance(wanted, int)
    ends = _ends(column, numbers, wanted, spacing)
    return tuple(pairwise(ends)) if len(ends) > 1 else ((ends[0], ends[0]),)


def _ends(column: Attribute, numbers: Numbers, n_categories: int, spacing: str) -> list[float]:
    if numbers.size == 0:
        return [0.0]
    if spacing == "equal-width":
        parts = np.arange(n_categories + 1) / n_categories
        ends = numbers.min() * (1 - parts) + numbers.max() * parts
    else:
        counts = column.counts[: numbers.size]
        reached = np.cumsum(counts) * n_categories
        indices = np.searchsorted(reached, np.arange(1, n_categories) * counts.sum())
        ends = np.array([numbers[0], *numbers[indices], numbers[-1]])
    return [float(end) for end in np.unique(ends)]


def _misfits(pairs: Pairs, column: Attribute, where: str) -> Iterator[Problem]:
    if any(low > high for low, high in pairs):
        yield Problem(where, "a category ends before it begins.", "Write [min, max].")
    if any(before[1] > after[0] for before, after in pairwise(pairs)):
        yield Problem(
            where, "categories overlap or are out of order.", "Let each begin where the last one ends."
        )
    inside = np.zeros(column.n_values, dtype=bool)
    for low, high in pairs:
        inside |= (column.numbers >= low) & (column.numbers <= high)
    outside = int(column.counts[~inside & ~np.isnan(column.numbers)].sum())
    if outside:
        n_rows = int(column.counts.sum())
        yield Problem(where, f"{outside} of {n_rows} cells lie outside all categories.", "Widen them.")


def grades_of(column: Attribute, categories: Pairs) -> tuple[Numbers, Grades]:
    """The grade of every value, in as few decimals as keep different values apart, and the key to read it.

    Claim: grades have the order of the values, and two grades are equal exactly if the values are.
    Why: inside a category the share rises with the value and stays below one; a number on a shared boundary
    belongs to the upper category; decimals are added until no two neighbours are equal.
    Tested by: tests/claims/test_grade.py
    """
    is_number = ~np.isnan(column.numbers)
    numbers = column.numbers[is_number]
    low = np.array([pair[0] for pair in categories])
    high = np.array([pair[1] for pair in categories])
    index = np.searchsorted(low, numbers, side="right") - 1
    # Halves, so that the widest range of numbers has a width.
    width = high[index] / 2 - low[index] / 2
    share = np.divide(numbers / 2 - low[index] / 2, width, out=np.zeros(numbers.size), where=width > 0)
    bent = BEND + (share - BEND) * ((HIGHEST - BEND) / (1 - BEND))
    exact = np.where(share > BEND, bent, share) + (index + 1.0)
    graded = _rounded(exact)
    grades = np.full(column.n_values, np.nan)
    grades[is_number] = graded
    texts = [text for text, keep in zip(column.texts, is_number, strict=True) if keep]
    # Grades are written as tables write them.
    originals = {repr(grade): text for grade, text in zip(graded.tolist(), texts, strict=True)}
    return grades, Grades(categories, originals)


def _rounded(exact: Numbers) -> Numbers:
    for decimals in range(FEWEST_PLACES, MOST_PLACES):
        rounded = np.round(exact, decimals)
        if (np.diff(rounded) > 0).all():
            return rounded
    # Values that even the finest numbers do not keep apart are moved up one by one.
    moved = exact.copy()
    for later in range(1, moved.size):
        moved[later] = max(moved[later], np.nextafter(moved[later - 1], np.inf))
    return moved
