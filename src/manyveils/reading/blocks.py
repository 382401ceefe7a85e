"""Targets against buckets as dense blocks: quick where many buckets match.

Targets that seek the same in the column of the protected value see the same buckets there, so one block has
their weights and one product with the values of those buckets has their beliefs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.keys import Numbers
from manyveils.reading.slices import Slice, Slices

LARGEST_TABLE = 25_000_000
LARGEST_BLOCK = 500_000
MOST_SOUGHT = 20_000
FEWEST_PAIRS = 1_000_000

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Values:
    """The values of units as triples in the order of units: unit, value, share of the unit's rows.

    `parts` has what each value is made of.
    """

    unit: Numbers
    value: Numbers
    share: Floats
    parts: pl.DataFrame

    @property
    def n_values(self) -> int:
        """The number of different values."""
        return self.parts.height

    def within(self, units: Numbers) -> "Offer":
        """What neighbouring units have."""
        first, last = np.searchsorted(self.unit, (units[0], units[-1] + 1))
        present, column = np.unique(self.value[first:last], return_inverse=True)
        shares = np.zeros((len(units), len(present)))
        shares[self.unit[first:last] - units[0], column] = self.share[first:last]
        return Offer(int(units[0]), present, shares)


@dataclass(frozen=True, repr=False)
class Offer:
    """What units from `first` on have: a row of shares per unit, a column per value that is present."""

    first: int
    present: Numbers
    shares: Floats


@dataclass(frozen=True, repr=False)
class Block:
    """Some targets, the units that may hold them, and their weights: a row per target, a column per unit."""

    targets: Numbers
    units: Numbers
    weights: Floats


def suits_blocks(slices: Slices, place: int, n_values: int) -> bool:
    """Whether many buckets match, and dense tables of them are small enough."""
    sensitive = slices.each[place]
    n_pairs = np.min([found.degrees for found in slices.each], axis=0).sum()
    others = [found for other, found in enumerate(slices.each) if other != place]
    return bool(
        n_pairs >= FEWEST_PAIRS
        and len(sensitive.starts) <= MOST_SOUGHT
        and all(len(found.starts) * found.n_buckets <= LARGEST_TABLE for found in others)
        and sensitive.degrees.max() * n_values <= LARGEST_TABLE
    )


def blocks_of(slices: Slices, place: int) -> Iterator[Block]:
    """Blocks that together have every target; a weight of zero means that the bucket does not match."""
    sensitive = slices.each[place]
    others = _tables([found for other, found in enumerate(slices.each) if other != place])
    order = np.argsort(sensitive.of_target, kind="stable")
    ends = np.searchsorted(sensitive.of_target[order], np.arange(len(sensitive.starts)))
    for what in range(len(sensitive.starts) - 1):
        units = np.arange(sensitive.starts[what], sensitive.starts[what + 1])
        targets = order[ends[what] : ends[what + 1]]
        if not len(units):
            continue
        buckets = sensitive.buckets[units]
        height = max(LARGEST_BLOCK // len(units), 1)
        for start in range(0, len(targets), height):
            some = targets[start : start + height]
            weights = np.tile(sensitive.shares[units], (len(some), 1))
            for of_target, table in others:
                weights *= _picked(table, of_target[some], buckets)
            yield Block(some, units, weights)


def _tables(others: Sequence[Slice]) -> list[tuple[Numbers, Floats]]:
    """The shares of buckets that match each thing sought; columns with little to seek are multiplied beforehand."""
    found: list[tuple[Numbers, Floats]] = []
    for other in sorted(others, key=lambda other: len(other.starts)):
        table = np.zeros(((len(other.starts) - 1), other.n_buckets))
        table.ravel()[other.keys] = other.shares
        if found and len(found[-1][1]) * table.size <= LARGEST_TABLE:
            before, shares = found.pop()
            both = (shares[:, None, :] * table[None, :, :]).reshape(-1, other.n_buckets)
            found.append((before * len(table) + other.of_target, both))
        else:
            found.append((other.of_target, table))
    return found


def _picked(table: Floats, rows: Numbers, buckets: Numbers) -> Floats:
    """Some rows and columns of a table; whole rows are copied at once."""
    n_buckets = table.shape[1]
    if len(buckets) == n_buckets:
        return table[rows]
    return table.ravel().take((rows * n_buckets)[:, None] + buckets)


@dataclass(frozen=True, repr=False)
class Believed:
    """What is believed of the targets of a block.

    `matched` has the targets that some bucket matches, and `sizes` the rows they may be; `certain` those that only
    one bucket matches, and `units` the rows in it; `target`, `value` and `share` what the others may have.
    """

    matched: Numbers
    sizes: Numbers
    certain: Numbers
    units: Numbers
    target: Numbers
    value: Numbers
    share: Floats


def believed_in(block: Block, counts: Numbers, offer: Offer) -> Believed:
    """Weigh what the units of a block offer; `counts` are the rows of every unit."""
    is_match = block.weights > 0
    n_matches = np.count_nonzero(is_match, axis=1)
    sizes = np.einsum("ij,j->i", is_match, counts[block.units])
    one, many = np.flatnonzero(n_matches == 1), np.flatnonzero(n_matches > 1)
    matched = np.flatnonzero(n_matches)
    return Believed(
        block.targets[matched],
        sizes[matched],
        block.targets[one],
        block.units[is_match[one].argmax(axis=1)],
        *_mixed(block, many, offer),
    )


def _mixed(block: Block, rows: Numbers, offer: Offer) -> tuple[Numbers, Numbers, Floats]:
    """The sums, over the units of some rows of a block, of what the units offer: target, value, share."""
    mixed = (block.weights @ offer.shares)[rows]
    target, value = np.nonzero(mixed)
    share = mixed[target, value] / mixed.sum(axis=1)[target]
    return block.targets[rows][target], offer.present[value], share
