"""(n,t)-closeness: how far each group is from the nearest of its natural supersets with n rows or more.

The supersets of a group are the group itself, its ancestors in the generalization lattice (rows of the original
under coarser labels of what is known), and the whole original.
"""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from manyveils.audits.closeness import coarser, distances
from manyveils.audits.groups import Groups
from manyveils.audits.measures import ROUNDED, ROWS, Arithmetic, measures
from manyveils.policy.guarantees import SupersetCloseness
from manyveils.reading.evidence import BUCKET
from manyveils.reading.keys import Ids, example, people_in, with_people
from manyveils.reading.labels import Labels
from manyveils.reading.sight import Sight
from manyveils.table import Table


@measures(SupersetCloseness)
def measure_supersets(guarantee: SupersetCloseness, groups: Groups) -> pl.DataFrame:
    """The distance of each group from its nearest superset that is large enough; infinite if there is none."""
    groups = groups.distribution
    sizes = groups.cells.group_by("group").agg(ROWS)
    is_large = pl.col("rows") >= guarantee.n
    itself = sizes.select("group", measure=pl.when(is_large).then(0.0).otherwise(math.inf), kept=is_large)
    people = groups.in_fractions
    if people.n_rows >= guarantee.n:
        # Of whole numbers, where weights are such, so that what is equal is not refused for rounding.
        itself = pl.concat([itself, _told(distances(groups, guarantee.ground), groups, guarantee)])
    measured = [_told(moved, people, guarantee) for moved in _supersets(guarantee, people)]
    nearest = (
        pl.concat([itself, *measured]).group_by("group").agg(pl.col("measure").min(), pl.col("kept").any())
    )
    return sizes.join(nearest, on="group")


def _told(moved: pl.DataFrame, groups: Groups, guarantee: SupersetCloseness) -> pl.DataFrame:
    kept = groups.arithmetic.at_most(pl.col("moved"), pl.col("scale"), guarantee.t)
    return moved.select("group", measure=pl.col("moved") / pl.col("scale"), kept=kept)


def _supersets(guarantee: SupersetCloseness, groups: Groups) -> Iterator[pl.DataFrame]:
    """The distances of groups from supersets between them and the whole: group, moved, scale."""
    if groups.sight is None or not groups.sight.key or BUCKET in groups.sight.key:
        return
    names = (*groups.sight.key, *groups.protects)
    if groups.arithmetic is ROUNDED or not groups.evidence.joins(names):
        # Shares of originals under labels are compared with themselves and with all people only.
        return
    try:
        original = groups.evidence.table.whole(names)
    except LookupError:
        # Where the original was not counted so, a group is compared with itself and with all people only.
        return
    rows = with_people(pl.DataFrame({"value": groups.values_of(original)}), original.weights)
    if groups.placed is not None:
        rows = rows.with_columns(person=pl.Series(original.persons))
    for ancestors, levels in _lattice(groups, groups.sight):
        yield from _near_ancestors(guarantee, groups, ancestors, _labelled(rows, original, levels))


def _lattice(groups: Groups, sight: Sight) -> Iterator[tuple[pl.DataFrame, list[tuple[Labels, int]]]]:
    """For every level: groups with the numbers of their coarser labels, and at which level each attribute is."""
    evidence, file = groups.evidence, sight.file
    rows = example(evidence.group_numbers(file, sight.key))
    labels = [evidence.labels(sight.view, file, name) for name in sight.key]
    values = [
        own.numbers_of(evidence.frame(file)[name][rows]) for own, name in zip(labels, sight.key, strict=True)
    ]
    keys = [f"level_{index}" for index in range(len(labels))]
    for start in range(max(len(own.attribute.levels) for own in labels)):
        columns = {"group": np.arange(len(rows))}
        for index, (own, value) in enumerate(zip(labels, values, strict=True)):
            columns[f"level_{index}"], columns[f"label_{index}"] = _raised(own, value, start)
        for heights, ancestors in pl.DataFrame(columns).partition_by(keys, as_dict=True).items():
            levels = [int(height) for height in heights]
            yield ancestors.select("group", "^label_.*$"), list(zip(labels, levels, strict=True))


