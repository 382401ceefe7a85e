"""The groups of a promise: how often each group has each value, beside how often the original has it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.audits.measures import EXACT, REFUSING, ROUNDED, Arithmetic
from manyveils.audits.originals import original_holders, original_weights, rows_of_persons
from manyveils.audits.persons import Placed, placed_in, scale_of, spread_over_originals
from manyveils.policy import Promise
from manyveils.policy.guarantees import CappedShare, FrequencyDiversity, Likeness, Linkability
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids, combined, distinct, people_in, with_people
from manyveils.reading.labels import Labels, unrecoded
from manyveils.reading.sight import Sight
from manyveils.table import Table

# What caps the share of a value that is shown.
CAPS = (FrequencyDiversity, CappedShare, Linkability, Likeness)


@dataclass(frozen=True, repr=False)
class Together:
    """What comes of persons with several rows where columns or buckets are taken together.

    `spread` has cells as `Groups` does, whose counts add up, and `matched` so many different values of different persons
    in each group: group, n_matched; None where every value counts. `spreads` has the spread of their numbers: group, spread.
    """

    spread: pl.DataFrame
    matched: pl.DataFrame | None
    spreads: pl.DataFrame | None = None


@dataclass(frozen=True, repr=False)
class Groups:
    """Counts of values in groups.

    `cells`: group, value, count, size (what the counts of the group add up to), rows (rows of the group),
    sensitive (whether the promise speaks of the value). Only values that occur have a cell. Where an adversary
    weighs several buckets the counts are shares. Where persons have several rows, counts are persons who have the value,
    sizes are persons, and counts need not add up; `placed` then says who has what, or `together` what comes of it where
    columns or buckets are taken together, and `distribution` has the counts that do add up.
    `values`: value, part_0, … (what it is made of), count (people of the original), sensitive; in the order of the
    domain. `sight` is None where several columns were combined. With `of_sets`, every group is about one value of a
    multi-valued attribute, and its cells about having it or not.
    """

    cells: pl.DataFrame
    values: pl.DataFrame
    labels: tuple[Labels, ...]
    evidence: Evidence
    sight: Sight | None = None
    of_sets: bool = False
    # Values of a single attribute that need no protection.
    insensitive: frozenset[str] = frozenset()
    placed: Placed | None = None
    together: Together | None = None
    # What each person weighs in a distribution, where it is not 1.
    scale: int | None = None
    is_distribution: bool = False

    @property
    def n_rows(self) -> int:
        """People of the original, or what they weigh."""
        if not self.counts_persons:
            return self.evidence.n_people
        return self.evidence.table.n_persons * (self.scale or 1)

    @property
    def counts_persons(self) -> bool:
        """Whether counts are of persons, of whom somebody has several rows."""
        return self.evidence.table.persons is not None

    @property
    def n_counted(self) -> float:
        """How often people of the original count for the values a group is about: recoded values may overlap."""
        return self.n_rows if self.of_sets else self.reference.to_numpy().sum().item()

    @cached_property
    def reference(self) -> pl.Series:
        """How many people of the original have each value, or what they weigh."""
        if not self.counts_persons:
            return self.values["count"]
        if self.is_distribution:
            return original_weights(self.evidence, self.labels, self.values, self.scale)
        return original_holders(self.evidence, self.labels, self.values)

    @cached_property
    def distribution(self) -> "Groups":
        """The same groups with counts that add up: a person weighs the same as any other, spread over her rows."""
        return self._weighed(None if self.placed is None else scale_of(self.evidence, self.placed))

    @property
    def in_fractions(self) -> "Groups":
        """The same where every person weighs 1."""
        return self._weighed(None)

    def _weighed(self, scale: int | None) -> "Groups":
        if self.together is not None:
            return replace(self, cells=self.together.spread, is_distribution=True)
        if self.placed is None:
            return self
        cells = self.placed.weighed(scale, "value")
        cells = cells.with_columns(sensitive=self.values["sensitive"].gather(cells["value"]))
        return replace(self, cells=cells, scale=scale, is_distribution=True)

    @property
    def n_expected(self) -> int:
        """How many sensitive values the original has of those a group is about."""
        return 1 if self.of_sets else self.values.filter("sensitive", pl.col("count") > 0).height

    @property
    def protects(self) -> tuple[str, ...]:
        """The attributes whose values are counted."""
        return tuple(own.attribute.name for own in self.labels)

    def values_of(self, table: Table) -> Ids:
        """The value of each row of a table that has what is protected."""
        rows = _parts(table, self.labels)
        if rows.width == 1:
            return rows["part_0"].to_numpy()
        joined = rows.join(self.values, on=rows.columns, how="left", maintain_order="left")
        return joined["value"].to_numpy()

    @property
    def arithmetic(self) -> Arithmetic:
        """Exact where the counts are counts, rounded where they are shares."""
        if self.cells.schema["count"].is_integer():
            return EXACT
        # What is believed of a label is as often as in the original, and equal to that within rounding.
        is_known = self.placed is None or self.placed.is_exact
        return REFUSING if self.is_distribution and self.sight is not None and is_known else ROUNDED


def groups_in(evidence: Evidence, promise: Promise, sight: Sight) -> Groups | None:
    """Count the protected values, or their combinations, of each group of one published column.

    None where nobody can tell whose its lines are, and somebody has several.
    """
    if evidence.table.persons is not None:
        return _groups_of_persons(evidence, promise, sight)
    labels, cells = cells_of(evidence, sight)
    if _caps_what_is_shown(evidence, promise, labels):
        return _without_hidden(with_reference(evidence, promise, cells, labels, sight))
    if _is_spread(evidence, promise, labels, sight):
        labels, cells = [unrecoded(labels[0].attribute)], _spread(labels[0], cells)
    return with_reference(evidence, promise, cells, labels, sight)


def _groups_of_persons(evidence: Evidence, promise: Promise, sight: Sight) -> Groups | None:
    """The same for persons with several rows."""
    told = placed_in(evidence, sight)
    if told is None or rows_of_persons(evidence, told[0]) is None:
        return None
    labels, placed = told
    is_capped = _caps_what_is_shown(evidence, promise, labels)
    if not is_capped and _is_spread(evidence, promise, labels, sight):
        labels, placed = [unrecoded(labels[0].attribute)], spread_over_originals(evidence, labels[0], placed)
    parts = [f"part_{part}" for part in range(len(labels))]
    groups = with_reference(evidence, promise, placed.holders(*parts), labels, sight)
    groups = replace(groups, placed=placed.numbered(groups.values))
    return _without_hidden(groups) if is_capped else groups


def _caps_what_is_shown(evidence: Evidence, promise: Promise, labels: Sequence[Labels]) -> bool:
    return _is_bit(evidence, promise) and labels[0].hides and isinstance(promise.guarantee, CAPS)


def _is_spread(evidence: Evidence, promise: Promise, labels: Sequence[Labels], sight: Sight) -> bool:
    """Whether what labels hide is believed to be one of its originals: of what another attribute's view hides."""
    guards = (sight.view.enforces or {}).get("protect")
    is_beside = promise.is_rule or (guards is not None and guards not in promise.protects)
    return (is_beside or _is_bit(evidence, promise)) and len(labels) == 1 and labels[0].hides


