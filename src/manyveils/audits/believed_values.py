"""What is believed of every value of a multi-valued attribute where no bucket is found for certain, all values at once.

Shares of values are added up over buckets as of any attribute. People have several values or none, so a value that
everybody has is counted beside them: its share is all the belief there is.
"""

from collections.abc import Iterator

import polars as pl

from manyveils.audits.beliefs import Beliefs, Protected, beliefs_of
from manyveils.audits.groups import Groups
from manyveils.audits.measures import Measure
from manyveils.audits.posterior import cells_of_units
from manyveils.audits.set_valued import Holders, cells_apart, holders_in, lacking, values_apart
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.pairs import search_of
from manyveils.reading.sight import Sight

MEASURED = pl.Schema(
    {
        "value": pl.Int64,
        "rows": pl.Int64,
        "measure": pl.Float64,
        "kept": pl.Boolean,
        "times": pl.Int64,
        "all_rows": pl.Int64,
    }
)


def measure_beliefs_apart(
    evidence: Evidence, promise: Promise, sight: Sight, measure: Measure
) -> pl.DataFrame | None:
    """What a promise about each value comes to over all targets, as `measured_apart`; None where that cannot be told.

    Claim: it is what measuring the beliefs in each value by itself comes to.
    Why: beliefs in one value do not depend on other values, and targets who surely lack a value are alike.
    Tested by: tests/claims/test_audit_set_valued.py
    """
    if not evidence.joins(tuple(sight.known)):
        return None
    holders = holders_in(evidence, sight, evidence.table.home(promise.protects[0]))
    search = search_of(evidence, sight.view, sight.known)
    column = search.slices.holding(sight.file.table)
    cells = cells_of_units(column, _cells_of_groups(evidence, sight, holders))
    measured, n_people = [pl.DataFrame(schema=MEASURED)], 0
    for beliefs in beliefs_of(search, Protected(sight.file.table, [column], [cells])):
        people = search.slices.rows
        n_people += int(people[beliefs.sizes["target"].to_numpy()].sum())
        for present, targets in _kinds(beliefs, cells, people, len(holders.names)):
            if targets.height:
                measured.append(_measured(evidence, promise, holders, measure, present, targets))
    # If fewer people match the view than are in it, its labels are not what is said.
    return pl.concat(measured) if n_people >= sight.view.rows else None


def _cells_of_groups(evidence: Evidence, sight: Sight, holders: Holders) -> pl.DataFrame:
    """How many rows of each group have each value, and a last one that all have: group, part_0, count, size, rows."""
    value, group, counts = holders.counted(evidence, sight)
    sizes = evidence.tally(sight.file, evidence.group_numbers(sight.file, sight.key))
    everybody = pl.DataFrame({"count": sizes}).with_row_index("group").cast(pl.Int64)
    has = pl.DataFrame({"group": group, "part_0": value, "count": counts})
    everybody = everybody.with_columns(part_0=pl.lit(len(holders.names), dtype=pl.Int64)).select(has.columns)
    return pl.concat([has, everybody]).with_columns(size=0, rows=0)


def _kinds(
    beliefs: Beliefs, cells: pl.DataFrame, people: Ids, everybody: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Who has which values, of targets that one bucket matches and of the others.

    Targets that match the same rows of one bucket are one line: number, rows (of the smallest), times, all_rows; and
    the values that they may have: number, value, count, size.
    """
    counted = beliefs.certain.with_columns(rows=pl.Series(people[beliefs.certain["target"].to_numpy()]))
    certain = counted.group_by("unit_0").agg(
        pl.col("rows").min(), times=pl.len().cast(pl.Int64), all_rows=pl.col("rows").sum()
    )
    certain = certain.with_row_index("number").cast({"number": pl.Int64})
    is_value = pl.col("part_0") != everybody
    own = cells.filter(is_value).rename({"unit": "unit_0"}).join(certain, on="unit_0")
    yield own.select("number", "count", "size", value="part_0"), certain
    if not beliefs.shares.height:
        return
    all_belief = beliefs.shares.filter(~is_value).select("target", all_belief="share")
    targets = all_belief.with_row_index("number").cast({"number": pl.Int64})
    shares = beliefs.shares.filter(is_value).join(targets, on="target")
    share = (pl.col("share") / pl.col("all_belief")).clip(0.0, 1.0)
    rows = pl.Series(people[targets["target"].to_numpy()], dtype=pl.Int64)
    yield (
        shares.select("number", count=share, size=pl.lit(1.0), value="part_0"),
        targets.with_columns(rows=rows, times=pl.lit(1, dtype=pl.Int64), all_rows=rows),
    )


def _measured(
    evidence: Evidence,
    promise: Promise,
    holders: Holders,
    measure: Measure,
    present: pl.DataFrame,
    targets: pl.DataFrame,
) -> pl.DataFrame:
    value, number = present["value"].to_numpy(), present["number"].to_numpy()
    times, all_rows, sizes = (targets[name].to_numpy() for name in ("times", "all_rows", "rows"))
    nobody = lacking(value, number, sizes, len(holders.names), times, all_rows)
    counts, totals = present["count"].to_numpy(), present["size"].to_numpy()
    cells = cells_apart(value, value * targets.height + number, counts, totals, nobody)
    groups = Groups(cells, values_apart(evidence, holders), (), evidence, of_sets=True)
    measured = measure(promise.guarantee, groups).select("group", "measure", "kept")
    of_group = {"number": pl.col("group") % targets.height, "value": pl.col("group") // targets.height}
    measured = measured.with_columns(**of_group).join(
        targets.select("number", "rows", "times", "all_rows"), on="number"
    )
    merged = measured.join(
        nobody.select("group", "times", "all_rows"), on="group", how="left", suffix="_lacking"
    )
    return (
        merged.with_columns(
            pl.coalesce("times_lacking", "times").alias("times"),
            pl.coalesce("all_rows_lacking", "all_rows").alias("all_rows"),
        )
        .select(MEASURED.keys())
        .cast(MEASURED)
    )
