"""The decision of every guarantee on counted groups: the maker's own reading of the definitions."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.eliminations import withstand
from manyveils.kernels.tallies import differences, largest, most_alike, ordered_distance
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    Elimination,
    EntropyDiversity,
    FrequencyDiversity,
    Ground,
    Guarantee,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.promises.entries import Entries, Ids, Kept, Tally

MARGIN = 1e-9
Scaled = NDArray[np.int64] | NDArray[np.float64]
LARGEST_EXACT = 2.0**62


def distances(ground: Ground, tally: Tally) -> tuple[Scaled, Scaled]:
    """The distance of every group as a fraction: what to divide, and by what.

    Both are whole numbers, unless they would not fit 64 bits.
    """
    scale = tally.sizes * tally.n_rows
    if ground == "ordered":
        return _ordered(tally)
    if ground == "equal":
        return _differences(tally), 2 * scale
    levels = tally.columns[0].levels
    total = np.zeros(tally.sizes.size, dtype=np.int64)
    for level in levels.each[:-1]:
        total += _differences(_lifted(tally, level.label_of.astype(np.int64), len(level.labels)))
    return total, 2 * scale * (len(levels) - 1)


def _ordered(tally: Tally) -> tuple[Scaled, Scaled]:
    steps = max(len(tally.reference) - 1, 1)
    arrays = (tally.counts, tally.sizes, np.cumsum(tally.reference))
    if float(tally.sizes.max(initial=0)) * tally.n_rows * (steps + 1) < LARGEST_EXACT:
        return ordered_distance(tally.owners, tally.values, *arrays), tally.sizes * tally.n_rows * steps
    distance = ordered_distance(tally.owners, tally.values, *(array.astype(np.float64) for array in arrays))
    return distance, tally.sizes.astype(np.float64) * tally.n_rows * steps


def _differences(tally: Tally) -> Ids:
    return differences(tally.owners, tally.values, tally.counts, tally.sizes, tally.reference)


def _lifted(tally: Tally, label_of: Ids, n_labels: int) -> Tally:
    """The same counts with values replaced by coarser labels."""
    labels = label_of[tally.values]
    order = np.argsort(labels, kind="stable")
    merged = Entries(tally.owners[order], labels[order], tally.counts[order]).under(
        np.arange(tally.sizes.size), tally.sizes.size
    )
    reference = np.bincount(label_of, weights=tally.reference, minlength=n_labels).astype(np.int64)
    every = np.ones(n_labels, dtype=bool)
    return Tally(merged.owners, merged.codes, merged.counts, tally.sizes, reference, every, tally.columns)


def _at_most(counts: Ids, sizes: Ids, share: Fraction) -> Kept:
    """Whether count / size <= share, in whole numbers."""
    return counts <= _floor_times(sizes, share)


def _floor_times(amounts: Ids, factor: Fraction) -> Ids:
    """floor(amount * factor) without rounding or overflow, for factors with up to nine decimals."""
    top, bottom = factor.numerator, factor.denominator
    whole, rest = np.divmod(amounts, bottom)
    return whole * top + rest * top // bottom


def _distinct(guarantee: DistinctDiversity, tally: Tally) -> Kept:
    return (np.bincount(tally.owners, minlength=tally.sizes.size) >= guarantee.l) | tally.harmless()


def _frequency(guarantee: FrequencyDiversity, tally: Tally) -> Kept:
    fine: Kept = tally.of_sensitive().largest()[:, 0] * guarantee.l <= tally.sizes
    return fine


def _entropy(guarantee: EntropyDiversity, tally: Tally) -> Kept:
    sizes = np.maximum(tally.sizes, 1).astype(np.float64)
    spread = np.bincount(
        tally.owners, weights=tally.counts * np.log(tally.counts), minlength=tally.sizes.size
    )
    entropy = np.log(sizes) - spread / sizes
    fine = entropy >= math.log(guarantee.l) + MARGIN
    distinct = np.bincount(tally.owners, minlength=tally.sizes.size)
    fine |= (tally.largest()[:, 0] * distinct == tally.sizes) & (distinct >= guarantee.l)
    close = np.flatnonzero(~fine & (entropy > math.log(guarantee.l) - MARGIN))
    order = np.argsort(tally.owners, kind="stable")
    starts = np.searchsorted(tally.owners[order], np.append(close, close + 1))
    for group, start, stop in zip(close, starts[: close.size], starts[close.size :], strict=True):
        fine[group] = _entropy_exactly(tally.counts[order[start:stop]].tolist(), guarantee.l)
    return fine | tally.harmless()


def _entropy_exactly(counts: list[int], l: int) -> bool:
    """Whether the entropy of counts is at least log l, in whole numbers: n^n >= l^n * prod(c^c)."""
    scale = math.gcd(*counts)
    parts = [count // scale for count in counts]
    n = sum(parts)
    return n**n >= l**n * math.prod(part**part for part in parts)


def _recursive(guarantee: RecursiveDiversity, tally: Tally) -> Kept:
    top = tally.largest(max(guarantee.l - 1, 1))
    tail = tally.sizes - (top.sum(axis=1) if guarantee.l > 1 else 0)
    fine: Kept = top[:, 0] * guarantee.c.denominator < tail * guarantee.c.numerator
    return fine | tally.harmless()


def _closeness(guarantee: Closeness, tally: Tally) -> Kept:
    distance, scale = distances(guarantee.ground, tally)
    if distance.dtype.kind == "f":
        # Too large for whole numbers of 64 bits: the margin refuses.
        near: Kept = distance <= scale * float(guarantee.t) * (1 - MARGIN)
        return near
    return distance <= _floor_times(scale.astype(np.int64), guarantee.t)


def _superset_closeness(guarantee: SupersetCloseness, tally: Tally) -> Kept:
    """Large enough to be its own superset, or close to the whole table; nearer supersets are the audit's luxury."""
    near_all = _closeness(Closeness(guarantee.t, guarantee.ground), tally)
    return (tally.sizes >= guarantee.n) | (near_all & (tally.n_rows >= guarantee.n))


