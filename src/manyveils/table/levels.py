"""Hierarchies as arrays: for each level, the label of every value."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import PolicyError
from manyveils.policy.hierarchies import TOP, Lines

Codes = NDArray[np.int32]


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

    def climb(self, low: int, high: int) -> Codes:
        """The label at level `high` of every label at level `low`."""
        up = np.zeros(self.sizes[low], dtype=np.int32)
        up[self.each[low].label_of] = self.each[high].label_of
        return up


def value_or_top(texts: Sequence[str]) -> Levels:
    """Two levels: the value, or `*`; the texts are all different."""
    n_values, top = len(texts), (TOP,) if texts else ()
    return Levels(
        (
            Level(np.arange(n_values, dtype=np.int32), tuple(texts), np.zeros(n_values)),
            Level(np.zeros(n_values, dtype=np.int32), top, np.ones(len(top))),
        )
    )


def masked(texts: Sequence[str], *, side: str, has_missing: bool) -> Levels:
    """Mask one more character at each level: 47906, 4790*, 479**, … , *.

    Shorter values count as masked where they have no character.
    """
    width = max((len(text) for text in texts), default=1)
    filled = [text.ljust(width, TOP) if side == "right" else text.rjust(width, TOP) for text in texts]
    names = [list(texts)]
    for hidden in range(1, max(width, 1)):
        shown = width - hidden
        masks = [
            text[:shown] + TOP * hidden if side == "right" else TOP * hidden + text[-shown:]
            for text in filled
        ]
        names.append(_keep_missing(masks, has_missing=has_missing))
    return _from_names([*names, [TOP] * len(texts)])


def intervals(values: pl.Series, widths: Sequence[float], *, has_missing: bool) -> Levels:
    """Intervals of growing width that start at multiples of it, both ends included, then `*`."""
    texts = _texts(values)
    numbers = values.drop_nulls().cast(pl.Float64).to_numpy()
    step = _resolution(numbers)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
    names, losses = [texts], [_spans(numbers, numbers, low, high)]
    for width in widths:
        starts = np.floor(np.round(numbers / width, 9)) * width
        ends = starts + width - step
        labels = [f"[{_number(a)}, {_number(b)}]" for a, b in zip(starts, ends, strict=True)]
        names.append(_keep_missing(labels + [""] * has_missing, has_missing=has_missing))
        losses.append(_spans(np.maximum(starts, low), np.minimum(ends, high), low, high))
    names.append([TOP] * len(texts))
    losses.append(np.ones(numbers.size))
    padded = [
        np.append(loss, [1.0 if i == len(widths) + 1 else 0.0] * has_missing) for i, loss in enumerate(losses)
    ]
    return Levels(tuple(_level(labels, loss) for labels, loss in zip(names, padded, strict=True)))


def written(
    texts: Sequence[str], lines: Lines, *, place: str, rows_of: NDArray[np.int64], has_missing: bool
) -> Levels:
    """The levels that a file or a tree lists; values it does not list are a problem of the policy."""
    by_value = {line[0]: line for line in lines}
    depth = len(lines[0])
    found = [by_value.get(text) for text in texts]
    if has_missing and found[-1] is None:
        # A missing value the hierarchy says nothing of stays missing up to the top.
        found[-1] = ("",) * (depth - 1) + (TOP,)
    lost = [code for code, line in enumerate(found) if line is None]
    if lost:
        n_rows = int(rows_of[lost].sum())
        raise PolicyError.at(
            place, f"misses {len(lost)} of {len(texts)} values ({n_rows} rows).", "Add a line for each."
        )
    leaves = [_leaves(lines, level) for level in range(depth)]
    names = [[line[level] if level < depth - 1 else TOP for line in found if line] for level in range(depth)]
    losses = [
        _leaf_losses([line[level] for line in found if line], leaves[level], len(lines))
        for level in range(depth)
    ]
    losses[-1][:] = 1.0
    return Levels(tuple(_level(labels, loss) for labels, loss in zip(names, losses, strict=True)))


def _from_names(names: Sequence[Sequence[str]]) -> Levels:
    """Levels whose labels cover as much as the values of the data under them."""
    levels = []
    for labels in names:
        counts: dict[str, int] = {}
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
        levels.append(_level(labels, _leaf_losses(labels, counts, len(labels))))
    hidden = levels[-1]
    return Levels((*levels[:-1], Level(hidden.label_of, hidden.labels, np.ones(len(hidden.labels)))))


def _leaves(lines: Lines, level: int) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line[level]] = counts.get(line[level], 0) + 1
    return counts


def _leaf_losses(labels: Sequence[str], leaves: dict[str, int], n_leaves: int) -> NDArray[np.float64]:
    if n_leaves < 2:
        return np.zeros(len(labels))
    return np.array([(leaves.get(label, 1) - 1) / (n_leaves - 1) for label in labels], dtype=np.float64)


def _level(labels: Sequence[str], loss_of_value: NDArray[np.float64]) -> Level:
    numbers = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    label_of = np.array([numbers[label] for label in labels], dtype=np.int32)
    loss = np.zeros(len(numbers))
    loss[label_of] = loss_of_value
    return Level(label_of, tuple(numbers), loss)


def _keep_missing(labels: list[str], *, has_missing: bool) -> list[str]:
    return [*labels[:-1], ""] if has_missing else labels


def _texts(values: pl.Series) -> list[str]:
    return [text if text is not None else "" for text in values.cast(pl.String).to_list()]


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
