"""Counts of persons in groups, where somebody has several rows: who has a value, and how much of her is spread on it.

Shares count persons who have a value in one of their rows of a group. Distributions weigh a person 1, spread evenly
over her rows in the group; in the reference, over all her rows.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.audits.matched import matched, matched_in
from manyveils.audits.members import Members, members_of
from manyveils.audits.originals import weights_by_code
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Bools, Floats, Ids, combined, dense, example
from manyveils.reading.labels import Labels
from manyveils.reading.sight import Sight
from manyveils.table.order import in_order

# So far, products of two whole weights stay below 2^63.
LARGEST_WEIGHT = 2_000_000_000


@dataclass(frozen=True, repr=False)
class Listed:
    """Who has what in groups, as a list.

    `rows`: group, person, part_0, … (or value, once they are numbered), rows (of hers in the group that have it), of
    (all of hers in the group), and `believed` (how far she is believed to have it, where her label hides that).
    `sizes` are the persons of each group.
    """

    rows: pl.DataFrame
    sizes: Ids

    @property
    def parts(self) -> list[str]:
        """The parts that are not numbered yet."""
        return [name for name in self.rows.columns if name.startswith("part_")]

    @property
    def is_exact(self) -> bool:
        """Whether rows are whole."""
        return self.rows.schema["rows"].is_integer()

    @property
    def row_counts(self) -> Ids:
        """How many rows persons have in groups."""
        return self.rows["of"].to_numpy()

    def numbered(self, values: pl.DataFrame) -> "Listed":
        """The same with one number for all parts."""
        if len(self.parts) == 1:
            return Listed(self.rows.rename({"part_0": "value"}), self.sizes)
        joined = self.rows.join(values.select("value", *self.parts), on=self.parts, maintain_order="left")
        return Listed(joined.drop(self.parts), self.sizes)

    def numbered_from(self, n_parts: int) -> "Listed":
        """The same with parts that are numbered after so many others."""
        names = {name: f"part_{n_parts + index}" for index, name in enumerate(self.parts)}
        return Listed(self.rows.rename(names), self.sizes)

    def holders(self, *names: str) -> pl.DataFrame:
        """The persons who have each value, or each combination of parts: group, names, count, size, rows.

        Who is only believed to have it, because her label hides it, counts for as much as that.
        """
        if self.is_exact:
            counted = self.rows.group_by("group", *names).agg(pl.len().cast(pl.Int64).alias("count"))
        else:
            own = self.rows.group_by("group", "person", *names).agg(pl.col("believed").sum().clip(0.0, 1.0))
            counted = own.group_by("group", *names).agg(pl.col("believed").sum().alias("count"))
        sizes = pl.Series(self.sizes[counted["group"].to_numpy()])
        return counted.with_columns(size=sizes, rows=sizes)

    def weighed(self, scale: int | None, *names: str) -> pl.DataFrame:
        """How much of persons is spread on each value, where each weighs `scale`, or 1: group, names, count, size, rows."""
        share = pl.col("rows") / pl.col("of")
        if scale is not None:
            share = pl.col("rows") * (pl.lit(scale) // pl.col("of"))
        counted = self.rows.group_by("group", *names).agg(share.sum().alias("count"))
        sizes = pl.Series(self.sizes[counted["group"].to_numpy()])
        size = sizes.cast(pl.Float64) if scale is None else sizes * scale
        return counted.with_columns(size=size, rows=sizes)

    def matched(self, enough: int) -> pl.DataFrame:
        """How many different values different persons of each group have: group, n_matched."""
        return matched(self.rows.rename({(self.parts or ["value"])[0]: "value"}))


@dataclass(frozen=True, repr=False)
class Cells:
    """The values in the groups of a column: the group of each cell, its parts, and its persons.

    `of_line` is the cell of each line, person by person, and `leaders` the first line of the person in it.
    """

    groups: Ids
    parts: tuple[Ids, ...]
    of_line: Ids
    leaders: Ids

    @cached_property
    def is_first(self) -> Bools:
        """Which lines lead the lines of their person in their cell."""
        return self.leaders == np.arange(self.leaders.size)

    @cached_property
    def holders(self) -> Ids:
        """The persons in each cell."""
        return np.bincount(self.of_line[self.is_first])


@dataclass(frozen=True, repr=False)
class Lined:
    """Who has what in the groups of a column, line by line; it says what `Listed` says, and most of it without a list."""

    members: Members
    cells: Cells
    parts: list[str]

    is_exact = True

    @property
    def sizes(self) -> Ids:
        """The persons of each group."""
        return self.members.sizes

    @property
    def row_counts(self) -> Ids:
        """How many rows persons have in groups."""
        return self.members.rows

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The list: group, person, part_0, … or value, rows, of."""
        return self._listed(np.flatnonzero(self.cells.is_first))

    def _listed(self, lines: Ids) -> pl.DataFrame:
        own, cells = self.members, self.cells.of_line[lines]
        columns = {"group": own.groups[lines], "person": own.lines.persons[lines]}
        columns |= {name: part[cells] for name, part in self._named()}
        rows = np.bincount(self.cells.leaders, minlength=self.cells.leaders.size)[lines]
        return pl.DataFrame({**columns, "rows": rows, "of": own.rows[lines]})

    def _named(self) -> list[tuple[str, Ids]]:
        return list(zip(self.parts or ["value"], self.cells.parts, strict=True))

    def numbered(self, values: pl.DataFrame) -> "Lined":
        """The same with one number for all parts."""
        if len(self.parts) == 1:
            return Lined(self.members, self.cells, [])
        listed = pl.DataFrame(dict(self._named()))
        joined = listed.join(values.select("value", *self.parts), on=self.parts, maintain_order="left")
        return Lined(self.members, replace(self.cells, parts=(joined["value"].to_numpy(),)), [])

    def numbered_from(self, n_parts: int) -> "Lined":
        """The same with parts that are numbered after so many others."""
        return replace(self, parts=[f"part_{n_parts + index}" for index in range(len(self.parts))])

    def renumbered(self, numbers: Ids) -> "Lined":
        """The same with other numbers for groups, each of them once."""
        groups = numbers[self.cells.groups]
        order = in_order(groups)
        place = np.empty(order.size, dtype=np.int64)
        place[order] = np.arange(order.size)
        parts = tuple(part[order] for part in self.cells.parts)
        cells = Cells(groups[order], parts, place[self.cells.of_line], self.cells.leaders)
        return Lined(replace(self.members, groups=numbers[self.members.groups]), cells, self.parts)

    def _cells(self, counts: Ids | Floats) -> pl.DataFrame:
        # Cells stand in the order of groups; once that is known, adding up a group needs no hashing.
        groups = pl.Series(self.cells.groups).set_sorted()
        return pl.DataFrame({"group": groups, **dict(self._named()), "count": counts})

    def holders(self, *names: str) -> pl.DataFrame:
        """The persons who have each value, or each combination of parts: group, names, count, size, rows."""
        sizes = pl.Series(self.sizes[self.cells.groups])
        return self._cells(self.cells.holders).select("group", *names, "count", size=sizes, rows=sizes)

    def weighed(self, scale: int | None, *names: str) -> pl.DataFrame:
        """How much of persons is spread on each value, where each weighs `scale`, or 1: group, names, count, size, rows."""
        rows, sizes = self.members.rows, pl.Series(self.sizes[self.cells.groups])
        shares = 1 / rows if scale is None else scale // rows
        # Sums of whole numbers below 2^53 are exact.
        counts = np.bincount(self.cells.of_line, weights=shares)
        size = sizes.cast(pl.Float64) if scale is None else sizes * scale
        counted = self._cells(counts if scale is None else counts.astype(np.int64))
        return counted.select("group", *names, "count", size=size, rows=sizes)

    def matched(self, enough: int) -> pl.DataFrame:
        """How many different values different persons of each group have: group, n_matched.

        Where there are `enough`, and no group has fewer for certain, more are not told.
        """
        own, cells = self.members, self.cells
        most = np.minimum(np.bincount(cells.groups), self.sizes)
        # A group that surely has as many as the worst, and as are asked for, is not worse.
        wanted = max(enough, int(most.min()) if most.size else 0)
        counts = matched_in(cells.groups, cells.of_line[cells.is_first], own.leaders[cells.is_first], wanted)
        return pl.DataFrame({"group": np.arange(most.size), "n_matched": counts})


