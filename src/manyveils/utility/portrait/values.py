"""How common the values of an attribute are and what goes with what: in the original, and by the release."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.domains import Domain
from manyveils.release import Release
from manyveils.table import Attribute, Table
from manyveils.utility.portrait.scale import Floats, Ids, Scale, by_name, by_rank, by_width, has_ranges

MOST_BARS = 16

Shown = dict[str, object]
MOST_ROWS = 100_000
# Every derived attribute of one attribute is compared with every one of another.
MOST_DERIVED = 16
RANKS = 8
# For an attribute, or each of its derived ones, the bin of every row and the number of bins.
Binned = dict[str, list[tuple[Ids, int]]]


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
    return _after(release, name, _scale(domain.texts, numbers_of(domain), _estimated(release, name)))


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
    view = next(step.shape for step in estimate.steps if name in step.new)
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
        scale = _coarse(domain.texts, numbers_of(domain), np.bincount(codes, minlength=len(domain.texts)))
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
