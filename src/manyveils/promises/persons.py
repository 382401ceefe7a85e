"""The decisions of guarantees where somebody has several rows and the definitions for rows do not carry over."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels import eliminations, tallies
from manyveils.kernels.persons import are_matched, most_persons_alike
from manyveils.policy.guarantees import Ground
from manyveils.promises.crowds import Crowd, Floats
from manyveils.promises.entries import Ids, Kept, Tally

# Weights are fractions: what is as near as this to its bound is refused.
TOLERANCE = 1e-9


def are_different(tally: Tally, owed: Ids, asked: Kept) -> Kept:
    """Where so many persons as are owed have different values, a different one each; of the units that are asked about.

    Claim: it is a maximum matching of persons and values that decides.
    Why: with the values of a unit in order of how few hold them, the i-th finds a person who has none yet if i or
    more hold it; where that is not enough to know, persons and values are matched.
    Tested by: tests/claims/test_crowds.py
    """
    assert tally.crowd is not None
    fine = asked & (tally.sizes >= owed)
    depth = int(owed[fine].max(initial=0))
    if not depth:
        return fine
    held_by = tally.largest(depth)
    needed = np.maximum(owed[:, None] - np.arange(depth), 0)
    is_open = fine & (held_by < needed).any(axis=1)
    fine[is_open] = _matched(tally.crowd, np.flatnonzero(is_open), owed) if is_open.any() else False
    return fine


def _matched(crowd: Crowd, open_: Ids, owed: Ids) -> Kept:
    concerned = np.zeros(crowd.sizes.size, dtype=bool)
    concerned[open_] = True
    units, values, persons = crowd.pairs_in(concerned)
    first, stop = np.searchsorted(units, open_), np.searchsorted(units, open_ + 1)
    begins = np.ones(units.size, dtype=bool)
    begins[1:] = (units[1:] != units[:-1]) | (values[1:] != values[:-1])
    value_starts = np.append(np.flatnonzero(begins), units.size)
    lengths = np.append(0, np.cumsum(stop - first))
    starts = np.searchsorted(value_starts, lengths)
    matched: Kept = are_matched(starts, value_starts, persons, owed[open_], crowd.persons.n)
    return matched


def weighed(tally: Tally) -> tuple[Floats, Floats]:
    """What the values of a tally weigh in their units, and in the whole table."""
    crowd, subject = tally.crowd, tally.subject
    assert crowd is not None
    assert subject is not None
    n_units = crowd.sizes.size
    places = np.searchsorted(crowd.values * n_units + crowd.owners, tally.values * n_units + tally.owners)
    return crowd.weights[places], subject.expected


def distances(ground: Ground, tally: Tally) -> tuple[Floats, Floats]:
    """The distance of every unit as a fraction: what to divide, and by what."""
    weights, expected = weighed(tally)
    sizes, total = tally.sizes.astype(np.float64), expected.sum()
    if ground == "ordered":
        steps = max(expected.size - 1, 1)
        arrays = tally.owners, tally.values, weights, sizes, np.cumsum(expected)
        return tallies.ordered_distance(*arrays), sizes * total * steps
    if ground == "equal":
        return _differences(tally.owners, tally.values, weights, sizes, expected), 2 * sizes * total
    levels = tally.columns[0].levels
    distance = np.zeros(sizes.size)
    for level in levels.each[:-1]:
        labels, n_labels = level.label_of.astype(np.int64), len(level.labels)
        above = np.bincount(labels, expected, minlength=n_labels).astype(np.float64, copy=False)
        keys, places = np.unique(labels[tally.values] * sizes.size + tally.owners, return_inverse=True)
        merged = np.bincount(places, weights, minlength=keys.size).astype(np.float64, copy=False)
        found, owners = np.divmod(keys, sizes.size)
        distance += _differences(owners, found, merged, sizes, above)
    return distance, 2 * sizes * total * (len(levels) - 1)


def _differences(owners: Ids, values: Ids, weights: Floats, sizes: Floats, expected: Floats) -> Floats:
    """For each unit, the sum over all values of |share difference|, times size and total."""
    total = expected.sum()
    due = expected[values] * sizes[owners]
    return sizes * total + np.bincount(owners, np.abs(weights * total - due) - due, minlength=sizes.size)


def have_entropy(tally: Tally, owed: Ids) -> Kept:
    """Where the entropy of what values weigh is at least the log of what is owed."""
    weights, _ = weighed(tally)
    sizes = np.maximum(tally.sizes, 1).astype(np.float64)
    shares = weights / sizes[tally.owners]
    entropy = -np.bincount(tally.owners, shares * np.log(shares), minlength=sizes.size)
    n_values = np.bincount(tally.owners, minlength=sizes.size)
    largest = np.zeros(sizes.size)
    np.maximum.at(largest, tally.owners, shares)
    # Values that weigh the same are as diverse as they are many.
    is_even = largest * n_values == 1
    fine: Kept = (entropy >= np.log(np.maximum(owed, 1)) + TOLERANCE) | (is_even & (n_values >= owed))
    return fine | (owed == 0)


def have_rare_values(tally: Tally, owed: Ids, c: Fraction) -> Kept:
    """Where the heaviest value weighs less than c times the l-th heaviest and lighter ones together."""
    weights, _ = weighed(tally)
    order = np.lexsort((-weights, tally.owners))
    owners, weights = tally.owners[order], weights[order]
    rank = np.arange(owners.size) - np.searchsorted(owners, owners)
    n_units = tally.sizes.size
    is_rare = rank >= owed[owners] - 1
    tail = np.bincount(owners[is_rare], weights[is_rare], minlength=n_units)
    top = np.bincount(owners[rank == 0], weights[rank == 0], minlength=n_units)
    fine: Kept = top * c.denominator < tail * c.numerator * (1 - TOLERANCE)
    return fine | (owed == 0)


def spreads(tally: Tally) -> Floats:
    """The largest of everybody's least number, less the smallest of everybody's greatest."""
    crowd = tally.crowd
    assert crowd is not None
    units, values, persons = crowd.pairs
    numbers = tally.columns[0].numbers[values]
    real = ~np.isnan(numbers)
    keys, own = np.unique(units[real] * crowd.persons.n + persons[real], return_inverse=True)
    least, greatest = np.full(keys.size, np.inf), np.full(keys.size, -np.inf)
    np.minimum.at(least, own, numbers[real])
    np.maximum.at(greatest, own, numbers[real])
    high, low = np.full(crowd.sizes.size, -np.inf), np.full(crowd.sizes.size, np.inf)
    np.maximum.at(high, keys // crowd.persons.n, least)
    np.minimum.at(low, keys // crowd.persons.n, greatest)
    return high - low


def most_alike(tally: Tally, epsilon: float) -> Ids:
    """The most persons with a number within epsilon of one that needs protection."""
    crowd = tally.crowd
    assert crowd is not None
    units, values, persons = crowd.pairs
    # A missing number is near other missing ones only.
    numbers = tally.columns[0].numbers[values]
    numbers = np.where(np.isnan(numbers), np.inf, numbers)
    starts = np.searchsorted(units, np.arange(crowd.sizes.size + 1))
    about = numbers, persons, tally.is_sensitive[values]
    most: Ids = most_persons_alike(starts, *about, epsilon, crowd.persons.n)
    return most


def withstand(tally: Tally, n_ruled_out: int) -> Kept:
    """Where ruling out values never leaves the rows of one person only.

    Two values and two persons that are left are two persons with two values: if each pair had its person or its value
    in common, all rows would.
    """
    crowd, members = tally.crowd, tally.members
    assert crowd is not None
    assert members is not None
    units, values, persons = crowd.pairs
    codes = np.vstack([persons, members[1:, values]])
    starts = np.searchsorted(units, np.arange(crowd.sizes.size + 1))
    others = np.arange(1, len(codes))
    silent = np.array([-1, *(column.absence for column in tally.columns[1:])])
    fine: Kept = eliminations.withstand(
        codes,
        np.arange(units.size),
        starts,
        0,
        others,
        silent,
        _harmless(tally, values, persons),
        n_ruled_out,
    )
    return fine


def _harmless(tally: Tally, values: Ids, persons: Ids) -> NDArray[np.bool_]:
    """The persons none of whose values needs protection."""
    assert tally.crowd is not None
    harmless = np.ones(tally.crowd.persons.n, dtype=bool)
    harmless[persons[tally.is_sensitive[values]]] = False
    return harmless
