"""(n,t)-closeness: how far each group is from the nearest of its natural supersets with n rows or more.

The supersets of a group are the group itself, its ancestors in the generalization lattice (rows of the original
under coarser labels of what is known), and the whole original.
"""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.audits.closeness import coarser, distances
from manyveils.audits.groups import Groups
from manyveils.audits.measures import EXACT, ROWS, Arithmetic
from manyveils.policy.guarantees import SupersetCloseness
from manyveils.reading.evidence import BUCKET
from manyveils.reading.labels import Labels
from manyveils.reading.people import people_in, with_people
from manyveils.table import Table


def measure_supersets(guarantee: SupersetCloseness, groups: Groups) -> pl.DataFrame:
    """The distance of each group from its nearest superset that is large enough; infinite if there is none."""
    every = groups.cells.group_by("group").agg(ROWS)
    is_large = pl.col("rows") >= guarantee.n
    itself = every.select("group", measure=pl.when(is_large).then(0.0).otherwise(math.inf), kept=is_large)
    found = [
        itself,
        *(_judged(guarantee, moved, groups.arithmetic) for moved in _candidates(guarantee, groups)),
    ]
    nearest = pl.concat(found).group_by("group").agg(pl.col("measure").min(), pl.col("kept").any())
    return every.join(nearest, on="group")


def _judged(guarantee: SupersetCloseness, moved: pl.DataFrame, reckon: Arithmetic) -> pl.DataFrame:
    return moved.select(
        "group",
        measure=pl.col("moved") / pl.col("scale"),
        kept=reckon.at_most(pl.col("moved"), pl.col("scale"), guarantee.t),
    )


def _candidates(guarantee: SupersetCloseness, groups: Groups) -> Iterator[pl.DataFrame]:
    if groups.n_rows >= guarantee.n:
        yield distances(groups, guarantee.ground)
    if groups.seen is None or not groups.seen.key or BUCKET in groups.seen.key:
        return
    names = (*groups.seen.key, *groups.protects)
    if not groups.evidence.joins(names):
        return
    try:
        original = groups.evidence.table.whole(names)
    except LookupError:
        # Where the original was not counted so, a group is compared with itself and with all people only.
        return
    rows = with_people(pl.DataFrame({"value": groups.values_of(original)}), original.weights)
    for ancestors, known in _lattice(groups):
        yield from _near_ancestors(guarantee, groups, ancestors, _labelled(rows, original, known))


def _lattice(groups: Groups) -> Iterator[tuple[pl.DataFrame, list[tuple[Labels, int]]]]:
    """For every level: groups with the numbers of their coarser labels, and at which level each attribute is."""
    assert groups.seen is not None
    names = groups.seen.key
    frame = groups.evidence.frame(groups.seen.file).select(names)
    numbers = groups.evidence.group_numbers(groups.seen.file, names)
    keys = frame.with_columns(group=pl.Series(numbers)).unique("group")
    labels = [groups.evidence.labels(groups.seen.view, groups.seen.file, name) for name in names]
    values = [found.numbers_of(keys[name]) for found, name in zip(labels, names, strict=True)]
    for level in range(max(len(found.attribute.levels) for found in labels)):
        raised = [_raised(found, value, level) for found, value in zip(labels, values, strict=True)]
        columns = {f"level_{place}": levels for place, (levels, _) in enumerate(raised)}
        columns |= {f"label_{place}": numbers for place, (_, numbers) in enumerate(raised)}
        parts = pl.DataFrame({"group": keys["group"], **columns})
        for heights, part in parts.partition_by(
            [f"level_{place}" for place in range(len(names))], as_dict=True
        ).items():
            yield (
                part.select("group", "^label_.*$"),
                list(zip(labels, (int(height) for height in heights), strict=True)),
            )