def _capped(guarantee: CappedShare, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    if guarantee.values:
        assert len(tally.columns) == 1
        listed = np.array([text in guarantee.values for text in tally.columns[0].texts])
        wanted = listed[sensitive.values]
        most = largest(sensitive.owners[wanted], sensitive.counts[wanted], tally.sizes.size, 1)[:, 0]
        return _at_most(most, tally.sizes, guarantee.alpha)
    return _at_most(sensitive.largest()[:, 0], tally.sizes, guarantee.alpha)


def _linkability(guarantee: Linkability, tally: Tally) -> Kept:
    return _at_most(tally.of_sensitive().largest()[:, 0], tally.sizes, guarantee.epsilon)


def _likeness(guarantee: Likeness, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    sizes, shares = tally.sizes[sensitive.owners], tally.reference[sensitive.values]
    gained = sensitive.counts * tally.n_rows > shares * sizes
    by_beta = sensitive.counts * tally.n_rows <= _floor_times(shares * sizes, 1 + guarantee.beta)
    p = shares / tally.n_rows
    by_log = sensitive.counts <= sizes * p * (1 - np.log(p)) * (1 - MARGIN)
    return np.bincount(sensitive.owners[gained & ~(by_beta & by_log)], minlength=tally.sizes.size) == 0


def _disclosure(guarantee: Disclosure, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    ratio = np.log(
        sensitive.counts
        * float(tally.n_rows)
        / (tally.reference[sensitive.values] * tally.sizes[sensitive.owners])
    )
    far = np.abs(ratio) >= float(guarantee.delta) * (1 - MARGIN)
    needed = int((tally.is_sensitive & (tally.reference > 0)).sum())
    present = np.bincount(sensitive.owners, minlength=tally.sizes.size)
    return (np.bincount(sensitive.owners[far], minlength=tally.sizes.size) == 0) & (present == needed)


def _spread(guarantee: NumericSpread, tally: Tally) -> Kept:
    numbers = tally.columns[0].numbers[tally.values]
    real = ~np.isnan(numbers)
    low = np.full(tally.sizes.size, np.inf)
    high = np.full(tally.sizes.size, -np.inf)
    np.minimum.at(low, tally.owners[real], numbers[real])
    np.maximum.at(high, tally.owners[real], numbers[real])
    return (high - low >= float(guarantee.e)) | tally.harmless()


def _proximity(guarantee: Proximity, tally: Tally) -> Kept:
    order = np.argsort(tally.owners, kind="stable")
    numbers = tally.columns[0].numbers[tally.values[order]]
    # A missing number is near other missing ones only.
    numbers = np.where(np.isnan(numbers), np.inf, numbers)
    is_sensitive = tally.is_sensitive[tally.values[order]]
    starts = np.searchsorted(tally.owners[order], np.arange(tally.sizes.size + 1))
    most = most_alike(starts, numbers, tally.counts[order], is_sensitive, float(guarantee.epsilon))
    return most * guarantee.m <= tally.sizes


def _elimination(guarantee: Elimination, tally: Tally) -> Kept:
    assert tally.members is not None
    order = np.argsort(tally.owners, kind="stable")
    starts = np.searchsorted(tally.owners[order], np.arange(tally.sizes.size + 1))
    harmless = np.zeros(tally.columns[0].n_values, dtype=bool)
    harmless[tally.members[0]] = ~tally.is_sensitive
    codes = tally.members[:, tally.values[order]]
    others = np.arange(1, len(tally.columns))
    silent = np.array([column.absence for column in tally.columns])
    rows = np.arange(order.size)
    fine: Kept = withstand(codes, rows, starts, 0, others, silent, harmless, guarantee.eliminations)
    return fine


def _size(guarantee: KAnonymity, tally: Tally) -> Kept:
    return tally.sizes >= guarantee.k


DECISIONS: dict[type[Guarantee], Callable[..., Kept]] = {
    KAnonymity: _size,
    DistinctDiversity: _distinct,
    Elimination: _elimination,
    FrequencyDiversity: _frequency,
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    Closeness: _closeness,
    SupersetCloseness: _superset_closeness,
    CappedShare: _capped,
    Linkability: _linkability,
    Likeness: _likeness,
    Disclosure: _disclosure,
    NumericSpread: _spread,
    Proximity: _proximity,
}
