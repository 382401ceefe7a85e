"""The values of an attribute on a scale that a chart has room for: some values by name or ranges of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Some bins, and the bin of every value; values it does not know are in none (-1)."""

    bins: tuple[str, ...]
    place: Mapping[str, int]

    def of(self, texts: Sequence[str]) -> Ids:
        """The bin of each value."""
        return np.array([self.place.get(text, -1) for text in texts], dtype=np.int64)

    def summed(self, texts: Sequence[str], weights: Floats) -> list[float]:
        """The weight of every bin."""
        places = self.of(texts)
        known = places >= 0
        return np.bincount(places[known], weights=weights[known], minlength=len(self.bins)).tolist()


def by_name(texts: Sequence[str], weights: Floats, *, most: int) -> Scale:
    """The heaviest values by name, heaviest first, and the rest together.

    >>> by_name(["a", "b", "c", "d"], np.array([1.0, 4.0, 2.0, 0.5]), most=3).bins
    ('b', 'c', '2 others')
    """
    order = [texts[place] for place in np.argsort(-weights, kind="stable")]
    named = order if len(order) <= most else order[: most - 1]
    place = {text: number for number, text in enumerate(named)}
    place |= dict.fromkeys(order[len(named) :], len(named))
    others = (f"{len(order) - len(named)} others",) if len(named) < len(order) else ()
    return Scale((*(text or MISSING for text in named), *others), place)


def by_width(texts: Sequence[str], numbers: Floats, *, most: int) -> Scale:
    """Ranges of numbers of one round width, and what is no number apart.

    >>> by_width(["1", "7", "12"], np.array([1.0, 7.0, 12.0]), most=4).bins
    ('0–4', '5–9', '10–14')
    """
    held = numbers[~np.isnan(numbers)]
    width = round_width(float(held.max() - held.min()), most)
    first, last = _step(float(held.min()), width), _step(float(held.max()), width)
    labels = _ranges(first, last, width, whole=bool((held == np.round(held)).all()))
    place = {
        text: _step(number, width) - first if not np.isnan(number) else len(labels)
        for text, number in zip(texts, numbers.tolist(), strict=True)
    }
    missing = (MISSING,) if np.isnan(numbers).any() else ()
    return Scale((*labels, *missing), place)


def has_ranges(numbers: Floats) -> bool:
    """Whether ranges of one width can tell numbers apart: not where they are huge beside their distances, or there are none.

    >>> has_ranges(np.array([1.0, 7.0])), has_ranges(np.array([1e17, 1e17 + 64]))
    (True, False)
    """
    held = numbers[~np.isnan(numbers)]
    if not held.size:
        return False
    span, largest = float(held.max() / 2 - held.min() / 2), float(np.abs(held).max())
    return largest < HUGE and span > largest * FINEST


def _step(number: float, width: float) -> int:
    """In which range a number is; 0.3 is three steps of 0.1, and floating point says a little less."""
    return floor(round(number / width, 9))


def round_width(length: float, most: int) -> float:
    """The least of 1, 2, 5, 10 … that cuts a length into no more than so many pieces, one of them begun.

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
        return [_whole(place * width, width) for place in range(first, last + 1)]
    return [
        f"{place * width:.{digits}g} to {(place + 1) * width:.{digits}g}" for place in range(first, last + 1)
    ]


def _whole(low: float, width: float) -> str:
    if width == 1:
        return f"{low:,.0f}"
    # A dash between two minus signs cannot be read.
    return f"{low:,.0f}{' to ' if low < 0 else '–'}{low + width - 1:,.0f}"


def by_rank(texts: Sequence[str], numbers: Floats, weights: Floats, *, most: int) -> Scale:
    """Ranges of numbers of about one weight; a value stands in one range as a whole.

    >>> by_rank(["1", "2", "3"], np.array([1.0, 2.0, 3.0]), np.array([5.0, 1.0, 4.0]), most=2).place
    {'1': 0, '2': 1, '3': 1}
    """
    order = np.argsort(numbers, kind="stable")
    middles = np.cumsum(weights[order]) - weights[order] / 2
    ranks = np.minimum((middles / max(weights.sum(), 1e-300) * most).astype(np.int64), most - 1)
    _, ranks = np.unique(ranks, return_inverse=True)
    n_bins = int(ranks.max(initial=-1)) + 1
    return Scale(
        tuple(str(number) for number in range(n_bins)),
        {texts[place]: int(rank) for place, rank in zip(order, ranks, strict=True)},
    )
