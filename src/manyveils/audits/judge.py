"""From promises to findings: every promise, in every view that shows what it protects, in every reading."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from manyveils.audits import closeness, diversity, numbers, shares, supersets  # noqa: F401 (they register measures)
from manyveils.audits.believed_values import measure_beliefs_apart
from manyveils.audits.combinations import Way, product_groups, ways_of
from manyveils.audits.eliminations import measure_eliminations, measure_eliminations_apart
from manyveils.audits.finding import Finding, Reading
from manyveils.audits.groups import groups_in
from manyveils.audits.known_items import measure_known_items
from manyveils.audits.measures import MEASURES
from manyveils.audits.posterior import measure_beliefs
from manyveils.audits.set_valued import holders_in, is_one_of_many, measured_apart
from manyveils.audits.shown import is_said_constant, sights_about
from manyveils.audits.sightings import measure_sightings
from manyveils.audits.sizes import measure_population, measure_sizes
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    ABOUT_ROWS,
    GUARANTEES,
    WORST,
    Elimination,
    KnownItems,
    LeastSize,
    PopulationSize,
)
from manyveils.reading.evidence import Evidence, lines_of
from manyveils.reading.sight import (
    Sight,
    columns_for,
    has_rows,
    known_in,
    other_sensitive,
    sight_of,
    views_beyond_the_guardian,
)
from manyveils.release import View
from manyveils.release.views import ColumnFile

ABOUT_SIZES = {kind.kind for kind in GUARANTEES if issubclass(kind, LeastSize | PopulationSize)}


def judge(evidence: Evidence, promise: Promise, *, promised: bool) -> Iterator[Finding]:
    """The findings about one promise: as promised, and as it would fare against more knowledge."""
    yield from worst_columns(judge_columns(evidence, promise, promised=promised))


def worst_columns(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, of which those about sizes are one per view.

    Columns with one key show the same groups; the worst column speaks for the view.
    """
    for (kind, *_), about in groupby(findings, key=_subject):
        columns = list(about)
        yield from [min(columns, key=_smallness)] if kind in ABOUT_SIZES else columns


def _subject(finding: Finding) -> tuple[object, ...]:
    return finding.promise, finding.attribute, finding.view, finding.promised, finding.required


def _smallness(finding: Finding) -> tuple[bool, float]:
    if finding.measured is None:
        return finding.kept, float("inf")
    return finding.kept, finding.measured if WORST[finding.promise] == "smallest" else -finding.measured


def judge_promised(evidence: Evidence, promise: Promise) -> Iterator[Finding]:
    """The findings about one promise as it is made, and against no other knowledge."""
    plain: Reading = "joint" if len(promise.protects) > 1 else "marginal"
    others = known_besides(evidence, promise)
    is_conditional = promise.conditional and is_about_values(promise)
    stub = stub_for(promise, "conditional" if is_conditional else plain, promised=True)
    yield from _judged(evidence, promise, others, stub)


def known_besides(evidence: Evidence, promise: Promise) -> frozenset[str]:
    """What a promise takes someone to know besides what is given."""
    is_conditional = promise.conditional and is_about_values(promise)
    return other_sensitive(promise, evidence) if is_conditional else frozenset()


def judge_columns(evidence: Evidence, promise: Promise, *, promised: bool) -> Iterator[Finding]:
    """The findings about one promise, with one about each column where `judge` has the worst column's alone.

    How many there are, and about what, is decided by the manifest: parts of a release have the same findings.
    """
    others = other_sensitive(promise, evidence) if is_about_values(promise) else frozenset()
    is_conditional = promise.conditional and is_about_values(promise)
    if not is_conditional:
        plain: Reading = "joint" if len(promise.protects) > 1 else "marginal"
        yield from _judged(evidence, promise, frozenset(), stub_for(promise, plain, promised=promised))
    if is_conditional or (others and not promise.is_rule):
        stub = stub_for(promise, "conditional", promised=promised and is_conditional)
        yield from _judged(evidence, promise, others, stub)
    if evidence.table.persons is not None and len(promise.protects) == 1 and is_about_values(promise):
        yield from _seen_several_times(evidence, promise, promised=promised)


def _seen_several_times(evidence: Evidence, promise: Promise, *, promised: bool) -> Iterator[Finding]:
    """The finding against someone who sees a person in several groups and takes the attribute not to change.

    Where the table continues a chain, groups of earlier releases are among them.
    She knows what identifies the rows, and no other sensitive values of theirs. It binds where the policy says that the
    attribute does not change. Where nobody is seen several times, only then is it said
    that it holds.
    """
    [name] = promise.protects
    is_constant = is_said_constant(evidence, name)
    shown = evidence.showing(frozenset(promise.protects))
    views = "+".join(view.name for view in shown)
    stub = stub_for(promise, "sightings", promised=promised and is_constant)
    stub = replace(stub, view=views, status="empirical")
    if not all(evidence.is_whole(view) for view in shown):
        yield stub
        return
    sights = sights_about(evidence, promise)
    measured = measure_sightings(evidence, promise, sights) if sights else pl.DataFrame()
    if measured is None:
        yield stub
    elif measured.height:
        yield replace(stub, **worst_of(measured, promise)[0])
    elif is_constant:
        yield replace(stub, kept=True)


