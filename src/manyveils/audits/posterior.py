"""What an adversary believes of a target whose bucket she cannot tell, because what she knows is spread over columns.

p(t, s) = sum over buckets B of p(t, B) · p(s | t, B): a bucket weighs as much as the product, over the columns, of
the shares of its rows that match the target; inside it the matching rows of the protected column are alike.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups, cells_of, with_reference
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.reading.blocks import Believed, Offer, Values, believed_in, blocks_of, suits_blocks
from manyveils.reading.candidates import pairs_of
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import combined, dense, example
from manyveils.reading.labels import Labels
from manyveils.reading.sight import Sight
from manyveils.reading.slices import Slices, slices_of
from manyveils.release import View

LARGEST_BATCH = 5_000_000
MOST_COLUMNS = 2
MEASURED = {"rows": pl.Int64, "measure": pl.Float64, "kept": pl.Boolean}
SIZES = {"target": pl.Int64, "size": pl.Int64}
NO_VALUES = Values(
    np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64), pl.DataFrame()
)

Measure = Callable[[Any, Groups], pl.DataFrame]
Found = tuple[pl.DataFrame, pl.DataFrame]


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


def measure_target_sizes(guarantee: KAnonymity, evidence: Evidence, seen: Sight) -> pl.DataFrame | None:
    """The rows of one column that may be each target's, which must be k or more."""
    slices = slices_of(evidence, seen.view, seen.known, (seen.file.table,))
    believed = _beliefs(slices, [slices.place_of(seen.file.table)], [])
    found = pl.concat([pl.DataFrame(schema=SIZES), *(each.sizes for each in believed)])
    size, rows = pl.col("size"), pl.Series(slices.rows[found["target"].to_numpy()])
    return _if_complete(
        found.select(rows=rows, measure=size.cast(pl.Float64), kept=size >= guarantee.k), seen.view
    )


def measure_beliefs(
    evidence: Evidence, promise: Promise, parts: Sequence[Sight], measure: Measure
) -> pl.DataFrame | None:
    """The measures of what is believed of each target: rows, measure, kept; None where that cannot be told."""
    if len(parts) > MOST_COLUMNS or not evidence.joins(tuple(parts[0].known)):
        return None
    found = [pl.DataFrame(schema=MEASURED)]
    for each in weighed(evidence, promise, parts):
        measured = measure(promise.guarantee, each.groups).select("group", "measure", "kept")
        found.append(each.targets.join(measured, on="group").select(MEASURED.keys()))
    return _if_complete(pl.concat(found, how="vertical_relaxed"), parts[0].view)


def _if_complete(measured: pl.DataFrame, view: View) -> pl.DataFrame | None:
    """The measures, unless fewer people match the view than are in it: then its labels are not what is said."""
    return measured if int(measured["rows"].sum()) >= view.rows else None


def weighed(evidence: Evidence, promise: Promise, parts: Sequence[Sight]) -> Iterator[Weighed]:
    """The beliefs about the protected values in some columns of one view, a bounded number at a time.

    Claim: a target that one bucket matches has counts, to be decided on integers; any other has shares.
    Why: with one bucket the weights cancel, and p(t, s) is the share of s among the rows that match.
    Tested by: tests/claims/test_audit_posterior.py
    """
    slices = slices_of(evidence, parts[0].view, parts[0].known, tuple(seen.file.table for seen in parts))
    places = [slices.place_of(seen.file.table) for seen in parts]
    labels, cells = _cells_of_units(evidence, slices, parts)
    for each in _beliefs(slices, places, cells):
        rows = each.sizes.with_columns(rows=pl.Series(slices.rows[each.sizes["target"].to_numpy()]))
        for found, targets in (_certain(each.certain, cells, rows), _uncertain(each.shares, rows)):
            if found.height:
                yield Weighed(with_reference(evidence, promise, found, labels), targets)


def _cells_of_units(
    evidence: Evidence, slices: Slices, parts: Sequence[Sight]
) -> tuple[list[Labels], list[pl.DataFrame]]:
    """The values of the units of each protected column: unit, part_…, count, size; parts are numbered through."""
    labels: list[Labels] = []
    found = []
    for seen in parts:
        seen_labels, cells = cells_of(evidence, seen)
        names = {f"part_{old}": f"part_{len(labels) + old}" for old in range(len(seen_labels))}
        one = slices.each[slices.place_of(seen.file.table)]
        units = one.groups.join(cells.drop("size", "rows"), on="group").rename(names)
        units = units.group_by("unit", *names.values()).agg(pl.col("count").sum()).sort("unit")
        found.append(units.with_columns(size=pl.Series(one.counts[units["unit"].to_numpy()])))
        labels += seen_labels
    return labels, found