def _is_bit(evidence: Evidence, promise: Promise) -> bool:
    return len(promise.protects) == 1 and evidence.table.atom(promise.protects[0]) is not None


def _without_hidden(groups: Groups) -> Groups:
    """Groups in which a yes or no that is hidden caps no share: nothing is learnt of what is not published."""
    is_hidden = pl.Series(groups.labels[0].cover.sizes > 1)
    values = groups.values.with_columns(
        sensitive=pl.col("sensitive") & ~is_hidden.gather(groups.values["part_0"])
    )
    cells = groups.cells.with_columns(sensitive=values["sensitive"].gather(groups.cells["value"]))
    return replace(groups, values=values, cells=cells)


def _spread(labels: Labels, cells: pl.DataFrame) -> pl.DataFrame:
    """Cells of originals instead of labels: who sees a label believes in its originals as often as they occur.

    What is protected may be recoded in a view that guards something else.
    """
    numbers, codes = labels.cover.pairs()
    share = labels.attribute.counts[codes] / labels.counts[numbers]
    shares = pl.DataFrame({"part_0": numbers, "code": codes, "share": share})
    spread = cells.join(shares, on="part_0").with_columns(count=pl.col("count") * pl.col("share"))
    summed = spread.group_by("group", "code").agg(pl.col("count").sum(), pl.col("size", "rows").first())
    return summed.rename({"code": "part_0"}).select("group", "part_0", "count", "size", "rows")


def cells_of(evidence: Evidence, sight: Sight) -> tuple[list[Labels], pl.DataFrame]:
    """Count the values of a column: group, part_0, part_1, … (a number per attribute), count, size, rows."""
    if any(evidence.table.atom(name) is not None for name in sight.shows):
        # There may be hundreds of these, which would fill the memory and are seldom asked for again.
        return _counted(evidence, sight)
    question = ("cells", sight.file.table, sight.key, sight.shows)
    return evidence.remembered(question, lambda: _counted(evidence, sight))


def _counted(evidence: Evidence, sight: Sight) -> tuple[list[Labels], pl.DataFrame]:
    groups = evidence.group_numbers(sight.file, sight.key)
    labels = [evidence.labels(sight.view, sight.file, name) for name in sight.shows]
    fields = [evidence.coded(sight.file, name) for name in sight.shows]
    parts = [own.numbers_of(field.values)[field.codes] for own, field in zip(labels, fields, strict=True)]
    first, counts = distinct(combined([groups, *parts]), evidence.weights(sight.file))
    numbers = {f"part_{index}": part[first] for index, part in enumerate(parts)}
    sizes = evidence.tally(sight.file, groups)[groups[first]]
    cells = {"group": groups[first], **numbers, "count": counts, "size": sizes, "rows": sizes}
    frame = pl.DataFrame({name: column.astype(np.int64) for name, column in cells.items()})
    # Cells stand in the order of groups; once that is known, adding up a group needs no hashing.
    return labels, frame.with_columns(pl.col("group").set_sorted())


