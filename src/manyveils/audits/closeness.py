"""t-closeness: how far the distribution in each group is from the whole original's.

Every distance of counts is a fraction of integers, `moved` over `scale`, so the bound is decided exactly.
"""

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import ROWS, measures
from manyveils.policy.guarantees import Closeness, Ground
from manyveils.reading.keys import Ids


@measures(Closeness)
def measure_closeness(guarantee: Closeness, groups: Groups) -> pl.DataFrame:
    """The earth mover's distance of each group from the original."""
    groups = groups.distribution
    moved = distances(groups, guarantee.ground)
    return moved.with_columns(
        measure=pl.col("moved") / pl.col("scale"),
        kept=groups.arithmetic.at_most(pl.col("moved"), pl.col("scale"), guarantee.t),
    )


def distances(groups: Groups, ground: Ground) -> pl.DataFrame:
    """The distance of each group from the original as a fraction: group, rows, moved, scale."""
    match ground:
        case "equal":
            return _equal(groups.cells, groups.reference, groups.n_counted, groups)
        case "ordered":
            return _ordered(groups)
        case "hierarchical":
            return _hierarchical(groups)


def _equal(cells: pl.DataFrame, reference: pl.Series, total: float, groups: Groups) -> pl.DataFrame:
    """Half the sum of absolute differences; values that a group lacks count through the reference's total."""
    reckon = groups.arithmetic
    expected = reckon.number("original") * reckon.number("size")
    beyond = (reckon.number("count") * reckon.constant(groups.n_rows) - expected).abs() - expected
    return (
        cells.with_columns(original=reference.gather(cells["value"]))
        .group_by("group")
        .agg(ROWS, reckon.number("size").first(), beyond.sum().alias("beyond"))
        .with_columns(
            moved=pl.col("beyond") + pl.col("size") * reckon.constant(total),
            scale=pl.col("size") * reckon.constant(2 * groups.n_rows),
        )
    )


def _hierarchical(groups: Groups) -> pl.DataFrame:
    """The mean, over the levels below the top, of the equal distance between labels.

    Two values whose lowest common ancestor is at level L differ in their labels at exactly L levels, so moving
    along the hierarchy costs, level by level, the share that must change its label.
    """
    below_top = range(len(groups.labels[0].attribute.levels) - 1)
    levels = pl.concat(_at_level(groups, level) for level in below_top)
    return levels.group_by("group").agg(ROWS, pl.col("moved").sum(), pl.col("scale").sum())


def _at_level(groups: Groups, level: int) -> pl.DataFrame:
    label = groups.labels[0].at_level(level)
    original = groups.reference.to_numpy()
    reference = np.zeros(int(label.max()) + 1, dtype=original.dtype)
    np.add.at(reference, label, original)
    cells = (
        coarser(groups.cells, label)
        .group_by("group", "value")
        .agg(ROWS, pl.col("size").first(), pl.col("count").sum())
    )
    return _equal(cells, pl.Series(reference), reference.sum().item(), groups)


def coarser(cells: pl.DataFrame, label: Ids) -> pl.DataFrame:
    """The cells with labels in place of values; cells of one label are not yet added up."""
    return cells.with_columns(value=pl.Series(label).gather(cells["value"]))


def _ordered(groups: Groups) -> pl.DataFrame:
    """The sum of absolute differences of the cumulative counts, over the steps of the domain.

    Between two values that a group has, its cumulative count stands still while the original's grows, so
    the differences change sign at most once there: two prefix sums give the whole stretch.
    """
    reference = groups.reference.cum_sum()
    dtype = pl.Int128 if reference.dtype.is_integer() else pl.Float64
    before = reference.cast(dtype).cum_sum().shift(1, fill_value=0)
    before = before.append(pl.Series([before[-1] + reference[-1]], dtype=dtype))
    steps = _stretches(groups, len(reference))
    level = (
        steps["level"] // steps["size"] if reference.dtype.is_integer() else steps["level"] / steps["size"]
    )
    meeting = reference.search_sorted(level.cast(reference.dtype), side="right")
    steps = steps.with_columns(turn=meeting.cast(pl.Int64)).with_columns(pl.col("turn").clip("start", "stop"))
    at = {name: before.gather(steps[name]) for name in ("start", "turn", "stop")}
    return _summed(steps, at, groups, len(reference))


def _summed(steps: pl.DataFrame, at: dict[str, pl.Series], groups: Groups, n_values: int) -> pl.DataFrame:
    """Add up the stretches of each group; `at` has the original's prefix sums at their starts, turns and stops."""
    reckon = groups.arithmetic
    level, size = reckon.number("level"), reckon.number("size")
    start, turn, stop = (reckon.number(name) for name in ("start", "turn", "stop"))
    until = {name: pl.lit(sums).cast(reckon.dtype) for name, sums in at.items()}
    above = level * (turn - start) - size * (until["turn"] - until["start"])
    below = size * (until["stop"] - until["turn"]) - level * (stop - turn)
    scale = size.first() * reckon.constant(groups.n_rows * max(n_values - 1, 1))
    summed = steps.with_columns(moved=above + below).group_by("group")
    return summed.agg(ROWS, pl.col("moved").sum(), scale.alias("scale"))


def _stretches(groups: Groups, n_values: int) -> pl.DataFrame:
    """Find the runs of the domain in which a group's cumulative count stands still.

    Each has a start, a stop and a level: the cumulative count there, times the rows of the original.
    """
    order = groups.cells["group"].cast(pl.Int64) * n_values + groups.cells["value"]
    cells = groups.cells[order.arg_sort()]
    group, value = cells["group"], cells["value"]
    is_first = (group != group.shift(1)).fill_null(value=True)
    # Summed inside each group, so that shares do not gather the rounding of all groups before.
    total = cells.select(pl.col("count").cum_sum().over("group")).to_series()
    is_last = is_first.shift(-1).fill_null(value=True)
    own = cells.select(
        "group",
        "rows",
        "size",
        start=value,
        stop=pl.when(is_last).then(n_values).otherwise(value.shift(-1)),
        level=total * groups.n_rows,
    )
    ahead = own.filter(is_first).with_columns(start=0, stop=pl.col("start"), level=0)
    return pl.concat([ahead, own], how="vertical_relaxed")
