"""Targets against buckets as dense blocks: quick where many buckets match.

Targets that seek the same in the column of the protected value see the same buckets there, so one block has
their weights and one product with the values of those buckets has their beliefs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.reading.keys import Floats, Ids
from manyveils.reading.slices import Slice

LARGEST_TABLE = 25_000_000
LARGEST_BLOCK = 500_000
MOST_SOUGHT = 20_000
FEWEST_PAIRS = 1_000_000


@dataclass(frozen=True, repr=False)
class Values:
    """The values of units as triples in the order of units: unit, value, share of the unit's rows.

    `parts` has what each value is made of.
    """

    unit: Ids
    value: Ids
    share: Floats
    parts: pl.DataFrame

    @property
    def n_values(self) -> int:
        """The number of different values."""
        return self.parts.height

    def within(self, units: Ids) -> "Offer":
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
    present: Ids
    shares: Floats


@dataclass(frozen=True, repr=False)
class Block:
    """Some targets, the units that may hold them, and their weights: a row per target, a column per unit."""

    targets: Ids
    units: Ids
    weights: Floats


def suits_blocks(column: Slice, others: Sequence[Slice], values: Values, n_pairs: int) -> bool:
    """Whether so many buckets match that dense tables are quicker, and these are small enough."""
    return bool(
        n_pairs >= FEWEST_PAIRS
        and len(column.starts) <= MOST_SOUGHT
        and all(len(other.starts) * other.units.n_buckets <= LARGEST_TABLE for other in others)
        and column.degrees.max() * values.n_values <= LARGEST_TABLE
        and _effort(column, others, values) <= _effort_of_pairs(column, others, values, n_pairs)
    )


def _effort(column: Slice, others: Sequence[Slice], values: Values) -> int:
    """The work of dense blocks in nanoseconds, more or less: every target with every unit."""
    n_weights = int(column.degrees.sum())
    return n_weights * (5 * len(others) + values.n_values // 8)


def _effort_of_pairs(column: Slice, others: Sequence[Slice], values: Values, n_pairs: int) -> int:
    """The same for the pairs that match."""
    n_cells = len(values.unit) // max(len(column.units.keys), 1)
    return n_pairs * (50 * (len(others) + 1) + 8 * n_cells)


def blocks_of(column: Slice, others: Sequence[Slice]) -> Iterator[Block]:
    """Blocks that together have every target; a weight of zero means that the bucket does not match.

    `column` holds the protected value, and `others` what else is known.
    """
    tables = _tables(others)
    order = np.argsort(column.of_target, kind="stable")
    ends = np.searchsorted(column.of_target[order], np.arange(len(column.starts)))
    for what in range(len(column.starts) - 1):
        units = np.arange(column.starts[what], column.starts[what + 1])
        if not len(units):
            continue
        targets = order[ends[what] : ends[what + 1]]
        buckets = column.buckets[units]
        height = max(LARGEST_BLOCK // len(units), 1)
        for start in range(0, len(targets), height):
            chunk = targets[start : start + height]
            weights = np.tile(column.units.shares[units], (len(chunk), 1))
            for of_target, table in tables:
                weights *= _picked(table, of_target[chunk], buckets)
            yield Block(chunk, units, weights)


def _tables(columns: Sequence[Slice]) -> list[tuple[Ids, Floats]]:
    """The shares of buckets that match each thing sought; columns with little to seek are multiplied beforehand."""
    tables: list[tuple[Ids, Floats]] = []
    for column in sorted(columns, key=lambda column: len(column.starts)):
        table = np.zeros(((len(column.starts) - 1), column.units.n_buckets))
        table.ravel()[column.units.keys] = column.units.shares
        of_target = column.of_target
        if tables and len(tables[-1][1]) * table.size <= LARGEST_TABLE:
            before, shares = tables.pop()
            of_target = before * len(table) + of_target
            table = (shares[:, None, :] * table[None, :, :]).reshape(-1, column.units.n_buckets)
        tables.append((of_target, table))
    return tables


def _picked(table: Floats, rows: Ids, buckets: Ids) -> Floats:
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

    matched: Ids
    sizes: Ids
    certain: Ids
    units: Ids
    target: Ids
    value: Ids
    share: Floats


def believed_in(block: Block, counts: Ids, offer: Offer) -> Believed:
    """Weigh what the units of a block offer; `counts` are the rows of every unit."""
    is_match = block.weights > 0
    n_matches = np.count_nonzero(is_match, axis=1)
    sizes = np.einsum("ij,j->i", is_match, counts[block.units])
    matched, single, many = (np.flatnonzero(has) for has in (n_matches, n_matches == 1, n_matches > 1))
    return Believed(
        block.targets[matched],
        sizes[matched],
        block.targets[single],
        block.units[is_match[single].argmax(axis=1)],
        *_mixed(block, many, offer),
    )


def _mixed(block: Block, rows: Ids, offer: Offer) -> tuple[Ids, Ids, Floats]:
    """The sums, over the units of some rows of a block, of what the units offer: target, value, share."""
    mixed = (block.weights @ offer.shares)[rows]
    target, value = np.nonzero(mixed)
    share = mixed[target, value] / mixed.sum(axis=1)[target]
    return block.targets[rows][target], offer.present[value], share