def is_about_values(promise: Promise) -> bool:
    """Whether a promise is about the values of a group and nothing else."""
    return not isinstance(promise.guarantee, ABOUT_ROWS)


def stub_for(promise: Promise, reading: Reading, *, promised: bool) -> Finding:
    """A finding before anything is measured, which keeps nothing."""
    guarantee = promise.guarantee
    required = _whole_if_possible(guarantee.required)
    stub = Finding(
        guarantee.kind, promise.subject, "", reading, promised, required, measured=None, kept=False
    )
    return replace(stub, terms=guarantee.terms)


def _judged(evidence: Evidence, promise: Promise, others: frozenset[str], stub: Finding) -> Iterator[Finding]:
    """The findings against someone who also knows `others` once she has found a person's bucket."""
    shown = evidence.showing(frozenset(promise.protects)) if promise.protects else evidence.release.views
    columns = [(view, file) for view in shown for file in _columns(promise, view, evidence)]
    damaged = [view.name for view, _ in columns if not evidence.is_whole(view)]
    if damaged and is_about_values(promise):
        yield replace(stub, view=damaged[0])
        return
    if len(promise.protects) == 1 and not promise.guarantee.is_void:
        # Two views to compare can tell more than each of them, and judging them one by one is not enough.
        yield from (replace(stub, view=view.name) for view in views_beyond_the_guardian(promise, evidence))
    sights = [
        sight_of(promise, view, file, known_in(view, promise, evidence), others) for view, file in columns
    ]
    ways = list(_ways(evidence, promise, sights))
    for way in ways:
        views = "+".join(dict.fromkeys(sight.view.name for sight in way))
        yield _finding(evidence, promise, way, replace(stub, view=views))
    if not ways:
        # What is not published cannot be learnt from the release.
        yield replace(stub, kept=True)


def _columns(promise: Promise, view: View, evidence: Evidence) -> tuple[ColumnFile, ...]:
    """The columns of a view in which a promise is judged; there is none where no row could be somebody's."""
    if not isinstance(promise.guarantee, KnownItems):
        return columns_for(promise, view, evidence)
    items = frozenset(evidence.table.derived[promise.guarantee.attribute])
    showing = (file for file in view.files if not items.isdisjoint(file.attributes))
    return tuple(showing) if has_rows(view, evidence) else ()


def _ways(evidence: Evidence, promise: Promise, sights: Sequence[Sight]) -> Iterator[Way]:
    """The columns that are judged together: each by itself, or those that show a combination."""
    if is_about_values(promise):
        return ways_of(promise, [_unless_linked(sight, evidence) for sight in sights])
    return ((sight,) for sight in sights)


def _unless_linked(sight: Sight, evidence: Evidence) -> Sight:
    """Another view that shows two columns of this one side by side may tell the bucket, so it counts as found."""
    columns = {name: file.table for file in sight.view.files for name in file.attributes}
    linked = any(
        len({columns[name] for name in view.attributes if name in columns}) > 1
        for view in evidence.release.views
        if len(view.attributes) > 1 and view.name != sight.view.name
    )
    return replace(sight, is_spread=False) if linked else sight


def _finding(evidence: Evidence, promise: Promise, way: Way, stub: Finding) -> Finding:
    """What is measured in some columns; where there is no row, nothing can be learnt."""
    if not all(evidence.is_whole(sight.view) for sight in way):
        return stub
    if not all(evidence.people(sight.file) for sight in way):
        return replace(stub, kept=True)
    # What one release tells of persons with one row each, rows tell too, and in groups they are quicker to count.
    worst = _worst_in(evidence if way[0].is_spread else evidence.by_rows, promise, way)
    # Weights of buckets and products of columns are formulas, and not what all worlds say.
    is_formula = len(way) > 1 or (way[0].is_spread and is_about_values(promise))
    told = replace(stub, status="empirical") if is_formula else stub
    return told if worst is None else replace(told, **worst)


def _worst_in(evidence: Evidence, promise: Promise, way: Way) -> dict[str, Any] | None:
    """What a finding says of some columns; None where their groups cannot be told.

    Readings that know more may see the same groups, which are then measured once.
    """
    if len(way) == 1 and is_one_of_many(evidence, promise, way[0]):
        return _worst_of_value(evidence, promise, way[0])
    if len(way) > 1 or way[0].is_spread:
        return _worst_measured(evidence, promise, way)
    [sight] = way
    asked = (repr(promise.guarantee), repr(sorted(promise.insensitive)), str(promise.is_rule))
    question = ("worst", sight.file.table, sight.key, (*sight.shows, *asked))
    return evidence.remembered(question, lambda: _worst_measured(evidence, promise, way))


