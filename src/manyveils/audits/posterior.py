"""What an adversary believes of a target whose bucket she cannot tell, because what she knows is spread over columns.

p(t, s) = sum over buckets B of p(t, B) · p(s | t, B): a bucket weighs as much as the product, over the columns, of
the shares of its rows that match the target; inside it the matching rows of the protected column are alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups, cells_in, multiplied, with_reference
from manyveils.audits.measures import Measure
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.reading.blocks import Believed, Offer, Values, believed_in, blocks_of, suits_blocks
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import combined, dense, example
from manyveils.reading.sight import Sight
from manyveils.reading.slices import Slice, Slices, pairs_of, slices_of
from manyveils.release import View

LARGEST_BATCH = 5_000_000
MOST_COLUMNS = 2
MEASURED = {"rows": pl.Int64, "measure": pl.Float64, "kept": pl.Boolean}
SIZES = {"target": pl.Int64, "size": pl.Int64}
NO_VALUES = Values(
    np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64), pl.DataFrame()
)

Cells = tuple[pl.DataFrame, pl.DataFrame]


@dataclass(frozen=True, repr=False)
class Beliefs:
    """What is believed of some targets.

    `sizes`: target, size: the rows of the protected column that may be the target's, over all buckets.
    `certain`: target, unit_0, …: those that only one bucket matches, with the matching rows in it.
    `shares`: target, part_0, …, share: what the others are believed to have.
    """

    sizes: pl.DataFrame
    certain: pl.DataFrame
    shares: pl.DataFrame


@dataclass(frozen=True, repr=False)
class Weighed:
    """Groups of equal beliefs, and the targets that share them: group, rows (of the original)."""

    groups: Groups
    targets: pl.DataFrame


def measure_target_sizes(guarantee: KAnonymity, evidence: Evidence, sight: Sight) -> pl.DataFrame | None:
    """The rows of one column that may be each target's, which must be k or more."""
    slices = slices_of(evidence, sight.view, sight.known, (sight.file.table,))
    beliefs = _beliefs(slices, [slices.index_of(sight.file.table)], [])
    sizes = pl.concat([pl.DataFrame(schema=SIZES), *(belief.sizes for belief in beliefs)])
    size, rows = pl.col("size"), pl.Series(slices.rows[sizes["target"].to_numpy()])
    measured = sizes.select(rows=rows, measure=size.cast(pl.Float64), kept=size >= guarantee.k)
    return _if_complete(measured, sight.view)


def measure_beliefs(
    evidence: Evidence, promise: Promise, sights: Sequence[Sight], measure: Measure
) -> pl.DataFrame | None:
    """The measures of what is believed of each target: rows, measure, kept; None where that cannot be told."""
    if len(sights) > MOST_COLUMNS or not evidence.joins(tuple(sights[0].known)):
        return None
    measured = [pl.DataFrame(schema=MEASURED)]
    for beliefs in weighed(evidence, promise, sights):
        groups = measure(promise.guarantee, beliefs.groups).select("group", "measure", "kept")
        measured.append(beliefs.targets.join(groups, on="group").select(MEASURED.keys()))
    return _if_complete(pl.concat(measured, how="vertical_relaxed"), sights[0].view)


def _if_complete(measured: pl.DataFrame, view: View) -> pl.DataFrame | None:
    """The measures, unless fewer people match the view than are in it: then its labels are not what is said."""
    return measured if int(measured["rows"].sum()) >= view.rows else None


def weighed(evidence: Evidence, promise: Promise, sights: Sequence[Sight]) -> Iterator[Weighed]:
    """The beliefs about the protected values in some columns of one view, a bounded number at a time.

    Claim: a target that one bucket matches has counts, to be decided on integers; any other has shares.
    Why: with one bucket the weights cancel, and p(t, s) is the share of s among the rows that match.
    Tested by: tests/claims/test_audit_posterior.py
    """
    tables = tuple(sight.file.table for sight in sights)
    slices = slices_of(evidence, sights[0].view, sights[0].known, tables)
    indices = [slices.index_of(table) for table in tables]
    labels, cells_of_groups = cells_in(evidence, sights)
    columns = [slices.columns[index] for index in indices]
    cells = [_cells_of_units(*pair) for pair in zip(columns, cells_of_groups, strict=True)]
    for beliefs in _beliefs(slices, indices, cells):
        rows = beliefs.sizes.with_columns(rows=pl.Series(slices.rows[beliefs.sizes["target"].to_numpy()]))
        for believed, targets in (_certain(beliefs.certain, cells, rows), _uncertain(beliefs.shares, rows)):
            if believed.height:
                yield Weighed(with_reference(evidence, promise, believed, labels), targets)


def _cells_of_units(column: Slice, cells: pl.DataFrame) -> pl.DataFrame:
    """The values of the units of a protected column: unit, part_…, count, size."""
    units = column.groups.join(cells.drop("size", "rows"), on="group")
    units = units.group_by("unit", "^part_.*$").agg(pl.col("count").sum()).sort("unit")
    return units.with_columns(size=pl.Series(column.counts[units["unit"].to_numpy()]))