def _certain(certain: pl.DataFrame, cells: Sequence[pl.DataFrame], rows: pl.DataFrame) -> Found:
    """Counts of the values where one bucket matches; targets that match the same rows are one group."""
    units = [f"unit_{place}" for place in range(len(cells))]
    groups = (
        certain.select(units).unique().with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    )
    # Products of the counts of two columns may need more than 64 bits.
    dtype = pl.Int64 if len(cells) == 1 else pl.Int128
    counted = groups.with_columns(count=pl.lit(1, dtype=dtype), size=pl.lit(1, dtype=dtype))
    for unit, each in zip(units, cells, strict=True):
        more = each.rename({"unit": unit, "count": "more", "size": f"size_of_{unit}"})
        counted = (
            counted.join(more, on=unit)
            .with_columns(
                count=pl.col("count") * pl.col("more").cast(dtype),
                size=pl.col("size") * pl.col(f"size_of_{unit}").cast(dtype),
            )
            .drop("more")
        )
    fewest = pl.min_horizontal(f"size_of_{unit}" for unit in units)
    targets = certain.join(groups, on=units).join(rows, on="target").select("group", "rows")
    return counted.with_columns(rows=fewest).select("group", "^part_.*$", "count", "size", "rows"), targets


def _uncertain(shares: pl.DataFrame, rows: pl.DataFrame) -> Found:
    """Shares of the values where several buckets match; every target is a group."""
    cells = shares.join(rows.select("target", rows="size"), on="target")
    cells = cells.rename({"target": "group", "share": "count"}).with_columns(size=pl.lit(1.0))
    targets = rows.join(shares, on="target", how="semi").select("rows", group="target")
    return cells.select("group", "^part_.*$", "count", "size", "rows"), targets


def _beliefs(slices: Slices, places: Sequence[int], cells: Sequence[pl.DataFrame]) -> Iterator[Beliefs]:
    """The beliefs about all targets that some bucket matches; without cells only how many rows they may be."""
    values = _values(cells[0]) if len(cells) == 1 else NO_VALUES
    if len(places) == 1 and suits_blocks(slices, places[0], values.n_values):
        yield from _in_blocks(slices, places[0], values)
    else:
        yield from _in_pairs(slices, places, cells)


def _in_pairs(slices: Slices, places: Sequence[int], cells: Sequence[pl.DataFrame]) -> Iterator[Beliefs]:
    units = [f"unit_{part}" for part in range(len(places))]
    for pairs in pairs_of(slices):
        found = {unit: pairs.units[place] for unit, place in zip(units, places, strict=True)}
        counts = np.min([slices.each[place].counts[pairs.units[place]] for place in places], axis=0)
        frame = pl.DataFrame({"target": pairs.target, **found, "weight": pairs.weight, "size": counts})
        sizes = frame.group_by("target").agg(pl.col("size").sum(), pl.len())
        is_only = frame.join(sizes, on="target", how="left", maintain_order="left")["len"] == 1
        certain = frame.filter(is_only).select("target", *units)
        yield Beliefs(sizes.select(SIZES.keys()), certain, _mixed(frame.filter(~is_only), cells))


def _mixed(pairs: pl.DataFrame, cells: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up, over the buckets of each target, what their matching rows have."""
    mixed = pairs if cells else pairs.clear()
    for place, each in enumerate(cells):
        odds = each.with_columns(odds=pl.col("count") / pl.col("size")).drop("count", "size")
        joined = mixed.join(odds.rename({"unit": f"unit_{place}"}), on=f"unit_{place}")
        mixed = joined.with_columns(weight=pl.col("weight") * pl.col("odds")).drop("odds")
    parts = [name for each in cells for name in each.columns if name.startswith("part_")]
    summed = mixed.group_by("target", *parts).agg(pl.col("weight").sum())
    totals = summed.group_by("target").agg(pl.col("weight").sum().alias("total"))
    joined = summed.join(totals, on="target")
    return joined.select("target", *parts, share=pl.col("weight") / pl.col("total"))


def _values(cells: pl.DataFrame) -> Values:
    """The values of units with one number for each combination of parts."""
    parts = [name for name in cells.columns if name.startswith("part_")]
    numbers = dense(combined([cells[name].to_numpy() for name in parts]))
    share = (cells["count"] / cells["size"]).to_numpy()
    return Values(cells["unit"].to_numpy(), numbers, share, cells.select(parts)[example(numbers)])


def _in_blocks(slices: Slices, place: int, values: Values) -> Iterator[Beliefs]:
    batch: list[Believed] = []
    n_cells = 0
    offer: Offer | None = None
    for block in blocks_of(slices, place):
        if offer is None or offer.first != block.units[0]:
            offer = values.within(block.units)
        batch.append(believed_in(block, slices.each[place].counts, offer))
        n_cells += len(batch[-1].target) + len(batch[-1].certain)
        if n_cells >= LARGEST_BATCH:
            yield _together(batch, values)
            batch, n_cells = [], 0
    if batch:
        yield _together(batch, values)


def _together(batch: Sequence[Believed], values: Values) -> Beliefs:
    def all_of(name: str) -> pl.Series:
        return pl.Series(name, np.concatenate([getattr(each, name) for each in batch]))

    shares = pl.DataFrame({"target": all_of("target")}).hstack(values.parts[all_of("value")])
    return Beliefs(
        pl.DataFrame({"target": all_of("matched"), "size": all_of("sizes")}),
        pl.DataFrame({"target": all_of("certain"), "unit_0": all_of("units")}),
        shares.with_columns(all_of("share")),
    )
