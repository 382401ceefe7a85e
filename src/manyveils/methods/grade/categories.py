"""Graded grouping: a number becomes its category and where it stands in it, so that order stays and values do not."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.keys.key import BEND, HIGHEST, Grades
from manyveils.table import Attribute

Numbers = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]
FEWEST_PLACES, MOST_PLACES = 4, 15


def categories_of(column: Attribute, wanted: object, spacing: str, where: str) -> Pairs:
    """The categories of an attribute: as given, or as many of equal width or of equal rows as asked for."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    if isinstance(wanted, Sequence):
        pairs = tuple((float(low), float(high)) for low, high in wanted)
        problems = list(_misfits(pairs, column, where))
        if problems:
            raise PolicyError(problems)
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
    originals = {written(grade): text for grade, text in zip(graded.tolist(), texts, strict=True)}
    return grades, Grades(categories, originals)


def written(grade: float) -> str:
    """A grade as a table writes it."""
    return repr(grade)


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
