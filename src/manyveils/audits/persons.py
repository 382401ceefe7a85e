"""Counts of persons in groups, where somebody has several rows: who has a value, and how much of her is spread on it.

Shares count persons who have a value in one of their rows of a group. Distributions weigh a person 1, spread evenly
over her rows in the group; in the reference, over all her rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.reading.evidence import Evidence, Key
from manyveils.reading.keys import Floats, Ids, combined, dense, distinct
from manyveils.reading.labels import Labels
from manyveils.reading.persons import persons_in
from manyveils.reading.sight import Sight
from manyveils.release import View
from manyveils.release.views import ColumnFile

# So far, products of two whole weights stay below 2^63.
LARGEST_WEIGHT = 2_000_000_000


@dataclass(frozen=True, repr=False)
class Members:
    """The persons in the groups of one column.

    `of_line` numbers the pairs of group and person, line by line; each pair has its `groups`, `persons` and `rows`.
    """

    of_line: Ids
    groups: Ids
    persons: Ids
    rows: Ids

    @cached_property
    def sizes(self) -> Ids:
        """The persons of each group."""
        return np.bincount(self.groups)


def members_of(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Members | None:
    """The persons in the groups of a column; None where nobody can tell whose its lines are."""
    return evidence.remembered(("members", file.table, key, ()), lambda: _members(evidence, view, file, key))


def _members(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Members | None:
    persons = persons_in(evidence, view, file)
    if persons is None:
        return None
    groups = evidence.group_numbers(file, key)
    n_persons = evidence.table.n_persons
    of_line = dense(groups * n_persons + persons)
    rows = np.bincount(of_line)
    shown = np.empty(rows.size, dtype=np.int64)
    shown[of_line] = np.arange(of_line.size)
    return Members(of_line, groups[shown], persons[shown], rows)


@dataclass(frozen=True, repr=False)
class Placed:
    """Who has what in the groups of a column.

    `rows`: group, person, part_0, … (or value, once they are numbered), rows (of hers in the group that have it), of
    (all of hers in the group). `sizes` are the persons of each group.
    """

    rows: pl.DataFrame
    sizes: Ids

    @property
    def parts(self) -> list[str]:
        """The parts that are not numbered yet."""
        return [name for name in self.rows.columns if name.startswith("part_")]

    def numbered(self, values: pl.DataFrame) -> "Placed":
        """The same with one number for all parts."""
        parts = self.parts
        if len(parts) == 1:
            return Placed(self.rows.rename({"part_0": "value"}), self.sizes)
        joined = self.rows.join(values.select("value", *parts), on=parts, maintain_order="left")
        return Placed(joined.drop(parts), self.sizes)

    def holders(self, *names: str) -> pl.DataFrame:
        """The persons who have each value, or each combination of parts: group, names, count, size, rows.

        Who is only believed to have it, because her label hides it, counts for as much as that.
        """
        if self.rows.schema["rows"].is_integer():
            counted = self.rows.group_by("group", *names).agg(pl.len().cast(pl.Int64).alias("count"))
        else:
            own = self.rows.group_by("group", "person", *names).agg(pl.col("believed").sum().clip(0.0, 1.0))
            counted = own.group_by("group", *names).agg(pl.col("believed").sum().alias("count"))
        sizes = pl.Series(self.sizes[counted["group"].to_numpy()])
        return counted.with_columns(size=sizes, rows=sizes)

    def weighed(self, scale: int | None, *names: str) -> pl.DataFrame:
        """How much of persons is spread on each value, where each weighs `scale`, or 1: group, names, count, size, rows."""
        is_exact = scale is not None
        share = (
            pl.col("rows") * (pl.lit(scale) // pl.col("of")) if is_exact else pl.col("rows") / pl.col("of")
        )
        counted = self.rows.group_by("group", *names).agg(share.sum().alias("count"))
        sizes = pl.Series(self.sizes[counted["group"].to_numpy()])
        return counted.with_columns(size=sizes * scale if is_exact else sizes.cast(pl.Float64), rows=sizes)

    def numbered_from(self, n_parts: int) -> "Placed":
        """The same with parts that are numbered after so many others."""
        names = {name: f"part_{n_parts + index}" for index, name in enumerate(self.parts)}
        return Placed(self.rows.rename(names), self.sizes)


def placed_in(evidence: Evidence, sight: Sight) -> tuple[list[Labels], Placed] | None:
    """Who has which of the protected values in the groups of a column; None where nobody can tell."""
    if any(evidence.table.atom(name) is not None for name in sight.shows):
        # There may be hundreds of these, which would fill the memory and are seldom asked for again.
        return _placed(evidence, sight)
    question = ("placed", sight.file.table, sight.key, sight.shows)
    return evidence.remembered(question, lambda: _placed(evidence, sight))


def _placed(evidence: Evidence, sight: Sight) -> tuple[list[Labels], Placed] | None:
    members = members_of(evidence, sight.view, sight.file, sight.key)
    if members is None:
        return None
    labels = [evidence.labels(sight.view, sight.file, name) for name in sight.shows]
    fields = [evidence.coded(sight.file, name) for name in sight.shows]
    parts = [own.numbers_of(field.values)[field.codes] for own, field in zip(labels, fields, strict=True)]
    first, rows = distinct(combined([members.of_line, *parts]), None)
    pairs = members.of_line[first]
    columns = {
        "group": members.groups[pairs],
        "person": members.persons[pairs],
        **{f"part_{index}": part[first] for index, part in enumerate(parts)},
        "rows": rows,
        "of": members.rows[pairs],
    }
    return labels, Placed(pl.DataFrame(columns), members.sizes)


def spread_over_originals(labels: Labels, placed: Placed) -> Placed:
    """Who may have which original, where labels hide it: who sees one believes in its originals as often as they occur."""
    numbers, codes = labels.cover.pairs()
    share = labels.attribute.counts[codes] / labels.counts[numbers]
    shares = pl.DataFrame({"part_0": numbers, "code": codes, "believed": share})
    rows = placed.rows.join(shares, on="part_0").with_columns(rows=pl.col("rows") * pl.col("believed"))
    rows = rows.select("group", "person", "rows", "of", "believed", part_0="code")
    return Placed(rows, placed.sizes)


def rows_of_persons(evidence: Evidence, labels: Sequence[Labels]) -> tuple[Ids, list[Ids]] | None:
    """The person of each row of the original, and the codes of its attributes.

    What is secret is known as it is published, and its rows are the published ones.
    """
    names = [own.attribute.name for own in labels]
    persons = evidence.table.persons
    assert persons is not None
    if {*names}.isdisjoint(evidence.release.manifest.secret):
        return persons, [evidence.table[name].codes.astype(np.int64) for name in names]
    for view in evidence.release.views:
        for file in view.files:
            if {*names} <= {*file.attributes}:
                lines = persons_in(evidence, view, file)
                codes = [own.attribute.codes.astype(np.int64) for own in labels]
                is_same = lines is not None and all(len(own) == len(lines) for own in codes)
                return (lines, codes) if lines is not None and is_same else None
    return None


def scale_of(evidence: Evidence, placed: Placed) -> int | None:
    """The smallest number that every person's rows divide, in groups and in all; None where weights need fractions.

    Claim: with it all weights are whole, and sums and products of two of them are exact.
    Why: it is a common multiple of what is divided by, and bounded so that products stay within 64 bits.
    Tested by: tests/claims/test_persons_judged.py
    """
    assert evidence.table.persons is not None
    if not placed.rows.schema["rows"].is_integer():
        return None
    counts = np.concatenate([np.bincount(evidence.table.persons), placed.rows["of"].to_numpy()])
    scale = math.lcm(*filter(None, np.flatnonzero(np.bincount(counts)).tolist()))
    return scale if scale * evidence.table.n_persons <= LARGEST_WEIGHT else None


def original_holders(evidence: Evidence, labels: Sequence[Labels], values: pl.DataFrame) -> pl.Series:
    """How many persons of the original have each value, in one of their rows at least."""
    return _by_value(evidence, labels, values, None)


def original_weights(
    evidence: Evidence, labels: Sequence[Labels], values: pl.DataFrame, scale: int | None
) -> pl.Series:
    """How much of the persons of the original is spread on each value, where each weighs `scale`, or 1."""
    assert evidence.table.persons is not None
    n_rows = np.bincount(evidence.table.persons)
    return _by_value(
        evidence, labels, values, 1 / n_rows if scale is None else scale // np.maximum(n_rows, 1)
    )


def _by_value(
    evidence: Evidence, labels: Sequence[Labels], values: pl.DataFrame, weights: Ids | Floats | None
) -> pl.Series:
    """Persons by value, or what is spread of them if their rows have weights."""
    rows = rows_of_persons(evidence, labels)
    assert rows is not None
    persons, codes = rows
    if len(labels) > 1:
        parts = {
            f"part_{index}": own.of_code[code]
            for index, (own, code) in enumerate(zip(labels, codes, strict=True))
        }
        joined = pl.DataFrame({"person": persons, **parts}).join(values, on=[*parts], maintain_order="left")
        return _summed(joined["value"].to_numpy(), joined["person"].to_numpy(), weights, values.height)
    [own], [code] = labels, codes
    if own.is_exact:
        return _summed(own.of_code[code], persons, weights, values.height)
    numbers, covered = own.cover.pairs()
    under = pl.DataFrame({"value": numbers, "code": covered})
    joined = pl.DataFrame({"person": persons, "code": code}).join(under, on="code")
    return _summed(joined["value"].to_numpy(), joined["person"].to_numpy(), weights, values.height)


def _summed(values: Ids, persons: Ids, weights: Ids | Floats | None, n_values: int) -> pl.Series:
    if weights is None:
        keys = np.unique(values * (int(persons.max(initial=0)) + 1) + persons)
        return pl.Series(np.bincount(keys // (int(persons.max(initial=0)) + 1), minlength=n_values))
    summed = np.bincount(values, weights=weights[persons], minlength=n_values)
    return pl.Series(summed if weights.dtype.kind == "f" else np.rint(summed).astype(np.int64))


def matched(edges: pl.DataFrame) -> pl.DataFrame:
    """How many persons of each group hold different values, a different one each: group, n_matched.

    Claim: it is the size of a maximum matching between the persons and the values of a group.
    Why: no matching is larger than the number of values, or of persons. Those with one value each match as many values
    as they have; values that one person has each match as many persons as have them. Where neither reaches the bound,
    a matching is computed, for all such groups at once.
    Tested by: tests/claims/test_persons_judged.py
    """
    edges = edges.select("group", "person", "value").unique()
    edges = edges.with_columns(
        n_values=pl.len().over("group", "person"), n_persons=pl.len().over("group", "value")
    )
    counted = edges.group_by("group").agg(
        values=pl.col("value").n_unique(),
        persons=pl.col("person").n_unique(),
        single_values=pl.col("value").filter(pl.col("n_values") == 1).n_unique(),
        single_persons=pl.col("person").filter(pl.col("n_persons") == 1).n_unique(),
    )
    most, least = pl.min_horizontal("values", "persons"), pl.max_horizontal("single_values", "single_persons")
    open_groups = counted.filter(least < most).select("group")
    sizes = counted.select("group", n_matched=least.cast(pl.Int64))
    if not open_groups.height:
        return sizes
    found = _maximum(edges.join(open_groups, on="group"))
    return sizes.join(found, on="group", how="left").select(
        "group", pl.coalesce("exact", "n_matched").alias("n_matched")
    )


def _maximum(edges: pl.DataFrame) -> pl.DataFrame:
    """The size of a maximum matching in each group: group, exact."""
    from scipy import sparse  # Takes longer to load than most views to judge.
    from scipy.sparse.csgraph import maximum_bipartite_matching

    group, person, value = (edges[name].to_numpy() for name in ("group", "person", "value"))
    persons, values = dense(combined([group, person])), dense(combined([group, value]))
    shape = int(persons.max()) + 1, int(values.max()) + 1
    graph = sparse.csr_array((np.ones(group.size, dtype=np.int8), (persons, values)), shape=shape)
    partner = maximum_bipartite_matching(graph, perm_type="column")
    group_of = np.empty(shape[0], dtype=np.int64)
    group_of[persons] = group
    counts = np.bincount(group_of[partner >= 0], minlength=int(group.max()) + 1)
    numbers = np.unique(group)
    return pl.DataFrame({"group": numbers, "exact": counts[numbers]})
