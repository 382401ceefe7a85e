"""Hierarchies as arrays: for each level, the label of every value; dates become months, quarters, years and decades."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import PolicyError
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.policy.sections import DateUnit
from manyveils.table.room import memory

Codes = NDArray[np.int32]
# A date of the calendar with the year first; a time of day may follow.
ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?$"
# Beyond this, a text is no code; and what a text takes in memory besides its characters.
MOST_MASKED, TEXT = 1_000, 49
DAY = len("2024-03-05")
LABELS: Mapping[DateUnit, Callable[[str], str]] = {
    "day": lambda date: date[:DAY],
    "month": lambda date: date[:7],
    "quarter": lambda date: f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}",
    "year": lambda date: date[:4],
    "decade": lambda date: f"{date[:3]}0s",
}


@dataclass(frozen=True, repr=False)
class Level:
    """One level: each value's label, and how much of the domain a label covers (0 one value, 1 all)."""

    label_of: Codes
    labels: tuple[str, ...]
    loss: NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Levels:
    """Levels from the value itself (0) to one label for all."""

    each: tuple[Level, ...]

    def __len__(self) -> int:
        return len(self.each)

    def __getitem__(self, level: int) -> Level:
        return self.each[level]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each level has."""
        return tuple(len(level.labels) for level in self.each)

    @property
    def highest(self) -> int:
        """The highest level below the top; 0 where there is none but the values."""
        return max(len(self.each) - 2, 0)

    def climb(self, low: int, high: int) -> Codes:
        """The label at level `high` of every label at level `low`."""
        up = np.zeros(self.sizes[low], dtype=np.int32)
        up[self.each[low].label_of] = self.each[high].label_of
        return up


def value_or_top(texts: Sequence[str]) -> Levels:
    """Two levels: the value, or `*`; the texts are all different."""
    n_values = len(texts)
    return _with_top([Level(np.arange(n_values, dtype=np.int32), tuple(texts), np.zeros(n_values))])


def masked(texts: Sequence[str], *, side: str, where: str, has_missing: bool) -> Levels:
    """Mask one more character at each level: 47906, 4790*, 479**, … , *.

    Shorter values count as masked where they have no character.
    """
    width = max((len(text) for text in texts), default=1)
    if width > MOST_MASKED or len(texts) * width * (width + TEXT) > memory():
        what = (
            f"makes a level of every character: {width:,} of {len(texts):,} values, {MOST_MASKED:,} at most."
        )
        remedy = "Shorten the values, give a tree or a file, or leave the attribute out."
        raise PolicyError.at(f"{where}.mask", what, remedy)
    filled = [text.ljust(width, TOP) if side == "right" else text.rjust(width, TOP) for text in texts]
    names = [list(texts)]
    for n_hidden in range(1, max(width, 1)):
        n_shown, mask = width - n_hidden, TOP * n_hidden
        masks = [text[:n_shown] + mask if side == "right" else mask + text[-n_shown:] for text in filled]
        names.append([*masks[:-1], ""] if has_missing else masks)
    # A label covers as much as the values of the data under it.
    losses = (_leaf_losses(labels, Counter(labels), len(labels)) for labels in names)
    return _with_top(map(_level, names, losses))


def intervals(values: pl.Series, widths: Sequence[float], *, has_missing: bool) -> Levels:
    """Intervals of growing width that start at multiples of it, both ends included, then `*`."""
    present = values.drop_nulls()
    numbers = present.cast(pl.Float64).to_numpy()
    step = _resolution(numbers)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
    names, losses = [present.cast(pl.String).to_list()], [_spans(numbers, numbers, low, high)]
    for width in widths:
        starts = np.floor(np.round(numbers / width, 9)) * width
        ends = starts + width - step
        names.append([f"[{_number(a)}, {_number(b)}]" for a, b in zip(starts, ends, strict=True)])
        losses.append(_spans(np.maximum(starts, low), np.minimum(ends, high), low, high))
    missing = [""] * has_missing
    padded = (np.append(loss, np.zeros(len(missing))) for loss in losses)
    return _with_top(map(_level, ([*labels, *missing] for labels in names), padded))


def written(
    texts: Sequence[str], lines: Lines, *, where: str, counts: NDArray[np.int64], has_missing: bool
) -> Levels:
    """The levels that a file or a tree lists; values it does not list are a problem of the policy."""
    line_of = {line[0]: line for line in lines}
    depth = len(lines[0])
    if has_missing:
        # A missing value that the hierarchy says nothing of stays missing up to the top.
        line_of.setdefault("", ("",) * (depth - 1) + (TOP,))
    unlisted = [code for code, text in enumerate(texts) if text not in line_of]
    if unlisted:
        what = f"misses {len(unlisted)} of {len(texts)} values ({int(counts[unlisted].sum())} rows)."
        raise PolicyError.at(where, what, "Add a line for each; `manyveils complete` writes them down.")
    levels = []
    for level in range(depth - 1):
        labels = [line_of[text][level] for text in texts]
        losses = _leaf_losses(labels, Counter(line[level] for line in lines), len(lines))
        levels.append(_level(labels, losses))
    return _with_top(levels)


def _with_top(levels: Iterable[Level]) -> Levels:
    """The levels, and above them `*` for every value."""
    below = tuple(levels)
    n_values = len(below[0].label_of)
    return Levels((*below, _level([TOP] * n_values, np.ones(n_values))))


def _leaf_losses(labels: Sequence[str], leaves: Mapping[str, int], n_leaves: int) -> NDArray[np.float64]:
    if n_leaves < 2:
        return np.zeros(len(labels))
    return np.array([(leaves.get(label, 1) - 1) / (n_leaves - 1) for label in labels], dtype=np.float64)


def _level(labels: Sequence[str], loss_of_value: NDArray[np.float64]) -> Level:
    numbers = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    label_of = np.array([numbers[label] for label in labels], dtype=np.int32)
    loss = np.zeros(len(numbers))
    loss[label_of] = loss_of_value
    return Level(label_of, tuple(numbers), loss)


def _resolution(numbers: NDArray[np.float64]) -> float:
    """The last decimal place in use, up to twelve: where an interval ends if the next one starts at 25."""
    for places in range(13):
        if np.allclose(numbers, np.round(numbers, places), rtol=0, atol=1e-13):
            return 10.0**-places
    return 1e-12


def _spans(
    starts: NDArray[np.float64], ends: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    return np.zeros(len(starts)) if high <= low else np.maximum(ends - starts, 0.0) / (high - low)


def _number(value: float) -> str:
    return str(round(value)) if float(value).is_integer() else str(round(value, 12))


def are_dates(texts: pl.Series) -> pl.Series:
    """Which texts begin with a day of the calendar, year first."""
    days = texts.str.slice(0, DAY).str.to_date("%Y-%m-%d", strict=False)
    return texts.str.contains(ISO_DATE) & days.is_not_null()


def dated(texts: Sequence[str], units: Sequence[DateUnit], *, where: str, has_missing: bool) -> Levels:
    """Levels by parts of the calendar, each nested in the next, then `*`; the last text is empty if one is missing.

    >>> dated(["2024-03-05"], ["quarter", "decade"], where="", has_missing=False)[2].labels
    ('2020s',)
    """
    dates = list(texts[:-1] if has_missing else texts)
    n_others = int((~are_dates(pl.Series(dates, dtype=pl.String))).sum())
    if n_others:
        what = f"{n_others} of {len(dates)} values are not dates."
        remedy = "Write them as 2024-12-31, say in which order they are by dates in [data], list them in missing_markers, or use a tree."
        raise PolicyError.at(where, what, remedy)
    lines = tuple((date, *(LABELS[unit](date) for unit in units), TOP) for date in dates)
    lines = lines or (("", *("" for _ in units), TOP),)
    return written(
        texts, lines, where=where, counts=np.zeros(len(texts), dtype=np.int64), has_missing=has_missing
    )