def _certain(certain: pl.DataFrame, cells: Sequence[pl.DataFrame], rows: pl.DataFrame) -> Cells:
    """Counts of the values where one bucket matches; targets that match the same rows are one group."""
    units = [f"unit_{index}" for index in range(len(cells))]
    groups = certain.select(units).unique().with_row_index("group").cast({"group": pl.Int64})
    columns = [own.rename({"unit": unit}) for unit, own in zip(units, cells, strict=True)]
    counted = multiplied(groups, columns, "unit").rename({"fewest": "rows"})
    targets = certain.join(groups, on=units).join(rows, on="target").select("group", "rows")
    return counted.select("group", "^part_.*$", "count", "size", "rows"), targets


def _uncertain(shares: pl.DataFrame, rows: pl.DataFrame) -> Cells:
    """Shares of the values where several buckets match; every target is a group."""
    cells = shares.join(rows.select("target", rows="size"), on="target")
    cells = cells.rename({"target": "group", "share": "count"}).with_columns(size=pl.lit(1.0))
    targets = rows.join(shares, on="target", how="semi").select("rows", group="target")
    return cells.select("group", "^part_.*$", "count", "size", "rows"), targets


def _beliefs(slices: Slices, indices: Sequence[int], cells: Sequence[pl.DataFrame]) -> Iterator[Beliefs]:
    """The beliefs about all targets that some bucket matches; without cells only how many rows they may be."""
    values = _values(cells[0]) if len(cells) == 1 else NO_VALUES
    if len(indices) == 1 and suits_blocks(slices, indices[0], values.n_values):
        yield from _in_blocks(slices, indices[0], values)
    else:
        yield from _in_pairs(slices, indices, cells)


def _in_pairs(slices: Slices, indices: Sequence[int], cells: Sequence[pl.DataFrame]) -> Iterator[Beliefs]:
    for pairs in pairs_of(slices):
        units = {f"unit_{number}": pairs.units[index] for number, index in enumerate(indices)}
        counts = np.min([slices.columns[index].counts[pairs.units[index]] for index in indices], axis=0)
        frame = pl.DataFrame({"target": pairs.target, **units, "weight": pairs.weight, "size": counts})
        sizes = frame.group_by("target").agg(pl.col("size").sum(), pl.len())
        is_only = frame.join(sizes, on="target", how="left", maintain_order="left")["len"] == 1
        certain = frame.filter(is_only).select("target", *units)
        yield Beliefs(sizes.select(SIZES.keys()), certain, _mixed(frame.filter(~is_only), cells))


def _mixed(pairs: pl.DataFrame, cells: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up, over the buckets of each target, what their matching rows have."""
    mixed = pairs if cells else pairs.clear()
    for index, own in enumerate(cells):
        odds = own.with_columns(odds=pl.col("count") / pl.col("size")).drop("count", "size")
        joined = mixed.join(odds.rename({"unit": f"unit_{index}"}), on=f"unit_{index}")
        mixed = joined.with_columns(weight=pl.col("weight") * pl.col("odds")).drop("odds")
    summed = mixed.group_by("target", "^part_.*$").agg(pl.col("weight").sum())
    totals = summed.group_by("target").agg(pl.col("weight").sum().alias("total"))
    joined = summed.join(totals, on="target")
    return joined.select("target", "^part_.*$", share=pl.col("weight") / pl.col("total"))


def _values(cells: pl.DataFrame) -> Values:
    """The values of units with one number for each combination of parts."""
    parts = cells.select("^part_.*$")
    numbers = dense(combined([part.to_numpy() for part in parts]))
    share = (cells["count"] / cells["size"]).to_numpy()
    return Values(cells["unit"].to_numpy(), numbers, share, parts[example(numbers)])


def _in_blocks(slices: Slices, index: int, values: Values) -> Iterator[Beliefs]:
    batch: list[Believed] = []
    n_cells = 0
    offer: Offer | None = None
    for block in blocks_of(slices, index):
        if offer is None or offer.first != block.units[0]:
            offer = values.within(block.units)
        batch.append(believed_in(block, slices.columns[index].counts, offer))
        n_cells += len(batch[-1].target) + len(batch[-1].certain)
        if n_cells >= LARGEST_BATCH:
            yield _together(batch, values)
            batch, n_cells = [], 0
    if batch:
        yield _together(batch, values)


def _together(batch: Sequence[Believed], values: Values) -> Beliefs:
    def all_of(name: str) -> pl.Series:
        return pl.Series(name, np.concatenate([getattr(believed, name) for believed in batch]))

    shares = pl.DataFrame({"target": all_of("target")}).hstack(values.parts[all_of("value")])
    return Beliefs(
        pl.DataFrame({"target": all_of("matched"), "size": all_of("sizes")}),
        pl.DataFrame({"target": all_of("certain"), "unit_0": all_of("units")}),
        shares.with_columns(all_of("share")),
    )