def _worst_measured(evidence: Evidence, promise: Promise, way: Way) -> dict[str, Any] | None:
    measured = measured_groups(evidence, promise, way)
    if measured is None:
        return None
    value, all_rows = pl.lit(0, dtype=pl.Int64), _all_rows(evidence, way, measured)
    told = measured.with_columns(value=value, times=pl.lit(1), all_rows=all_rows)
    # Candidates of whom none is meant are nobody's group.
    told = told if lines_of(evidence) is None else told.filter(pl.col("all_rows") > 0)
    return worst_of(told, promise)[0]


def _all_rows(evidence: Evidence, way: Way, measured: pl.DataFrame) -> pl.Series:
    """The rows of each group; where persons have several, or groups overlap, its size is another number."""
    lines = lines_of(evidence)
    if lines is not None:
        numbers = evidence.group_numbers(way[0].file, way[0].key)
        own = pl.Series(np.bincount(numbers[lines], minlength=int(numbers.max(initial=-1)) + 1))
        return own.gather(measured["group"]) if "group" in measured.columns else own
    if evidence.table.persons is None or len(way) > 1 or way[0].is_spread:
        return measured["rows"]
    sizes = pl.Series(evidence.tally(way[0].file, evidence.group_numbers(way[0].file, way[0].key)))
    return sizes.gather(measured["group"]) if "group" in measured.columns else sizes


def _worst_of_value(evidence: Evidence, promise: Promise, sight: Sight) -> dict[str, Any] | None:
    """What a finding says of one value of a multi-valued attribute; all of them are measured at once."""
    home, guarantee = evidence.table.home(promise.protects[0]), promise.guarantee

    def worst() -> dict[int, dict[str, Any]] | None:
        if isinstance(guarantee, Elimination):
            return worst_of(measure_eliminations_apart(evidence, promise, guarantee, sight), promise)
        apart = measure_beliefs_apart if sight.is_spread else measured_apart
        measured = apart(evidence, promise, sight, MEASURES[type(guarantee)])
        return None if measured is None else worst_of(measured, promise)

    asked = (home, repr(guarantee), str(sight.is_spread), *sorted(sight.known))
    told = evidence.remembered(("worst", sight.file.table, sight.key, asked), worst)
    place = holders_in(evidence, sight, home).names.index(promise.protects[0])
    return None if told is None else told[place]


def worst_of(measured: pl.DataFrame, promise: Promise) -> dict[int, dict[str, Any]]:
    """What a finding says of the groups, for each value they are about."""
    is_largest_worst = WORST[promise.guarantee.kind] == "largest"
    short = ~pl.col("kept")
    summed = measured.group_by("value").agg(
        kept=pl.col("kept").all(),
        groups=pl.col("times").sum(),
        groups_short=pl.col("times").filter(short).sum(),
        rows_short=pl.col("all_rows").filter(short).sum(),
    )
    # Of measures that are not numbers, the largest is one.
    extreme = pl.col("measure").nan_max() if is_largest_worst else pl.col("measure").min()
    worst = (
        measured.drop_nulls("measure")
        .group_by("value")
        .agg(measured=extreme, worst_group_size=pl.col("rows").filter(pl.col("measure") == extreme).min())
    )
    rows = summed.join(worst, on="value", how="left").iter_rows(named=True)
    return {row.pop("value"): _whole(row) for row in rows}


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    measured = row["measured"]
    return row | {"measured": None if measured is None else _whole_if_possible(measured)}


def measured_groups(evidence: Evidence, promise: Promise, way: Way) -> pl.DataFrame | None:
    """The measures of all groups, or of all targets where they cannot be told apart by groups."""
    if isinstance(promise.guarantee, LeastSize):
        return measure_sizes(evidence, promise.guarantee, way[0])
    if isinstance(promise.guarantee, PopulationSize):
        return measure_population(evidence, promise.guarantee, way[0])
    if isinstance(promise.guarantee, KnownItems):
        return measure_known_items(evidence, promise.guarantee, way[0])
    if isinstance(promise.guarantee, Elimination):
        # A bucket that is not found for certain is judged as if it were: knowing more never hides a leak.
        return measure_eliminations(evidence, promise, promise.guarantee, way[0])
    measure = MEASURES[type(promise.guarantee)]
    if way[0].is_spread and len({sight.view.name for sight in way}) == 1:
        return measure_beliefs(evidence, promise, way, measure)
    groups = product_groups(evidence, promise, way) if len(way) > 1 else groups_in(evidence, promise, way[0])
    return None if groups is None else measure(promise.guarantee, groups)


def _whole_if_possible(number: float) -> float:
    return int(number) if number.is_integer() else number
