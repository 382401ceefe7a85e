"""What an adversary believes of a target whose bucket she cannot tell, because what she knows is spread over columns.

p(t, s) = sum over buckets B of p(t, B) · p(s | t, B): a bucket weighs as much as the product, over the columns, of
the shares of its rows that match the target; inside it the matching rows of the protected column are alike.
"""

from collections.abc import Iterator, Sequence

import polars as pl

from manyveils.audits.beliefs import Protected, beliefs_of
from manyveils.audits.groups import cells_in, multiplied, with_reference
from manyveils.audits.measures import Measure
from manyveils.audits.sliced_persons import Weighed, measure_target_persons, weighed_persons
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.reading.pairs import search_of
from manyveils.reading.sight import Sight
from manyveils.reading.slices import Slice
from manyveils.release import View

MOST_COLUMNS = 2
MEASURED = {"rows": pl.Int64, "measure": pl.Float64, "kept": pl.Boolean}
SIZES = {"target": pl.Int64, "size": pl.Int64}

Cells = tuple[pl.DataFrame, pl.DataFrame]


def measure_target_sizes(least: int, evidence: Evidence, sight: Sight) -> pl.DataFrame | None:
    """The rows of one column that may be each target's, counted to `least` or more: rows (of the target), size."""
    if evidence.table.persons is not None:
        told = measure_target_persons(least, evidence, sight)
        return None if told is None else _if_complete(told, sight.view)
    search, table = search_of(evidence, sight.view, sight.known), sight.file.table
    beliefs = beliefs_of(search, Protected(table, [search.slices.holding(table)], []))
    sizes = pl.concat([pl.DataFrame(schema=SIZES), *(belief.sizes for belief in beliefs)])
    rows = pl.Series(search.slices.rows[sizes["target"].to_numpy()])
    return _if_complete(sizes.select("size", rows=rows), sight.view)


def measure_beliefs(
    evidence: Evidence, promise: Promise, sights: Sequence[Sight], measure: Measure
) -> pl.DataFrame | None:
    """The measures of what is believed of each target: rows, measure, kept; None where that cannot be told."""
    if len(sights) > MOST_COLUMNS or not evidence.joins(tuple(sights[0].known)):
        return None
    measured = [pl.DataFrame(schema=MEASURED)]
    of_persons = evidence.table.persons is not None
    told = weighed_persons(evidence, promise, sights) if of_persons else weighed(evidence, promise, sights)
    if told is None:
        return None
    for beliefs in told:
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
    search = search_of(evidence, sights[0].view, sights[0].known)
    columns = [search.slices.holding(sight.file.table) for sight in sights]
    labels, cells_of_groups = cells_in(evidence, sights)
    cells = [cells_of_units(*pair) for pair in zip(columns, cells_of_groups, strict=True)]
    for beliefs in beliefs_of(search, Protected(sights[0].file.table, columns, cells)):
        people = pl.Series(search.slices.rows[beliefs.sizes["target"].to_numpy()])
        rows = beliefs.sizes.with_columns(rows=people)
        for believed, targets in (_certain(beliefs.certain, cells, rows), _uncertain(beliefs.shares, rows)):
            if believed.height:
                yield Weighed(with_reference(evidence, promise, believed, labels), targets)


def cells_of_units(column: Slice, cells: pl.DataFrame) -> pl.DataFrame:
    """The values of the units of a protected column: unit, part_…, count, size."""
    groups, counts = column.units.groups, column.units.counts
    units = groups.join(cells.drop("size", "rows"), on="group", maintain_order="left").drop("group")
    if groups.height > len(counts):
        # Rows that read differently may match the same.
        units = units.group_by("unit", "^part_.*$").agg(pl.col("count").sum()).sort("unit")
    return units.with_columns(size=pl.Series(counts[units["unit"].to_numpy()]))


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