def _raised(
    labels: Labels, values: NDArray[np.int64], level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest level from `level` on that has a label for all a value covers, and that label."""
    lowest = labels.lowest_level(level)
    first = np.maximum(labels.cover.firsts, 0)
    steps = labels.attribute.levels
    label = np.array(
        [steps[height].label_of[code] for height, code in zip(lowest.tolist(), first, strict=True)]
    )
    return lowest[values], label[values].astype(np.int64)


def _labelled(rows: pl.DataFrame, original: Table, known: list[tuple[Labels, int]]) -> pl.DataFrame:
    """The rows of the original beside label_0, label_1, …: the labels of what is known, each at its level."""
    return rows.with_columns(
        pl.Series(
            f"label_{place}",
            found.attribute.levels[height].label_of[original[found.attribute.name].codes],
            dtype=pl.Int64,
        )
        for place, (found, height) in enumerate(known)
    )


def _near_ancestors(
    guarantee: SupersetCloseness, groups: Groups, ancestors: pl.DataFrame, rows: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    names = [name for name in ancestors.columns if name != "group"]
    within = rows.join(ancestors, on=names, how="semi")
    counted = within.group_by(*names, "value").agg(people_in(within).alias("other"))
    sizes = (
        counted.group_by(names)
        .agg(pl.col("other").sum().alias("other_size"))
        .filter(pl.col("other_size") >= guarantee.n)
    )
    large = ancestors.join(sizes, on=names)
    if large.height:
        supersets = large.join(counted, on=names).select("group", "value", "other")
        yield _pair_distances(guarantee, groups, large.select("group", "other_size"), supersets)


def _pair_distances(
    guarantee: SupersetCloseness, groups: Groups, large: pl.DataFrame, supersets: pl.DataFrame
) -> pl.DataFrame:
    """The distance between each group and its own superset: group, moved, scale."""
    own = groups.cells.join(large, on="group", how="semi")
    zero = pl.lit(0, dtype=pl.Int64)
    cells = pl.concat(
        [
            own.select("group", "value", "count", other=zero),
            supersets.select("group", "value", count=zero, other="other"),
        ]
    )
    sizes = own.group_by("group").agg(EXACT.number("size").first()).join(large, on="group")
    cells = cells.join(sizes, on="group").with_columns(
        excess=EXACT.number("count") * EXACT.number("other_size")
        - EXACT.number("other") * EXACT.number("size"),
        product=EXACT.number("size") * EXACT.number("other_size"),
    )
    match guarantee.ground:
        case "equal":
            return _moved(cells, EXACT.number("excess").abs().sum(), 2)
        case "ordered":
            return _moved(_cumulated(cells), EXACT.number("excess").sum(), max(groups.values.height - 1, 1))
        case "hierarchical":
            heights = range(len(groups.labels[0].attribute.levels) - 1)
            each = [
                _moved(
                    coarser(cells, groups.labels[0].at_level(height)), EXACT.number("excess").abs().sum(), 2
                )
                for height in heights
            ]
            return pl.concat(each).group_by("group").agg(pl.col("moved").sum(), pl.col("scale").sum())


def _moved(cells: pl.DataFrame, total: pl.Expr, factor: int) -> pl.DataFrame:
    each = cells.group_by("group", "value").agg(pl.col("excess").sum(), pl.col("product").first())
    scale = pl.col("product").first() * EXACT.constant(factor)
    return each.group_by("group").agg(total.alias("moved"), scale.alias("scale"))


def _cumulated(cells: pl.DataFrame) -> pl.DataFrame:
    """The absolute cumulative excess, as often as it stands still until the next value of the pair."""
    each = (
        cells.group_by("group", "value")
        .agg(pl.col("excess").sum(), pl.col("product").first())
        .sort("group", "value")
    )
    steps = (pl.col("value").shift(-1).over("group") - pl.col("value")).fill_null(0).cast(pl.Int128)
    return each.with_columns(excess=pl.col("excess").cum_sum().over("group").abs() * steps)
