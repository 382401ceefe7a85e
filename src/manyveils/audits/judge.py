"""From promises to findings: every promise, in every view that shows what it protects, in every reading."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import polars as pl

from manyveils.audits.closeness import measure_closeness
from manyveils.audits.combinations import Parts, parts_of, product_groups
from manyveils.audits.diversity import measure_distinct, measure_entropy, measure_frequency, measure_recursive
from manyveils.audits.eliminations import measure_eliminations
from manyveils.audits.finding import Finding, Reading
from manyveils.audits.groups import Groups, groups_in
from manyveils.audits.numbers import measure_proximity, measure_spread
from manyveils.audits.posterior import measure_beliefs
from manyveils.audits.shares import measure_gain, measure_ratio, measure_share
from manyveils.audits.size import measure_sizes
from manyveils.audits.supersets import measure_supersets
from manyveils.policy import Guarantee, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    Elimination,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.reading.evidence import Evidence
from manyveils.reading.guardians import views_beyond_the_guardian
from manyveils.reading.sight import Sight, columns_for, columns_with, known_in, other_sensitive, sight

Measure = Callable[[Any, Groups], pl.DataFrame]
Worst = Literal["smallest", "largest"]


@dataclass(frozen=True)
class Gauge:
    """How a guarantee is measured, whether small or large measures are bad, and what it is compared with."""

    measure: Measure
    worst: Worst
    bound: str


GAUGES: Mapping[type[Guarantee], Gauge] = {
    DistinctDiversity: Gauge(measure_distinct, "smallest", "l"),
    FrequencyDiversity: Gauge(measure_frequency, "smallest", "l"),
    EntropyDiversity: Gauge(measure_entropy, "smallest", "l"),
    RecursiveDiversity: Gauge(measure_recursive, "largest", "c"),
    Closeness: Gauge(measure_closeness, "largest", "t"),
    SupersetCloseness: Gauge(measure_supersets, "largest", "t"),
    CappedShare: Gauge(measure_share, "largest", "alpha"),
    Linkability: Gauge(measure_share, "largest", "epsilon"),
    NumericSpread: Gauge(measure_spread, "smallest", "e"),
    Proximity: Gauge(measure_proximity, "smallest", "m"),
    Likeness: Gauge(measure_gain, "largest", "beta"),
    Disclosure: Gauge(measure_ratio, "largest", "delta"),
}
# Sizes and eliminations are measured in ways of their own.
KINDS: Mapping[str, Worst] = {
    KAnonymity.kind: "smallest",
    Elimination.kind: "smallest",
    **{guarantee.kind: gauge.worst for guarantee, gauge in GAUGES.items()},
}


def judge(evidence: Evidence, promise: Promise, *, promised: bool) -> Iterator[Finding]:
    """The findings about one promise: as promised, and as it would fare against more knowledge."""
    yield from worst_columns(judge_columns(evidence, promise, promised=promised))


def judge_columns(evidence: Evidence, promise: Promise, *, promised: bool) -> Iterator[Finding]:
    """The findings about one promise, with one about each column where `judge` has the worst column's alone.

    How many there are, and about what, is decided by the manifest: parts of a release have the same findings.
    """
    if isinstance(promise.guarantee, KAnonymity):
        yield from _judge_sizes(evidence, promise, promise.guarantee, promised=promised)
        return
    if isinstance(promise.guarantee, Elimination):
        yield from _judge_eliminations(evidence, promise, promise.guarantee, promised=promised)
        return
    others = other_sensitive(promise, evidence)
    plain: Reading = "joint" if len(promise.protects) > 1 else "marginal"
    if promise.conditional:
        yield from _judge_values(evidence, promise, others, "conditional", promised=promised)
        return
    yield from _judge_values(evidence, promise, frozenset(), plain, promised=promised)
    if others and not promise.is_rule:
        yield from _judge_values(evidence, promise, others, "conditional", promised=False)


def _judge_sizes(
    evidence: Evidence, promise: Promise, guarantee: KAnonymity, *, promised: bool
) -> Iterator[Finding]:
    stub = _stub(promise, "marginal", float(guarantee.k), promised=promised)
    columns = {view.name: columns_for(promise, view, evidence) for view in evidence.release.views}
    for view in evidence.release.views:
        here = replace(stub, view=view.name)
        if columns[view.name] and not evidence.is_whole(view):
            yield here
            continue
        for file in columns[view.name]:
            seen = sight(promise, view, file, known_in(view, promise, evidence))
            yield _finding(evidence, here, (seen,), partial(measure_sizes, guarantee, evidence, seen))
    if not any(columns.values()):
        yield replace(stub, kept=True)


def worst_columns(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, of which those about sizes are one per view.

    Columns with one key show the same groups; the worst column speaks for the view.
    """
    for (kind, *_), about in groupby(findings, key=_subject):
        columns = list(about)
        yield from [min(columns, key=_smallness)] if kind == KAnonymity.kind else columns


