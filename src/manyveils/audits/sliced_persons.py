"""What is believed of a target whose bucket nobody can tell, where persons have several rows.

A bucket weighs as much as its published rows say, since whose they are is not published. Inside it, shares are those of
the persons among the rows that may be the target's. Of what is no share (different values, the spread of numbers), the
bucket that leaves most counts: whoever cannot tell the bucket is left with no less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from manyveils.audits.beliefs import Beliefs, Best, Protected, beliefs_of, best_of
from manyveils.audits.combinations import groups_together
from manyveils.audits.groups import Groups, Together, with_reference
from manyveils.audits.kinds import known_parts
from manyveils.audits.matched import matched
from manyveils.audits.members import Members, members_of
from manyveils.audits.numbers import scaled, spread_of_persons
from manyveils.audits.originals import rows_of_persons
from manyveils.audits.persons import Lined, Listed, Placed, placed_in
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    NumericSpread,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids, combined, dense, example, ranges
from manyveils.reading.labels import Labels
from manyveils.reading.pairs import Search, search_of
from manyveils.reading.sight import Sight
from manyveils.reading.slices import NO_UNIT, Slice
from manyveils.table.attributes import tally

DISTRIBUTIONS = (EntropyDiversity, RecursiveDiversity, Closeness, SupersetCloseness, Disclosure)
MOST_EXPANDED = 2_000_000


@dataclass(frozen=True, repr=False)
class Weighed:
    """Groups of equal beliefs, and the targets that share them: group, rows (of the original)."""

    groups: Groups
    targets: pl.DataFrame


def _is_scored_alone(promise: Promise) -> bool:
    """Whether it makes no difference which values a group has, only how many."""
    guarantee = promise.guarantee
    return isinstance(guarantee, DistinctDiversity) and not guarantee.terms and not promise.insensitive


@dataclass(frozen=True, repr=False)
class _Column:
    """A protected column: who has what in each of its units, and a score of each that is no share.

    Pseudo-values stand beside its values: one that everybody has, so that beliefs can be told from what they add up to,
    and one for each score.
    """

    slice: Slice
    labels: Sequence[Labels]
    placed: Placed
    scores: Ids

    @property
    def parts(self) -> list[str]:
        """The parts of its values."""
        return self.placed.parts

    @property
    def everybody(self) -> int:
        """The pseudo-value that everybody has, as the first part."""
        return len(self.labels[int(self.parts[0].removeprefix("part_"))].texts)

    def cells(self, promise: Promise) -> pl.DataFrame:
        """The values and pseudo-values of its units: unit, part_…, count, size."""
        is_spread = isinstance(promise.guarantee, DISTRIBUTIONS)
        parts = self.parts
        own = self.placed.weighed(None, *parts) if is_spread else self.placed.holders(*parts)
        if _is_scored_alone(promise):
            # Of what is counted by scores, no value need be looked at: any one stands for all.
            own = own.unique("group", keep="first").with_columns(
                pl.lit(0, dtype=pl.Int64).alias(name) for name in parts
            )
        one = pl.lit(1, dtype=own.schema["count"])
        own = own.select("group", *parts, "count", "size")
        first, *others = parts
        pseudo = pl.DataFrame({"group": np.arange(self.placed.sizes.size)}).with_columns(
            *(pl.lit(0, dtype=pl.Int64).alias(name) for name in others),
            count=one,
            size=one.cast(own.schema["size"]),
        )
        everybody = pseudo.with_columns(pl.lit(self.everybody, dtype=pl.Int64).alias(first))
        scores = pseudo.with_columns(pl.Series(first, self.everybody + 1 + self.scores))
        listed = [table.select(own.columns) for table in (own, everybody, scores)]
        return pl.concat(listed).rename({"group": "unit"}).sort("unit")


def weighed_persons(
    evidence: Evidence, promise: Promise, sights: Sequence[Sight]
) -> Iterator[Weighed] | None:
    """The beliefs about the protected values, as `weighed`: groups, and the targets that share them (group, rows).

    None where nobody can tell whose the rows of the columns are.
    """
    search = search_of(evidence, sights[0].view, sights[0].known)
    labels, columns = list[Labels](), list[_Column]()
    told = [placed_in(evidence, sight) for sight in sights]
    for sight, own in zip(sights, told, strict=True):
        if own is None:
            return None
        part = search.slices.holding(sight.file.table)
        placed = _in_units(part, own[1].numbered_from(len(labels)))
        labels += own[0]
        columns.append(_Column(part, labels, placed, np.zeros(placed.sizes.size, dtype=np.int64)))
    if rows_of_persons(evidence, labels) is None:
        return None
    return _weighed(evidence, promise, sights, search, labels, columns)


def _in_units(column: Slice, placed: Placed) -> Placed:
    """Who has what among the rows that match what is sought, unit by unit."""
    units, groups = (column.units.groups[name].to_numpy() for name in ("unit", "group"))
    if isinstance(placed, Lined) and _are_all(units, placed.sizes.size) and _are_all(groups, units.size):
        # Where labels do not overlap, every unit is a group.
        numbers = np.empty(units.size, dtype=np.int64)
        numbers[groups] = units
        return placed.renumbered(numbers)
    rows = column.units.groups.join(placed.rows, on="group", maintain_order="left").drop("group")
    rows = rows.rename({"unit": "group"}).group_by("group", "person", *placed.parts).agg(pl.col("rows").sum())
    rows = rows.with_columns(of=pl.col("rows").sum().over("group", "person")).sort("group")
    sizes = rows.select("group", "person").unique()["group"].to_numpy()
    return Listed(rows, np.bincount(sizes, minlength=len(column.units.keys)))


def _are_all(numbers: Ids, n: int) -> bool:
    """Whether they are the numbers below `n`, each of them once."""
    is_there = np.zeros(n, dtype=bool)
    is_there[numbers[numbers < n]] = True
    return numbers.size == n and bool(is_there.all())


def _weighed(
    evidence: Evidence,
    promise: Promise,
    sights: Sequence[Sight],
    search: Search,
    labels: Sequence[Labels],
    columns: Sequence[_Column],
) -> Iterator[Weighed]:
    spreads = pl.Series([0.0])
    if isinstance(promise.guarantee, DistinctDiversity):
        columns = [_scored(promise, labels, column) for column in columns]
    if isinstance(promise.guarantee, NumericSpread):
        [column], numbers = columns, pl.Series(scaled(labels[0].texts).numbers, nan_to_null=True)
        own = spread_of_persons(column.placed.numbered(pl.DataFrame()), numbers).sort("group")["spread"]
        spreads = own.unique().sort()
        columns = [replace(column, scores=spreads.search_sorted(own).to_numpy().astype(np.int64))]
    if _is_scored_alone(promise) and len(columns) == 1:
        [column], table = columns, sights[0].file.table
        for best in best_of(search, table, column.slice, column.scores):
            yield _by_score(evidence, promise, labels, column, best, search.slices.rows)
        return
    cells = [column.cells(promise) for column in columns]
    protected = Protected(sights[0].file.table, [column.slice for column in columns], cells)
    for beliefs in beliefs_of(search, protected):
        people = pl.Series(search.slices.rows[beliefs.sizes["target"].to_numpy()])
        rows = beliefs.sizes.with_columns(rows=people)
        if beliefs.certain.height:
            yield _certain(evidence, promise, labels, columns, beliefs, rows)
        if beliefs.shares.height:
            yield _uncertain(evidence, promise, labels, columns, beliefs, rows, spreads)


def _scored(promise: Promise, labels: Sequence[Labels], column: _Column) -> _Column:
    """The column with the number of different values of different persons in each unit."""
    guarantee = promise.guarantee
    if guarantee.level or len(column.parts) > 1:
        known = matched(known_parts(guarantee, labels, column.placed))
    else:
        known = column.placed.matched(guarantee.variety)
    scores = np.ones(column.placed.sizes.size, dtype=np.int64)
    scores[known["group"].to_numpy()] = known["n_matched"].to_numpy()
    return replace(column, scores=scores)


def _by_score(
    evidence: Evidence,
    promise: Promise,
    labels: Sequence[Labels],
    column: _Column,
    best: Best,
    people: Ids,
) -> Weighed:
    """What only the score of the best bucket decides; targets with one score and as many rows are one group."""
    sizes = np.where(best.unit == NO_UNIT, best.size, column.placed.sizes[best.unit])
    group = dense(combined([best.score, sizes]))
    shown = example(group)
    size = pl.Series(sizes[shown])
    cells = pl.DataFrame({"group": np.arange(shown.size)}).with_columns(
        **{name: pl.lit(0, dtype=pl.Int64) for name in column.parts}, count=size, size=size, rows=size
    )
    told = with_reference(evidence, promise, cells, labels)
    scores = pl.DataFrame({"group": np.arange(shown.size), "n_matched": best.score[shown]})
    targets = pl.DataFrame({"group": group, "rows": people[best.target]})
    return Weighed(replace(told, together=Together(told.cells, scores)), targets)


def _certain(
    evidence: Evidence,
    promise: Promise,
    labels: Sequence[Labels],
    columns: Sequence[_Column],
    beliefs: Beliefs,
    rows: pl.DataFrame,
) -> Weighed:
    """Counts of persons where one bucket matches; targets that match the same rows are one group."""
    units = [f"unit_{index}" for index in range(len(columns))]
    groups = beliefs.certain.select(units).unique().with_row_index("group").cast({"group": pl.Int64})
    targets = beliefs.certain.join(groups, on=units).join(rows, on="target").select("group", "rows")
    if len(columns) > 1:
        matches = groups.rename({unit: f"match_{index}" for index, unit in enumerate(units)})
        matches = matches.with_columns(rows=pl.lit(0, dtype=pl.Int64))
        return Weighed(
            groups_together(evidence, promise, labels, [own.placed for own in columns], matches), targets
        )
    placed = columns[0].placed
    of_groups = placed.rows.rename({"group": "unit_0"}).join(groups, on="unit_0").drop("unit_0")
    own = Listed(of_groups, placed.sizes[groups["unit_0"].to_numpy()])
    told = with_reference(evidence, promise, own.holders(*own.parts), labels)
    return Weighed(replace(told, placed=own.numbered(told.values)), targets)


def _uncertain(
    evidence: Evidence,
    promise: Promise,
    labels: Sequence[Labels],
    columns: Sequence[_Column],
    beliefs: Beliefs,
    rows: pl.DataFrame,
    spreads: pl.Series,
) -> Weighed:
    """Shares where several buckets match; every target is a group."""
    firsts = [(pl.col(own.parts[0]), own.everybody) for own in columns]
    shares = beliefs.shares.rename({"target": "group"})
    everybody = shares.filter(pl.all_horizontal(part == most for part, most in firsts))
    believed = shares.filter(pl.all_horizontal(part < most for part, most in firsts))
    believed = believed.join(everybody.select("group", all="share"), on="group")
    cells = believed.join(rows.select("target", rows="size"), left_on="group", right_on="target")
    count = (pl.col("share") / pl.col("all")).clip(0.0, 1.0)
    cells = cells.select("group", "^part_.*$", "rows", count=count, size=pl.lit(1.0))
    scores = shares.filter(pl.all_horizontal(part > most for part, most in firsts))
    product_of = pl.lit(1, dtype=pl.Int64)
    for part, most in firsts:
        product_of = product_of * (part - most - 1)
    best = scores.group_by("group").agg(product_of.max().alias("score"))
    told = with_reference(evidence, promise, cells, labels)
    together = Together(
        told.cells,
        best.select("group", n_matched="score"),
        best.select("group", spread=pl.Series(spreads).gather(best["score"].clip(0, len(spreads) - 1))),
    )
    targets = rows.join(shares, left_on="target", right_on="group", how="semi").select("rows", group="target")
    return Weighed(replace(told, together=together), targets)


def measure_target_persons(least: int, evidence: Evidence, sight: Sight) -> pl.DataFrame | None:
    """The persons among the rows of one column that may be each target's: rows (of the target), size.

    Where one of the matching buckets has `least` of them, it is the most of one bucket that is told.
    """
    members = members_of(evidence, sight.view, sight.file, sight.key)
    if members is None:
        return None
    search = search_of(evidence, sight.view, sight.known)
    column = search.slices.holding(sight.file.table)
    units = _Peopled(column, members)
    best = _most_in_one(evidence, search, sight, column, units.sizes).copy()
    short = np.flatnonzero((best > 0) & (best < least))
    for pairs_found in search.pairs_of(short):
        found = column.matching(pairs_found.target, pairs_found.bucket)
        valid = found != NO_UNIT
        _count_together(best, pairs_found.target[valid], found[valid], *units.listed)
    targets = np.flatnonzero(best)
    return pl.DataFrame({"rows": search.slices.rows[targets], "size": best[targets]})


@dataclass(frozen=True, repr=False)
class _Peopled:
    """The units of a column with their persons."""

    column: Slice
    members: Members

    @cached_property
    def sizes(self) -> Ids:
        """How many persons each unit has; only where labels overlap, some must be listed for that."""
        units, groups = (self.column.units.groups[name].to_numpy() for name in ("unit", "group"))
        n_units = len(self.column.units.keys)
        if _are_all(units, n_units):
            return np.bincount(units, weights=self.members.sizes[groups], minlength=n_units).astype(np.int64)
        return self.listed[1]

    @cached_property
    def listed(self) -> tuple[Ids, Ids]:
        """The persons of all units, unit after unit, and how many each has."""
        pairs = pl.DataFrame(dict(zip(("person", "group"), self.members.pairs, strict=True)))
        own = self.column.units.groups.join(pairs, on="group").select("unit", "person").unique()
        own = own.sort("unit", "person")
        return own["person"].to_numpy(), tally(own["unit"].to_numpy(), None, len(self.column.units.keys))


def _most_in_one(evidence: Evidence, search: Search, sight: Sight, column: Slice, sizes: Ids) -> Ids:
    """The most persons of one matching bucket, for each target; columns in which nothing is known have the same."""
    like = tuple(str(hash(own.tobytes())) for own in (column.units.keys, sizes))
    which = sight.file.table if sight.file.table in search.slices.tables else sight.view.name
    question = ("most", which, tuple(sorted(sight.known)), like)

    def most() -> Ids:
        best = np.zeros(len(search.slices.rows), dtype=np.int64)
        for own in best_of(search, sight.file.table, column, sizes):
            best[own.target] = own.score
        return best

    return evidence.remembered(question, most)


def _count_together(best: Ids, targets: Ids, units: Ids, persons: Ids, sizes: Ids) -> None:
    """Set for some targets how many different persons are in all their units; those of one target follow each other."""
    starts = np.cumsum(sizes) - sizes
    lengths = sizes[units]
    cuts = np.flatnonzero(np.diff(targets, prepend=-1))
    reached = np.cumsum(lengths)[cuts] if cuts.size else cuts
    bounds = np.append(cuts[np.flatnonzero(np.diff(reached // MOST_EXPANDED, prepend=-1))], targets.size)
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        some = slice(start, stop)
        owners = np.repeat(targets[some], lengths[some])
        own = persons[ranges(starts[units[some]], lengths[some])]
        n_persons = int(persons.max(initial=0)) + 1
        keys = np.unique(owners * n_persons + own)
        found = np.bincount(keys // n_persons, minlength=best.size)
        np.maximum(best, found, out=best)
