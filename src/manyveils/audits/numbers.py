"""Promises about numbers: how far they are spread, and how many are near each other."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import TOLERANCE, by_group, measures, sparing_insensitive, times_fitting
from manyveils.audits.persons import Placed
from manyveils.policy.guarantees import NumericSpread, Proximity
from manyveils.reading.keys import Floats, Ids

MOST_PLACES = 9
EXACT_FLOAT = 2.0**53


@dataclass(frozen=True, repr=False)
class Scaled:
    """The published values as multiples of their last decimal place; NaN for what is no number.

    Where `is_exact`, these are whole numbers and comparing them is exact.
    """

    numbers: Floats
    scale: int
    is_exact: bool

    def least(self, bound: Fraction) -> float:
        """The smallest difference that is surely at least the bound."""
        scaled = bound * self.scale
        return float(math.ceil(scaled)) if self.is_exact else float(scaled) * (1 + TOLERANCE)

    def reach(self, bound: Fraction) -> float:
        """The largest difference that may still be within the bound."""
        scaled = bound * self.scale
        return float(math.floor(scaled)) if self.is_exact else float(scaled) * (1 + TOLERANCE)


def scaled(texts: tuple[str, ...]) -> Scaled:
    """Read texts as numbers, exact where nine decimal places and 53 bits are enough."""
    numbers = pl.Series(texts, dtype=pl.String).cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    known = numbers[~np.isnan(numbers)]
    for places in range(MOST_PLACES + 1):
        is_small = np.abs(known).max(initial=0.0) * 10**places < EXACT_FLOAT
        if is_small and np.array_equal(np.round(known, places), known):
            return Scaled(np.round(numbers * 10**places), 10**places, is_exact=True)
    return Scaled(numbers, 1, is_exact=False)


@measures(NumericSpread)
def measure_spread(guarantee: NumericSpread, groups: Groups) -> pl.DataFrame:
    """The distance between the largest and the smallest number of each group; none is no distance at all."""
    values = scaled(groups.labels[0].texts)
    numbers = pl.Series(values.numbers, nan_to_null=True)
    number = numbers.gather(groups.cells["value"])
    spread = (pl.col("number").max() - pl.col("number").min()).fill_null(0.0).alias("spread")
    counted = by_group(groups.cells.with_columns(number=number), spread)
    if groups.placed is not None:
        counted = counted.drop("spread").join(spread_of_persons(groups.placed, numbers), on="group")
    if groups.together is not None and groups.together.spreads is not None:
        counted = counted.drop("spread").join(groups.together.spreads, on="group")
    is_wide = pl.col("spread") >= values.least(guarantee.e)
    return sparing_insensitive(counted, pl.col("spread") / values.scale, is_wide)


def spread_of_persons(placed: Placed, numbers: pl.Series) -> pl.DataFrame:
    """The spread that remains whichever row of each person is meant: group, spread."""
    rows = placed.rows.with_columns(number=numbers.gather(placed.rows["value"]))
    own = rows.group_by("group", "person").agg(least=pl.col("number").min(), greatest=pl.col("number").max())
    spread = (pl.col("least").max() - pl.col("greatest").min()).fill_null(0.0)
    return own.group_by("group").agg(spread.alias("spread"))


@measures(Proximity)
def measure_proximity(guarantee: Proximity, groups: Groups) -> pl.DataFrame:
    """How many times the largest cluster around a sensitive value fits into its group.

    What is no number (a missing cell, a label) is near everything else that is none, and far from numbers.
    """
    values = scaled(groups.labels[0].texts)
    reach = values.reach(guarantee.epsilon)
    if groups.placed is None:
        within = _rows_within(groups.cells, values, reach)
    else:
        within = _persons_within(groups.cells, groups.placed, values, reach)
    return times_fitting(groups.cells.with_columns(within=within), "within", guarantee.m, groups.arithmetic)


def _rows_within(cells: pl.DataFrame, values: Scaled, reach: float) -> pl.Series:
    """For each cell, the rows (or the share) of its group whose number is within reach of the cell's."""
    rank, low, high = _neighbours(values.numbers, reach)
    value, group = cells["value"].to_numpy(), cells["group"].to_numpy().astype(np.int64)
    width = int(high.max(initial=0)) + 1
    keys = group * width + rank[value]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    count = cells["count"].to_numpy()[order]
    total = cells[order].select(pl.col("count").cum_sum().over("group")).to_series().to_numpy()
    first = np.searchsorted(keys, group * width + low[value])
    last = np.searchsorted(keys, group * width + high[value])
    return pl.Series(total[last - 1] - total[first] + count[first])


def _persons_within(cells: pl.DataFrame, placed: Placed, values: Scaled, reach: float) -> pl.Series:
    """For each cell, the persons of its group who have a number within reach of the cell's.

    Each number of a person reaches a stretch of ranks; of stretches that overlap, the later one begins where the one
    before it ends, so that nobody is counted twice.
    """
    rank, low, high = _neighbours(values.numbers, reach)
    rows = placed.rows
    rows = rows.with_columns(rank=pl.Series(rank).gather(rows["value"])).sort("group", "person", "rank")
    value, group = rows["value"].to_numpy(), rows["group"].to_numpy()
    is_same = np.append(False, (np.diff(group) == 0) & (np.diff(rows["person"].to_numpy()) == 0))
    before = np.append(0, high[value][:-1])
    start = np.where(is_same, np.maximum(low[value], np.minimum(before, high[value])), low[value])
    width = int(high.max(initial=0)) + 1
    starts, stops = np.sort(group * width + start), np.sort(group * width + high[value])
    wanted = cells["group"].to_numpy().astype(np.int64) * width + rank[cells["value"].to_numpy()]
    within = np.searchsorted(starts, wanted, side="right") - np.searchsorted(stops, wanted, side="right")
    return pl.Series(within.astype(np.int64))


def _neighbours(numbers: Floats, reach: float) -> tuple[Ids, Ids, Ids]:
    """The rank of each number, and the ranks [low, high) of the numbers within reach; not-a-numbers rank last."""
    known, rank = np.unique(numbers, return_inverse=True)
    n_known = int((~np.isnan(known)).sum())
    low = np.searchsorted(known[:n_known], numbers - reach, side="left")
    high = np.searchsorted(known[:n_known], numbers + reach, side="right")
    is_none = np.isnan(numbers)
    low[is_none], high[is_none] = n_known, n_known + 1
    return rank.astype(np.int64), low.astype(np.int64), high.astype(np.int64)