def _subject(finding: Finding) -> tuple[object, ...]:
    return finding.promise, finding.view, finding.promised, finding.required


def _judge_eliminations(
    evidence: Evidence, promise: Promise, guarantee: Elimination, *, promised: bool
) -> Iterator[Finding]:
    stub = _stub(promise, "marginal", float(guarantee.eliminations), promised=promised)
    shown = list(columns_with(frozenset(promise.protects), evidence))
    for view in views_beyond_the_guardian(promise, evidence):
        yield replace(stub, view=view.name, kept=False)
    for view, file in shown:
        here = replace(stub, view=view.name)
        if not evidence.is_whole(view):
            yield here
            continue
        # A bucket that is not found for certain is judged as if it were: knowing more never hides a leak.
        seen = sight(promise, view, file, known_in(view, promise, evidence))
        yield _finding(evidence, here, (seen,), partial(measure_eliminations, evidence, promise, seen))
    if not shown:
        yield replace(stub, kept=True)


def _smallness(finding: Finding) -> tuple[bool, float]:
    return finding.kept, finding.measured if finding.measured is not None else float("inf")


def _judge_values(
    evidence: Evidence, promise: Promise, others: frozenset[str], reading: Reading, *, promised: bool
) -> Iterator[Finding]:
    gauge = GAUGES[type(promise.guarantee)]
    stub = _stub(promise, reading, float(getattr(promise.guarantee, gauge.bound)), promised=promised)
    shown = list(columns_with(frozenset(promise.protects), evidence))
    broken = [view.name for view, _ in shown if not evidence.is_whole(view)]
    if broken:
        yield replace(stub, view=broken[0], kept=False)
        return
    if len(promise.protects) == 1:
        # Two views to compare can tell more than each of them, and judging them one by one is not enough.
        for view in views_beyond_the_guardian(promise, evidence):
            yield replace(stub, view=view.name, kept=False)
    sights = [
        _unless_linked(sight(promise, view, file, known_in(view, promise, evidence), others), evidence)
        for view, file in shown
    ]
    found = False
    for parts in parts_of(promise, sights):
        found = True
        here = replace(stub, view="+".join(dict.fromkeys(part.view.name for part in parts)))
        yield _finding(evidence, here, parts, partial(_measured, evidence, promise, parts, gauge.measure))
    if not found:
        # What is not published cannot be learnt from the release.
        yield replace(stub, kept=True)


def _unless_linked(seen: Sight, evidence: Evidence) -> Sight:
    """Another view that shows two columns of this one side by side may tell the bucket, so it counts as found."""
    columns = {name: file for file in seen.view.files for name in file.attributes}
    linked = any(
        len({columns[name].table for name in view.attributes if name in columns}) > 1
        for view in evidence.release.views
        if view.name != seen.view.name
    )
    return replace(seen, is_spread=False) if linked else seen


def _measured(evidence: Evidence, promise: Promise, parts: Parts, measure: Measure) -> pl.DataFrame | None:
    """The measures of all groups, or of all targets where they cannot be told apart by groups."""
    if parts[0].is_spread and len({seen.view.name for seen in parts}) == 1:
        return measure_beliefs(evidence, promise, parts, measure)
    groups = (
        product_groups(evidence, promise, parts) if len(parts) > 1 else groups_in(evidence, promise, parts[0])
    )
    return None if groups is None else measure(promise.guarantee, groups)


def _stub(promise: Promise, reading: Reading, required: float, *, promised: bool) -> Finding:
    """A finding before anything is measured, which keeps nothing."""
    number = int(required) if required.is_integer() else required
    return Finding(
        promise.guarantee.kind, promise.subject, "", reading, promised, number, measured=None, kept=False
    )


def _finding(
    evidence: Evidence, stub: Finding, parts: Parts, measure: Callable[[], pl.DataFrame | None]
) -> Finding:
    """What a measure finds in some columns; where there is no row, nothing can be learnt."""
    if not all(evidence.people(seen.file) for seen in parts):
        return replace(stub, kept=True)
    measured = measure()
    return stub if measured is None else _summed_up(stub, measured, KINDS[stub.promise])


def _summed_up(stub: Finding, measured: pl.DataFrame, worst: Worst) -> Finding:
    """The finding that the measures of all groups add up to."""
    short = measured.filter(~pl.col("kept"))
    known = measured.drop_nulls("measure").sort("measure", "rows", descending=[worst == "largest", False])
    return replace(
        stub,
        measured=_shown(known["measure"][0]) if known.height else None,
        kept=short.height == 0,
        worst_group_size=int(known["rows"][0]) if known.height else None,
        groups=measured.height,
        groups_short=short.height,
        rows_short=int(short["rows"].sum()),
    )


def _shown(measure: float) -> float:
    return int(measure) if measure.is_integer() else measure
