"""The decision of every guarantee on counted groups: the maker's own reading of the definitions."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.differences import no_difference_of_one
from manyveils.kernels.eliminations import withstand
from manyveils.kernels.tallies import differences, largest_difference, most_alike, ordered_distance
from manyveils.policy import guarantees
from manyveils.promises import persons
from manyveils.promises.entries import Entries, Ids, Kept, Tally, distinct

TOLERANCE = 1e-9
Scaled = NDArray[np.int64] | NDArray[np.float64]
LARGEST_EXACT = 2.0**62


def distances(ground: guarantees.Ground, tally: Tally) -> tuple[Scaled, Scaled]:
    """The distance of every group as a fraction: what to divide, and by what.

    Both are whole numbers, unless they would not fit 64 bits.
    """
    if tally.crowd is not None:
        return persons.distances(ground, tally)
    scale = tally.sizes * tally.n_rows
    if tally.of_sets:
        return largest_difference(*_counted(tally)), scale
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
    return differences(*_counted(tally))


def _counted(tally: Tally) -> tuple[Ids, Ids, Ids, Ids, Ids]:
    return tally.owners, tally.values, tally.counts, tally.sizes, tally.reference


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


def _fill_at_most(tally: Tally, share: Fraction) -> Kept:
    """Whether no value that needs protection fills more than a share of its group, in whole numbers."""
    fine: Kept = tally.of_sensitive().largest()[:, 0] <= _floor_times(tally.sizes, share)
    return fine


def _floor_times(amounts: Ids, factor: Fraction) -> Ids:
    """floor(amount * factor) without rounding or overflow, for factors with up to nine decimals."""
    top, bottom = factor.numerator, factor.denominator
    whole, rest = np.divmod(amounts, bottom)
    return whole * top + rest * top // bottom


def _owed(guarantee: guarantees.Diverse, tally: Tally) -> Ids:
    """The l of each group: the largest among its values that need protection, 0 where there is none."""
    if not guarantee.l_of:
        return np.where(tally.harmless(), 0, guarantee.l)
    sensitive = tally.of_sensitive()
    owed = np.zeros(tally.sizes.size, dtype=np.int64)
    np.maximum.at(owed, sensitive.owners, _ls(guarantee, tally)[sensitive.values])
    return owed


def _ls(guarantee: guarantees.Diverse, tally: Tally) -> Ids:
    """The l of each value."""
    [column] = tally.columns
    return np.array([guarantee.l_for(text) for text in column.texts], dtype=np.int64)


def _distinct(guarantee: guarantees.DistinctDiversity, tally: Tally) -> Kept:
    owed = _owed(guarantee, tally)
    fine: Kept = np.bincount(tally.owners, minlength=tally.sizes.size) >= owed
    return fine if tally.crowd is None else fine & persons.are_different(tally, owed, fine)


def _frequency(guarantee: guarantees.FrequencyDiversity, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    if not guarantee.l_of:
        fine: Kept = sensitive.largest()[:, 0] * guarantee.l <= tally.sizes
        return fine
    ls = _ls(guarantee, tally)[sensitive.values]
    above = sensitive.counts * ls > tally.sizes[sensitive.owners]
    return np.bincount(sensitive.owners[above], minlength=tally.sizes.size) == 0


def _entropy(guarantee: guarantees.EntropyDiversity, tally: Tally) -> Kept:
    if tally.crowd is not None:
        return persons.have_entropy(tally, _owed(guarantee, tally))
    sizes = np.maximum(tally.sizes, 1).astype(np.float64)
    weights = tally.counts * np.log(tally.counts)
    entropy = np.log(sizes) - np.bincount(tally.owners, weights, tally.sizes.size) / sizes
    owed = _owed(guarantee, tally)
    bound = np.log(np.maximum(owed, 1))
    fine = entropy >= bound + TOLERANCE
    n_values = np.bincount(tally.owners, minlength=tally.sizes.size)
    fine |= (tally.largest()[:, 0] * n_values == tally.sizes) & (n_values >= owed)
    close = np.flatnonzero(~fine & (entropy > bound - TOLERANCE))
    order = np.argsort(tally.owners, kind="stable")
    starts = np.searchsorted(tally.owners[order], np.append(close, close + 1))
    for group, start, stop in zip(close, starts[: close.size], starts[close.size :], strict=True):
        fine[group] = _entropy_exactly(tally.counts[order[start:stop]].tolist(), int(owed[group]))
    return fine | (owed == 0)


def _entropy_exactly(counts: list[int], l: int) -> bool:
    """Whether the entropy of counts is at least log l, in whole numbers: n^n >= l^n * prod(c^c)."""
    scale = math.gcd(*counts)
    parts = [count // scale for count in counts]
    n = sum(parts)
    return n**n >= l**n * math.prod(part**part for part in parts)


def _recursive(guarantee: guarantees.RecursiveDiversity, tally: Tally) -> Kept:
    owed = _owed(guarantee, tally)
    if tally.crowd is not None:
        return persons.have_rare_values(tally, owed, guarantee.c)
    fine: Kept = owed == 0
    for l in distinct(owed[owed > 0]).tolist():
        top = tally.largest(max(l - 1, 1))
        tail = tally.sizes - (top.sum(axis=1) if l > 1 else 0)
        fine |= (owed == l) & (top[:, 0] * guarantee.c.denominator < tail * guarantee.c.numerator)
    return fine


def _closeness(guarantee: guarantees.Closeness, tally: Tally) -> Kept:
    distance, scale = distances(guarantee.ground, tally)
    if distance.dtype.kind == "f":
        # Too large for whole numbers of 64 bits: the tolerance refuses.
        near: Kept = distance <= scale * float(guarantee.t) * (1 - TOLERANCE)
        return near
    return distance <= _floor_times(scale.astype(np.int64), guarantee.t)


def _superset_closeness(guarantee: guarantees.SupersetCloseness, tally: Tally) -> Kept:
    """Large enough to be its own superset, or close to the whole table; nearer supersets are the audit's luxury."""
    near_all = _closeness(guarantees.Closeness(guarantee.t, guarantee.ground), tally)
    return (tally.sizes >= guarantee.n) | (near_all & (tally.n_rows >= guarantee.n))