def cells_in(evidence: Evidence, sights: Sequence[Sight]) -> tuple[list[Labels], list[pl.DataFrame]]:
    """Count the values of several columns; their parts are numbered through."""
    labels: list[Labels] = []
    cells = []
    for sight in sights:
        own, counted = cells_of(evidence, sight)
        cells.append(
            counted.rename({f"part_{part}": f"part_{len(labels) + part}" for part in range(len(own))})
        )
        labels += own
    return labels, cells


def multiplied(groups: pl.DataFrame, columns: Sequence[pl.DataFrame], key: str) -> pl.DataFrame:
    """The cells of combinations: counts and sizes are the products of what every column has under `key`_0, `key`_1, ….

    `fewest` is the smallest of the sizes.
    """
    # Products of the counts of two columns may need more than 64 bits.
    is_exact = all(column.schema["count"].is_integer() for column in columns)
    dtype = (pl.Int64 if len(columns) == 1 else pl.Int128) if is_exact else pl.Float64
    one = pl.lit(1, dtype=dtype)
    cells = groups.with_columns(count=one, size=one, fewest=pl.lit(None, dtype=pl.Int64))
    for index, column in enumerate(columns):
        joined = cells.join(column, on=f"{key}_{index}", suffix="_of_column")
        cells = joined.with_columns(
            count=pl.col("count") * pl.col("count_of_column").cast(dtype),
            size=pl.col("size") * pl.col("size_of_column").cast(dtype),
            fewest=pl.min_horizontal("fewest", "size_of_column"),
        ).drop("count_of_column", "size_of_column")
    return cells


def with_reference(
    evidence: Evidence,
    promise: Promise,
    cells: pl.DataFrame,
    labels: Sequence[Labels],
    sight: Sight | None = None,
) -> Groups:
    """Number the values or combinations of the cells and count them in the original."""
    parts = [f"part_{part}" for part in range(len(labels))]
    if len(labels) == 1:
        values = _single_values(labels[0])
        cells = cells.rename({"part_0": "value"})
    else:
        values = _combinations(evidence, cells, labels)
        cells = cells.join(values.select("value", *parts), on=parts).drop(parts)
    values = values.with_columns(sensitive=_sensitive(promise, values, labels))
    cells = cells.with_columns(sensitive=values["sensitive"].gather(cells["value"]))
    return Groups(cells, values, tuple(labels), evidence, sight, insensitive=promise.insensitive)


def _parts(table: Table, labels: Sequence[Labels]) -> pl.DataFrame:
    """The value of each row of a table, attribute by attribute."""
    codes = (own.of_code[table[own.attribute.name].codes] for own in labels)
    return pl.DataFrame({f"part_{part}": values for part, values in enumerate(codes)})


def _single_values(labels: Labels) -> pl.DataFrame:
    """The values of one attribute; recoded ones may overlap, so one person of the original can count for several."""
    numbers = np.arange(len(labels.texts), dtype=np.int64)
    return pl.DataFrame({"value": numbers, "part_0": numbers, "count": labels.counts})


def _combinations(evidence: Evidence, cells: pl.DataFrame, labels: Sequence[Labels]) -> pl.DataFrame:
    """The combinations that the original or the cells have; attributes are counted together, over all people."""
    whole = evidence.table.whole(tuple(own.attribute.name for own in labels))
    rows = _parts(whole, labels)
    parts, rows = rows.columns, with_people(rows, whole.weights)
    original = rows.group_by(parts).agg(people_in(rows).alias("count"))
    published = cells.select(parts).unique().with_columns(count=pl.lit(0, dtype=pl.Int64))
    together = pl.concat([original, published]).group_by(parts).agg(pl.col("count").sum())
    return together.sort(parts).with_row_index("value").with_columns(pl.col("value").cast(pl.Int64))


def _sensitive(promise: Promise, values: pl.DataFrame, labels: Sequence[Labels]) -> pl.Series:
    """Which values the promise speaks of; a combination counts as soon as one of its parts does."""
    listed = promise.guarantee.listed
    speaks = np.zeros(values.height, dtype=bool)
    for part, own in enumerate(labels):
        # A label is spoken of if one original under it is, and so is one that stands for nobody.
        originals = own.attribute.texts
        named = [text not in promise.insensitive and (not listed or text in listed) for text in originals]
        spoken = (own.cover.sums(np.array(named, dtype=bool)) > 0) | (own.cover.sizes == 0)
        speaks |= spoken[values[f"part_{part}"].to_numpy()]
    return pl.Series(speaks)
