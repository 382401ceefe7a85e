"""The buckets that may hold a target, pair by pair: quick where few buckets match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import Numbers
from manyveils.reading.slices import Slice, Slices

MOST_PAIRS = 5_000_000


@dataclass(frozen=True, repr=False)
class Pairs:
    """Targets with the buckets that match them in every column; the pairs of one target follow each other.

    `units` has, slice by slice, the rows that match; `weight` is the product of their shares.
    """

    target: Numbers
    units: tuple[Numbers, ...]
    weight: NDArray[np.float64]


def pairs_of(slices: Slices) -> Iterator[Pairs]:
    """The matching buckets of all targets, a bounded number of pairs at a time."""
    degrees = np.stack([found.degrees for found in slices.each])
    lead, fewest = degrees.argmin(axis=0), degrees.min(axis=0)
    for place in range(len(slices.each)):
        targets = np.flatnonzero((lead == place) & (fewest > 0))
        ends = np.cumsum(fewest[targets])
        cuts = np.searchsorted(ends, np.arange(MOST_PAIRS, ends.max(initial=0), MOST_PAIRS))
        for chunk in np.split(targets, cuts):
            if len(chunk):
                yield _paired(slices.each, place, chunk)


def _paired(each: Sequence[Slice], lead: int, targets: Numbers) -> Pairs:
    """Take the buckets that match in the leading column, and keep those that match in the others too."""
    first = each[lead].starts[each[lead].of_target[targets]]
    counts = each[lead].degrees[targets]
    target = np.repeat(targets, counts)
    units = {lead: np.arange(len(target)) + np.repeat(first - np.cumsum(counts) + counts, counts)}
    for place, other in enumerate(each):
        if place == lead:
            continue
        keys = other.of_target[target] * other.n_buckets + each[lead].buckets[units[lead]]
        found = np.minimum(np.searchsorted(other.keys, keys), len(other.keys) - 1)
        is_match = other.keys[found] == keys
        units = {known: unit[is_match] for known, unit in (units | {place: found}).items()}
        target = target[is_match]
    weight = np.prod([each[place].shares[unit] for place, unit in units.items()], axis=0)
    return Pairs(target, tuple(units[place] for place in range(len(each))), weight)