def _raised(labels: Labels, values: Ids, start: int) -> tuple[Ids, Ids]:
    """The lowest level from `start` on that has a label for all a value covers, and that label."""
    lowest = labels.lowest_level(start)
    firsts = np.maximum(labels.cover.firsts, 0)
    levels = labels.attribute.levels
    label = [levels[level].label_of[code] for level, code in zip(lowest.tolist(), firsts, strict=True)]
    return lowest[values], np.array(label, dtype=np.int64)[values]


def _labelled(rows: pl.DataFrame, original: Table, known: list[tuple[Labels, int]]) -> pl.DataFrame:
    """The rows of the original beside label_0, label_1, …: the labels of what is known, each at its level."""
    attributes = [
        (original[labels.attribute.name], labels.attribute.levels[level]) for labels, level in known
    ]
    columns = (level.label_of[attribute.codes] for attribute, level in attributes)
    return rows.with_columns(
        pl.Series(f"label_{index}", column, dtype=pl.Int64) for index, column in enumerate(columns)
    )


def _near_ancestors(
    guarantee: SupersetCloseness, groups: Groups, ancestors: pl.DataFrame, rows: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    names = [name for name in ancestors.columns if name != "group"]
    within = rows.join(ancestors, on=names, how="semi")
    if groups.placed is not None:
        # Persons weigh the same, each spread over her rows in the superset.
        share = within.with_columns(share=1 / pl.len().over(*names, "person"))
        counted = share.group_by(*names, "value").agg(pl.col("share").sum().alias("above"))
        sizes = within.group_by(names).agg(pl.col("person").n_unique().cast(pl.Float64).alias("above_size"))
    else:
        counted = within.group_by(*names, "value").agg(people_in(within).alias("above"))
        sizes = counted.group_by(names).agg(pl.col("above").sum().alias("above_size"))
    large = ancestors.join(sizes.filter(pl.col("above_size") >= guarantee.n), on=names)
    if large.height:
        supersets = large.join(counted, on=names).select("group", "value", "above")
        yield _pair_distances(guarantee, groups, large.select("group", "above_size"), supersets)


def _pair_distances(
    guarantee: SupersetCloseness, groups: Groups, large: pl.DataFrame, supersets: pl.DataFrame
) -> pl.DataFrame:
    """The distance between each group and its own superset: group, moved, scale."""
    own = groups.cells.join(large, on="group", how="semi")
    reckon = groups.arithmetic
    zero = pl.lit(0, dtype=own.schema["count"])
    cells = pl.concat(
        [
            own.select("group", "value", "count", above=zero),
            supersets.select("group", "value", count=zero, above="above"),
        ]
    )
    sizes = own.group_by("group").agg(reckon.number("size").first()).join(large, on="group")
    count, above, size, above_size = map(reckon.number, ("count", "above", "size", "above_size"))
    cells = cells.join(sizes, on="group").with_columns(
        excess=count * above_size - above * size, product=size * above_size
    )
    match guarantee.ground:
        case "equal":
            return _moved(_merged(cells), 2, reckon)
        case "ordered":
            return _moved(_cumulated(_merged(cells), reckon), max(groups.values.height - 1, 1), reckon)
        case "hierarchical":
            labels = groups.labels[0]
            below_top = range(len(labels.attribute.levels) - 1)
            moved = [
                _moved(_merged(coarser(cells, labels.at_level(level))), 2, reckon) for level in below_top
            ]
            return pl.concat(moved).group_by("group").agg(pl.col("moved").sum(), pl.col("scale").sum())


def _merged(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.group_by("group", "value").agg(pl.col("excess").sum(), pl.col("product").first())


def _moved(cells: pl.DataFrame, factor: int, reckon: Arithmetic) -> pl.DataFrame:
    """The sum of absolute excesses of each group."""
    scale = pl.col("product").first() * reckon.constant(factor)
    return cells.group_by("group").agg(
        reckon.number("excess").abs().sum().alias("moved"), scale.alias("scale")
    )


def _cumulated(cells: pl.DataFrame, reckon: Arithmetic) -> pl.DataFrame:
    """The cumulative excess, as often as it stands still until the next value of the pair."""
    steps = (pl.col("value").shift(-1).over("group") - pl.col("value")).fill_null(0).cast(reckon.dtype)
    return cells.sort("group", "value").with_columns(excess=pl.col("excess").cum_sum().over("group") * steps)
