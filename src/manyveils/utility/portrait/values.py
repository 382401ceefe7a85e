"""How common the values of an attribute are and what goes with what: in the original, and by the release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise
from math import ceil, floor, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.domains import Domain
from manyveils.release import Release
from manyveils.table import Attribute, Table

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_BARS = 16
Shown = dict[str, object]
MOST_ROWS = 100_000
# Every derived attribute of one attribute is compared with every one of another.
MOST_DERIVED = 16
RANKS = 8
# For an attribute, or each of its derived ones, the bin of every row and the number of bins.
Binned = dict[str, list[tuple[Ids, int]]]
MISSING, NO_NUMBER = "missing", "not a number"
LONGEST_WHOLE, SMALLEST = 1e12, 1e-6
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
    # An empty cell is missing, and any other that is no number is not.
    others = {text for text, number in zip(texts, numbers.tolist(), strict=True) if np.isnan(number)}
    beside = (*((MISSING,) if "" in others else ()), *((NO_NUMBER,) if others - {""} else ()))
    place_of = {text: len(labels) + (beside.index(NO_NUMBER) if text else 0) for text in others}
    bin_of = {
        text: place_of[text] if text in others else _step(number, width) - first
        for text, number in zip(texts, numbers.tolist(), strict=True)
    }
    return Scale((*labels, *beside), bin_of)


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
    edges = [_written(step * width, digits) for step in range(first, last + 2)]
    return [f"{low} to {high}" for low, high in pairwise(edges)]


def _written(edge: float, digits: int) -> str:
    """A number with some digits, and without an exponent unless it is very large or very small.

    >>> _written(1e4, 3), _written(0.00025, 3), _written(2e300, 3)
    ('10,000', '0.00025', '2e+300')
    """
    short = f"{edge:.{digits}g}"
    return f"{Decimal(short):,f}" if edge == 0 or SMALLEST <= abs(edge) < LONGEST_WHOLE else short


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


def shares_compared(release: Release, attributes: Sequence[Attribute], name: str) -> Shown:
    """The shares of values before and after; a multi-valued attribute, given as its derived ones, has one per value."""
    attribute = attributes[0]
    if attribute.absence >= 0:
        n_rows = max(attribute.codes.size, 1)
        before = {
            derived.name: float((derived.codes.size - derived.counts[derived.absence]) / n_rows)
            for derived in attributes
        }
        order = sorted(before, key=lambda derived: -before[derived])[:MOST_BARS]
        return _by_atom(release, name, order) | {"before": [before[derived] for derived in order]}
    shares = attribute.counts / max(attribute.codes.size, 1)
    scale = _scale(attribute.texts, attribute.numbers if attribute.kind == "numeric" else None, shares)
    return _after(release, name, scale) | {"before": scale.summed(attribute.texts, shares)}


def shares_alone(release: Release, name: str) -> Shown:
    """The shares of an attribute's values by the release alone."""
    if name in release.manifest.derived:
        order = sorted(release.manifest.derived[name], key=lambda derived: -_presence(release, derived))
        return _by_atom(release, name, order[:MOST_BARS])
    domain = release.reading.estimate.domains[name]
    return _after(release, name, _scale(domain.texts, _numbers(release, name), _estimated(release, name)))


def _numbers(release: Release, name: str) -> Floats | None:
    """The values as numbers, if the release says that they are amounts; codes that look like numbers are names."""
    if release.manifest.kinds.get(name, "numeric") != "numeric":
        return None
    return numbers_of(release.reading.estimate.domains[name])


def numbers_of(domain: Domain) -> Floats | None:
    """The values as numbers, if they are numbers for the most part."""
    return None if np.isnan(domain.numbers).mean() > 0.5 else domain.numbers


def _after(release: Release, name: str, scale: Scale) -> Shown:
    texts = release.reading.estimate.domains[name].texts
    return {"bins": list(scale.bins), "after": scale.summed(texts, _estimated(release, name))}


def _by_atom(release: Release, name: str, order: Sequence[str]) -> Shown:
    return {
        "bins": [derived.removeprefix(f"{name}=") for derived in order],
        "after": [_presence(release, derived) for derived in order],
    }


def _scale(texts: Sequence[str], numbers: Floats | None, weights: Floats) -> Scale:
    if numbers is None or len(texts) <= MOST_BARS or not has_ranges(numbers):
        return by_name(texts, weights, most=MOST_BARS)
    return by_width(texts, numbers, most=MOST_BARS)


