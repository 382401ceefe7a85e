"""What being left out tells: the values of those whom a release suppresses, judged as one group."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from manyveils.audits.finding import Finding
from manyveils.audits.groups import Groups, with_reference
from manyveils.audits.judge import is_about_values, stub_for, worst_of
from manyveils.audits.measures import MEASURES
from manyveils.audits.persons import Listed
from manyveils.policy import Promise
from manyveils.policy.promises import effective
from manyveils.reading.evidence import Evidence
from manyveils.reading.labels import Labels, unrecoded
from manyveils.reading.persons import standing_in
from manyveils.release import View
from manyveils.table import resolve


def absence_findings(evidence: Evidence) -> Iterator[Finding]:
    """How promises about single attributes fare in the group of all who are left out; none where nobody is.

    Someone who knows how often the original has each value, and that a person was in it, knows what those have in common
    whom she does not find. It binds where the policy says `absent`; then it is not kept where it cannot be told: of
    attributes with several values in a cell, and of those whose labels hide what the published rows have.

    Claim: measures are those of a group that has the original's values beyond the published ones, as often as it does.
    Why: published values are exact, so what the original has more often is what was left out; where persons have several
    rows, it is the rows that stand nowhere.
    Tested by: tests/claims/test_absence.py
    """
    if not evidence.release.suppressed:
        return
    promises = resolve(evidence.policy, replace(evidence.table, n_rows=evidence.n_people, weights=None))
    for promise in promises:
        if promise.is_rule or len(promise.protects) != 1 or not is_about_values(promise):
            continue
        binds = effective(evidence.policy, evidence.table.home(promise.protects[0])).absent
        stub, groups = stub_for(promise, "absent", promised=binds), _left_out(evidence, promise)
        if groups is None:
            yield from [stub] if binds else []
            continue
        measured = MEASURES[type(promise.guarantee)](promise.guarantee, groups)
        measured = measured.with_columns(
            value=pl.lit(0, dtype=pl.Int64), times=pl.lit(1), all_rows=pl.col("rows")
        )
        yield replace(stub, **worst_of(measured, promise)[0])


def _left_out(evidence: Evidence, promise: Promise) -> Groups | None:
    """The values of all who are left out as one group; None where nobody is, or nobody can tell."""
    [name] = promise.protects
    if name in evidence.release.manifest.secret or evidence.table.atom(name) is not None:
        return None
    shown = [view for view in evidence.showing(frozenset({name})) if evidence.is_whole(view)]
    labels = unrecoded(evidence.original(name))
    if not shown:
        return None
    if evidence.table.persons is not None:
        return _persons_left_out(evidence, promise, shown[0], labels)
    file = next(own for own in shown[0].files if name in own.attributes)
    cover = evidence.cover(shown[0], file, name)
    if cover.is_coarse or cover.overlaps:
        return None
    published = np.zeros(cover.n_originals, dtype=np.int64)
    is_told = cover.firsts >= 0
    np.add.at(published, cover.firsts[is_told], evidence.counts(file, name)[is_told])
    left = np.maximum(labels.attribute.counts - published, 0)
    size = int(left.sum())
    if not size:
        return None
    codes = np.flatnonzero(left)
    cells = pl.DataFrame({"part_0": codes, "count": left[codes]}).select(
        pl.lit(0, dtype=pl.Int64).alias("group").set_sorted(), "part_0", "count", size=size, rows=size
    )
    return with_reference(evidence, promise, cells, [labels])


def _persons_left_out(evidence: Evidence, promise: Promise, view: View, labels: Labels) -> Groups | None:
    """The same where persons have several rows: those of whom no row stands in the view."""
    persons, standing = evidence.table.persons, standing_in(evidence, view)
    assert persons is not None
    if standing is None or standing.stands.all():
        return None
    rows = np.flatnonzero(~standing.stands)
    listed = pl.DataFrame(
        {"person": persons[rows], "part_0": evidence.table[promise.protects[0]].codes[rows]}
    )
    listed = (
        listed.with_columns(of=pl.len().over("person")).group_by("person", "part_0", "of").agg(rows=pl.len())
    )
    listed = listed.select(
        "person",
        group=pl.lit(0, dtype=pl.Int64),
        part_0=pl.col("part_0").cast(pl.Int64),
        rows=pl.col("rows").cast(pl.Int64),
        of=pl.col("of").cast(pl.Int64),
    ).sort("person", "part_0")
    placed = Listed(listed, np.array([listed["person"].n_unique()]))
    groups = with_reference(evidence, promise, placed.holders("part_0"), [labels])
    return replace(groups, placed=placed.numbered(groups.values))
