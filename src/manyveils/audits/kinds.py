"""What l counts in each group: values, or labels of a hierarchy, and the l that each of them asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import ROWS
from manyveils.audits.persons import Placed
from manyveils.policy.guarantees import Diverse, Guarantee
from manyveils.reading.keys import Bools, Ids, combined, dense
from manyveils.reading.labels import Labels


def cells_by_kind(guarantee: Diverse, groups: Groups) -> pl.DataFrame:
    """The cells of groups with `l`, what their value asks for; with `l_level`, labels of that level in place of values.

    A published label asks for the largest l of what stands under it, and one that nobody has for the largest of all.
    A label of the level needs protection as soon as one of its values does, wherever that is. A label above the level hides which label of the level is meant: all that are hidden in a group count as the
    group's commonest.

    Claim: a group that is found to keep l keeps it whichever labels of the level the hidden ones are.
    Why: adding all that is hidden to the largest count leaves no fewer different labels, no larger share, no smaller
    entropy and no smaller tail in any other reading: its counts majorize those of every other.
    Tested by: tests/claims/test_kinds.py
    """
    if not guarantee.terms:
        return groups.cells.with_columns(l=pl.lit(guarantee.l, dtype=pl.Int64))
    kinds = _kinds(guarantee, groups)
    cells = groups.cells
    if guarantee.level and groups.placed is not None and not groups.is_distribution:
        return _of_persons(groups.placed, kinds)
    values = cells["value"].to_numpy()
    cells = cells.with_columns(
        value=pl.Series(kinds.of_value[values]),
        l=pl.Series(kinds.ls[values]),
        is_hidden=pl.Series(kinds.is_hidden[values]),
        sensitive=pl.Series(kinds.is_sensitive[values]),
    )
    if not guarantee.level:
        return cells.drop("is_hidden")
    return _with_hidden(_added(cells.filter(~pl.col("is_hidden"))), _hidden(cells))


def known_by_kind(guarantee: Diverse, groups: Groups) -> pl.DataFrame:
    """Which persons of each group have which values, or labels of the level, but for what is hidden: group, person, value."""
    assert groups.placed is not None
    rows = groups.placed.rows
    if not guarantee.level:
        return rows
    kinds = _kinds(guarantee, groups)
    values = rows["value"].to_numpy()
    return rows.with_columns(value=pl.Series(kinds.of_value[values])).filter(
        pl.Series(~kinds.is_hidden[values])
    )


def known_parts(guarantee: Guarantee, labels: Sequence[Labels], placed: Placed) -> pl.DataFrame:
    """The same of combinations in one column, whose parts are numbered as the labels are."""
    rows, parts = placed.rows, []
    is_hidden = np.zeros(rows.height, dtype=bool)
    for name in placed.parts:
        lifted, hidden = _lifted(labels[int(name.removeprefix("part_"))], guarantee.level)
        numbers = rows[name].to_numpy()
        parts.append(lifted[numbers])
        is_hidden |= hidden[numbers]
    return rows.select("group", "person", value=pl.Series(dense(combined(parts)))).filter(
        pl.Series(~is_hidden)
    )


def _of_persons(placed: Placed, kinds: "_Kinds") -> pl.DataFrame:
    """The cells of labels of a level: who has several values of one label counts once, and so does who hides several."""
    values = placed.rows["value"].to_numpy()
    about = placed.rows.select("group", "person").with_columns(
        value=pl.Series(np.where(kinds.is_hidden[values], -1, kinds.of_value[values])),
        sensitive=pl.Series(kinds.is_sensitive[values]),
        l=pl.Series(kinds.ls[values]),
    )
    cells = about.group_by("group", "value").agg(
        pl.col("person").n_unique().cast(pl.Int64).alias("count"),
        pl.col("sensitive").any(),
        pl.col("l").max(),
    )
    sizes = pl.Series(placed.sizes[cells["group"].to_numpy()])
    names = ("group", "value", "count", "size", "rows", "sensitive", "l")
    cells = cells.with_columns(size=sizes, rows=sizes).select(names)
    is_hidden = pl.col("value") < 0
    # Who has a label and hides another is counted twice, and never for more than everybody.
    added = _with_hidden(cells.filter(~is_hidden), cells.filter(is_hidden))
    return added.with_columns(pl.min_horizontal("count", "size").alias("count"))


@dataclass(frozen=True)
class _Kinds:
    """For every value of some groups: what it counts as, the l it asks for, whether it is above the level and sensitive."""

    of_value: Ids
    ls: Ids
    is_hidden: Bools
    is_sensitive: Bools


def _kinds(guarantee: Diverse, groups: Groups) -> _Kinds:
    parts = [groups.values[f"part_{part}"].to_numpy() for part in range(len(groups.labels))]
    lifted, hidden = zip(*(_lifted(own, guarantee.level) for own in groups.labels), strict=True)
    is_hidden = np.any([own[part] for own, part in zip(hidden, parts, strict=True)], axis=0)
    numbers = dense(combined([own[part] for own, part in zip(lifted, parts, strict=True)]))
    ls = np.full(numbers.size, guarantee.l, dtype=np.int64)
    is_sensitive = groups.values["sensitive"].to_numpy()
    if len(groups.labels) == 1:
        # Combinations have no l of their own, and all of them need protection.
        [own], [part] = groups.labels, parts
        ls = _asked(guarantee, own)[part]
        is_sensitive = is_sensitive | _shares_label(guarantee, own, groups.insensitive)[part]
    return _Kinds(numbers, ls, is_hidden, is_sensitive)


def _lifted(labels: Labels, level: int) -> tuple[Ids, Bools]:
    """What each published value counts as, and whether it is above the level; an attribute has the levels it has."""
    level = min(level, labels.attribute.levels.highest)
    if not level:
        return np.arange(len(labels.texts)), np.zeros(len(labels.texts), dtype=bool)
    lifted = labels.at_level(level)
    return lifted, lifted >= labels.attribute.levels.sizes[level]


def _asked(guarantee: Diverse, labels: Labels) -> Ids:
    """The largest l of the originals under each published value, or of all where there are none."""
    attribute = labels.attribute
    step = attribute.levels[min(guarantee.level, attribute.levels.highest)]
    of_original = np.array([guarantee.l_for(text) for text in step.labels])[step.label_of]
    values, codes = labels.cover.pairs()
    asked = np.zeros(len(labels.texts), dtype=np.int64)
    np.maximum.at(asked, values, of_original[codes])
    return np.where(labels.cover.sizes > 0, asked, guarantee.strongest)


def _shares_label(guarantee: Diverse, labels: Labels, insensitive: frozenset[str]) -> Bools:
    """Which published values are under a label of the level that has a value that needs protection."""
    attribute = labels.attribute
    step = attribute.levels[min(guarantee.level, attribute.levels.highest)]
    named = np.array([text not in insensitive for text in attribute.texts], dtype=bool)
    needs = np.bincount(step.label_of[named], minlength=len(step.labels)) > 0
    label = labels.cover.constant(step.label_of)
    return (label >= 0) & needs[np.maximum(label, 0)]


def _added(cells: pl.DataFrame) -> pl.DataFrame:
    """One cell for each label of a group."""
    return cells.group_by("group", "value").agg(
        pl.col("count").sum(),
        pl.col("size").first(),
        ROWS,
        pl.col("sensitive").any(),
        pl.col("l").max(),
    )


def _hidden(cells: pl.DataFrame) -> pl.DataFrame:
    """One cell for all that is hidden in a group."""
    return _added(cells.filter("is_hidden").with_columns(value=pl.lit(-1, dtype=pl.Int64)))


def _with_hidden(cells: pl.DataFrame, hidden: pl.DataFrame) -> pl.DataFrame:
    """Cells in which what is hidden is added to the commonest label of its group, if there is any."""
    if not hidden.height:
        return cells
    commonest = cells.sort("group", "count", "value", descending=[False, True, False]).unique(
        "group", keep="first", maintain_order=True
    )
    joined = hidden.drop("value").join(commonest.select("group", "value"), on="group", how="left")
    joined = joined.with_columns(pl.col("value").fill_null(-1)).select(cells.columns)
    return _added(pl.concat([cells, joined]))