def _estimated(release: Release, name: str) -> Floats:
    """The share of every value of an attribute."""
    estimate = release.reading.estimate
    view = next(step.view for step in estimate.steps if name in step.new)
    n_values = len(estimate.domains[name].texts)
    return view.mass({name: np.arange(n_values)}, n_values, {})


def _presence(release: Release, derived: str) -> float:
    """The share of people who have the value of a derived attribute."""
    texts = release.reading.estimate.domains[derived].texts
    return float(_estimated(release, derived)[np.array([text != "0" for text in texts])].sum())


def associations_compared(release: Release, table: Table, names: Sequence[str]) -> Shown:
    """Associations before and after, on the same scales; of very many rows, in a sample of them."""
    rows = np.arange(table.n_rows)
    if rows.size > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    before: Binned = {name: [] for name in names}
    after: Binned = {name: [] for name in names}
    for name in names:
        for attribute in _commonest([table[derived] for derived in table.expand((name,))]):
            numbers = attribute.numbers if attribute.kind == "numeric" else None
            scale = _coarse(attribute.texts, numbers, attribute.counts)
            texts = release.reading.estimate.domains[attribute.name].texts
            n_bins = len(scale.bins) + 1
            # Values that the original does not have (-1) stand together at the end.
            before[name].append((scale.of(attribute.texts)[attribute.codes[rows]] % n_bins, n_bins))
            after[name].append((scale.of(texts)[release.reading.drawn[attribute.name]] % n_bins, n_bins))
    return {
        "attributes": list(names),
        "before": _matrix(before, n_people=rows.size),
        "after": _matrix(after, n_people=rows.size),
    }


def _commonest(attributes: Sequence[Attribute]) -> Sequence[Attribute]:
    """Of very many derived attributes, those of the values that most people have."""
    if len(attributes) <= MOST_DERIVED:
        return attributes
    return sorted(attributes, key=lambda attribute: int(attribute.counts[attribute.absence]))[:MOST_DERIVED]


def associations_alone(release: Release, names: Sequence[str]) -> Shown:
    """Associations by the release alone."""
    binned: Binned = {}
    for name in names:
        domain, codes = release.reading.estimate.domains[name], release.reading.drawn[name]
        scale = _coarse(
            domain.texts, _numbers(release, name), np.bincount(codes, minlength=len(domain.texts))
        )
        binned[name] = [(scale.of(domain.texts)[codes], len(scale.bins))]
    return {"attributes": list(names), "after": _matrix(binned, n_people=release.rows)}


def _coarse(texts: Sequence[str], numbers: Floats | None, counts: NDArray[np.int64]) -> Scale:
    weights = counts.astype(np.float64)
    if numbers is None or len(texts) <= RANKS:
        return by_name(texts, weights, most=RANKS)
    return by_rank(texts, numbers, weights, most=RANKS)


def _matrix(binned: Binned, *, n_people: int) -> list[list[float]]:
    """The association of every two attributes; of derived ones, that of the pair that is associated most.

    `n_people` is how many people are behind the rows, which may be drawn from what is known of fewer.
    """
    strengths = np.eye(len(binned))
    for (row, lefts), (column, rights) in combinations(enumerate(binned.values()), 2):
        pairs = (cramers_v(left, right, n_people=n_people) for left in lefts for right in rights)
        strengths[row, column] = strengths[column, row] = max(pairs, default=0.0)
    return strengths.round(6).tolist()


def cramers_v(left: tuple[Ids, int], right: tuple[Ids, int], *, n_people: int) -> float:
    """Cramér's V with Bergsma's correction (2013): 0 for unrelated attributes, 1 where one settles the other.

    >>> codes = np.arange(600) % 3
    >>> round(cramers_v((codes, 3), (codes, 3), n_people=600), 9)
    1.0
    >>> cramers_v((codes, 3), (codes * 0, 1), n_people=600)
    0.0
    """
    (codes, n_left), (others, n_right) = left, right
    counts = np.bincount(codes * n_right + others, minlength=n_left * n_right).reshape(n_left, n_right)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    rows, columns = counts.shape
    if n_people < 2 or min(rows, columns) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / codes.size
    phi = float(((counts - expected) ** 2 / expected).sum()) / codes.size
    phi = max(phi - (rows - 1) * (columns - 1) / (n_people - 1), 0.0)
    least = min(rows - (rows - 1) ** 2 / (n_people - 1), columns - (columns - 1) ** 2 / (n_people - 1)) - 1
    return min(sqrt(phi / least), 1.0) if least > 1e-12 else 0.0