Placed = Listed | Lined


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
    order = members.lines.order
    parts = [
        own.numbers_of(field.values)[field.codes[order]] for own, field in zip(labels, fields, strict=True)
    ]
    of_line = dense(combined([members.groups, *parts]))
    shown = example(of_line)
    cells = Cells(
        members.groups[shown],
        tuple(part[shown] for part in parts),
        of_line,
        members.lines.leaders(of_line),
    )
    return labels, Lined(members, cells, [f"part_{index}" for index in range(len(parts))])


def spread_over_originals(evidence: Evidence, labels: Labels, placed: Placed) -> Listed:
    """Who may have which original, where labels hide it: who sees one believes in its originals as often as they occur.

    How often that is goes by persons, as everywhere: whoever has many rows does not count more.
    """
    numbers, codes = labels.cover.pairs()
    often = weights_by_code(evidence, labels)
    share = often[codes] / np.bincount(numbers, weights=often[codes])[numbers]
    shares = pl.DataFrame({"part_0": numbers, "code": codes, "believed": share})
    rows = placed.rows.join(shares, on="part_0").with_columns(rows=pl.col("rows") * pl.col("believed"))
    rows = rows.select("group", "person", "rows", "of", "believed", part_0="code")
    return Listed(rows, placed.sizes)


def scale_of(evidence: Evidence, placed: Placed) -> int | None:
    """The smallest number that every person's rows divide, in groups and in all; None where weights need fractions.

    Claim: with it all weights are whole, and sums and products of two of them are exact.
    Why: it is a common multiple of what is divided by, and bounded so that products stay within 64 bits.
    Tested by: tests/claims/test_persons_judged.py
    """
    assert evidence.table.persons is not None
    if not placed.is_exact:
        return None
    counts = np.concatenate([np.bincount(evidence.table.persons), placed.row_counts])
    scale = math.lcm(*filter(None, np.flatnonzero(np.bincount(counts)).tolist()))
    return scale if scale * evidence.table.n_persons <= LARGEST_WEIGHT else None
