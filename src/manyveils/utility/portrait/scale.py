"""The values of an attribute on a scale that a chart has room for: some values by name or ranges of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

MISSING = "missing"
LONGEST_WHOLE = 1e12
HUGE, FINEST = 1e300, 1e-9


@dataclass(frozen=True, repr=False)
class Scale:
    """The names of some bins, and the bin of every value; values it does not know are in none (-1)."""

    bins: tuple[str, ...]
    bin_of: Mapping[str, int]

    def of(self, texts: Sequence[str]) -> Ids:
        """The bin of each value."""
        return np.array([self.bin_of.get(text, -1) for text in texts], dtype=np.int64)

    def summed(self, texts: Sequence[str], weights: Floats) -> list[float]:
        """The weight of every bin."""
        bins = self.of(texts)
        known = bins >= 0
        return np.bincount(bins[known], weights=weights[known], minlength=len(self.bins)).tolist()


def by_name(texts: Sequence[str], weights: Floats, *, most: int) -> Scale:
    """The heaviest values by name, heaviest first, and the rest together.

    >>> by_name(["a", "b", "c", "d"], np.array([1.0, 4.0, 2.0, 0.5]), most=3).bins
    ('b', 'c', '2 others')
    """
    order = [texts[index] for index in np.argsort(-weights, kind="stable")]
    n_named = len(order) if len(order) <= most else most - 1
    others = (f"{len(order) - n_named} others",) if n_named < len(order) else ()
    bin_of = {text: min(number, n_named) for number, text in enumerate(order)}
    return Scale((*(text or MISSING for text in order[:n_named]), *others), bin_of)


def by_width(texts: Sequence[str], numbers: Floats, *, most: int) -> Scale:
    """Ranges of numbers of one round width; what is not a number has a bin of its own.

    >>> by_width(["1", "7", "12"], np.array([1.0, 7.0, 12.0]), most=4).bins
    ('0–4', '5–9', '10–14')
    """
    known = numbers[~np.isnan(numbers)]
    width = round_width(float(known.max() - known.min()), most)
    first, last = _step(float(known.min()), width), _step(float(known.max()), width)
    labels = _ranges(first, last, width, whole=bool((known == np.round(known)).all()))
    bin_of = {
        text: _step(number, width) - first if not np.isnan(number) else len(labels)
        for text, number in zip(texts, numbers.tolist(), strict=True)
    }
    missing = (MISSING,) if np.isnan(numbers).any() else ()
    return Scale((*labels, *missing), bin_of)


def has_ranges(numbers: Floats) -> bool:
    """Whether ranges of one width can tell numbers apart; not if they are huge beside their distances, or there are none.

    >>> has_ranges(np.array([1.0, 7.0])), has_ranges(np.array([1e17, 1e17 + 64]))
    (True, False)
    """
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return False
    span, largest = float(known.max() / 2 - known.min() / 2), float(np.abs(known).max())
    return largest < HUGE and span > largest * FINEST


def _step(number: float, width: float) -> int:
    """The range of a number; 0.3 is three steps of 0.1, though floating point makes it a little less."""
    return floor(round(number / width, 9))


def round_width(length: float, most: int) -> float:
    """The least of 1, 2, 5, 10 … times a power of ten that cuts a length into at most so many pieces, wherever it starts.

    >>> [round_width(length, 10) for length in (0, 8, 40, 99, 0.5)]
    [1.0, 1.0, 5.0, 20.0, 0.1]
    """
    if length <= 0:
        return 1.0
    least = length / max(most - 1, 1)
    power = 10.0 ** floor(log10(least))
    step = next(step for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-12))
    return float(f"{step * power:.12g}")


def _ranges(first: int, last: int, width: float, *, whole: bool) -> list[str]:
    """Names of ranges, with as many digits as it takes to tell them apart."""
    farthest = max(abs(first), abs(last + 1))
    digits = 2 + ceil(log10(farthest)) if farthest else 2
    if whole and width >= 1 and farthest * width < LONGEST_WHOLE:
        return [_whole(step * width, width) for step in range(first, last + 1)]
    edges = [f"{step * width:.{digits}g}" for step in range(first, last + 2)]
    return [f"{low} to {high}" for low, high in pairwise(edges)]


def _whole(low: float, width: float) -> str:
    if width == 1:
        return f"{low:,.0f}"
    # A dash between two minus signs cannot be read.
    return f"{low:,.0f}{' to ' if low < 0 else '–'}{low + width - 1:,.0f}"


def by_rank(texts: Sequence[str], numbers: Floats, weights: Floats, *, most: int) -> Scale:
    """Ranges of numbers of about one weight; a value stands in one range as a whole.

    >>> by_rank(["1", "2", "3"], np.array([1.0, 2.0, 3.0]), np.array([5.0, 1.0, 4.0]), most=2).bin_of
    {'1': 0, '2': 1, '3': 1}
    """
    order = np.argsort(numbers, kind="stable")
    middles = np.cumsum(weights[order]) - weights[order] / 2
    ranks = np.minimum((middles / max(weights.sum(), 1e-300) * most).astype(np.int64), most - 1)
    _, ranks = np.unique(ranks, return_inverse=True)
    bins = tuple(str(rank) for rank in range(int(ranks.max(initial=-1)) + 1))
    return Scale(bins, {texts[index]: int(rank) for index, rank in zip(order, ranks, strict=True)})