def _capped(guarantee: guarantees.CappedShare, tally: Tally) -> Kept:
    if guarantee.values:
        [column] = tally.columns
        listed = np.array([text in guarantee.values for text in column.texts])
        tally = replace(tally, is_sensitive=tally.is_sensitive & listed)
    return _fill_at_most(tally, guarantee.alpha)


def _linkability(guarantee: guarantees.Linkability, tally: Tally) -> Kept:
    return _fill_at_most(tally, guarantee.epsilon)


def _likeness(guarantee: guarantees.Likeness, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    sizes, shares = tally.sizes[sensitive.owners], tally.reference[sensitive.values]
    gained = sensitive.counts * tally.n_rows > shares * sizes
    by_beta = sensitive.counts * tally.n_rows <= _floor_times(shares * sizes, 1 + guarantee.beta)
    p = shares / tally.n_rows
    by_log = sensitive.counts <= sizes * p * (1 - np.log(p)) * (1 - TOLERANCE)
    return np.bincount(sensitive.owners[gained & ~(by_beta & by_log)], minlength=tally.sizes.size) == 0


def _disclosure(guarantee: guarantees.Disclosure, tally: Tally) -> Kept:
    sensitive = tally.of_sensitive()
    counts, reference = (
        (sensitive.counts, tally.reference) if tally.crowd is None else persons.weighed(sensitive)
    )
    expected = reference[sensitive.values] * tally.sizes[sensitive.owners]
    ratio = np.log(counts * float(tally.n_rows) / expected)
    far = np.abs(ratio) >= float(guarantee.delta) * (1 - TOLERANCE)
    needed = int((tally.is_sensitive & (tally.reference > 0)).sum())
    present = np.bincount(sensitive.owners, minlength=tally.sizes.size)
    return (np.bincount(sensitive.owners[far], minlength=tally.sizes.size) == 0) & (present == needed)


def _spread(guarantee: guarantees.NumericSpread, tally: Tally) -> Kept:
    if tally.crowd is not None:
        return (persons.spreads(tally) >= float(guarantee.e)) | tally.harmless()
    numbers = tally.columns[0].numbers[tally.values]
    real = ~np.isnan(numbers)
    low, high = np.full(tally.sizes.size, np.inf), np.full(tally.sizes.size, -np.inf)
    np.minimum.at(low, tally.owners[real], numbers[real])
    np.maximum.at(high, tally.owners[real], numbers[real])
    return (high - low >= float(guarantee.e)) | tally.harmless()


def _proximity(guarantee: guarantees.Proximity, tally: Tally) -> Kept:
    if tally.crowd is not None:
        return persons.most_alike(tally, float(guarantee.epsilon)) * guarantee.m <= tally.sizes
    order = np.argsort(tally.owners, kind="stable")
    numbers = tally.columns[0].numbers[tally.values[order]]
    # A missing number is near other missing ones only.
    numbers = np.where(np.isnan(numbers), np.inf, numbers)
    is_sensitive = tally.is_sensitive[tally.values[order]]
    starts = np.searchsorted(tally.owners[order], np.arange(tally.sizes.size + 1))
    most = most_alike(starts, numbers, tally.counts[order], is_sensitive, float(guarantee.epsilon))
    return most * guarantee.m <= tally.sizes


def _elimination(guarantee: guarantees.Elimination, tally: Tally) -> Kept:
    assert tally.members is not None
    order = np.argsort(tally.owners, kind="stable")
    starts = np.searchsorted(tally.owners[order], np.arange(tally.sizes.size + 1))
    harmless = np.zeros(tally.columns[0].n_values, dtype=bool)
    harmless[tally.members[0]] = ~tally.is_sensitive
    codes = tally.members[:, tally.values[order]]
    others = np.arange(1, len(tally.columns))
    silent = np.array([column.absence for column in tally.columns])
    rows = np.arange(order.size)
    if isinstance(guarantee, guarantees.AlphaDifference):
        differs: Kept = no_difference_of_one(codes, tally.counts[order], starts, 0, others, harmless)
        return differs
    fine: Kept = withstand(codes, rows, starts, 0, others, silent, harmless, guarantee.eliminations)
    return fine if tally.crowd is None else fine & persons.withstand(tally, guarantee.eliminations)


def _size(guarantee: guarantees.LeastSize, tally: Tally) -> Kept:
    return tally.sizes >= guarantee.least_rows


DECISIONS: dict[type[guarantees.Guarantee], Callable[..., Kept]] = {
    guarantees.KAnonymity: _size,
    guarantees.KeyAnonymity: _size,
    guarantees.ProsecutorRisk: _size,
    guarantees.MarketerRisk: _size,
    guarantees.DistinctDiversity: _distinct,
    guarantees.Elimination: _elimination,
    guarantees.AlphaDifference: _elimination,
    guarantees.FrequencyDiversity: _frequency,
    guarantees.EntropyDiversity: _entropy,
    guarantees.RecursiveDiversity: _recursive,
    guarantees.Closeness: _closeness,
    guarantees.SupersetCloseness: _superset_closeness,
    guarantees.CappedShare: _capped,
    guarantees.Linkability: _linkability,
    guarantees.Likeness: _likeness,
    guarantees.Disclosure: _disclosure,
    guarantees.NumericSpread: _spread,
    guarantees.Proximity: _proximity,
}
