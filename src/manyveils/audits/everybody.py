"""What someone believes who knows what identifies everybody, where that is spread over the columns of buckets.

The formula p(t, s) weighs buckets for each person by herself. Whoever knows all persons can rule out more: the rows of a
bucket must be somebody's, and nobody stands in two. On small views the worlds are counted; on larger ones, and where they
are too many, every bucket that matches counts as found, which no knowledge of others can exceed.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from manyveils.audits.finding import BOUND, Finding
from manyveils.audits.groups import cells_in, groups_in, with_reference
from manyveils.audits.judge import is_about_values, stub_for, worst_of
from manyveils.audits.measures import MEASURES
from manyveils.audits.posterior import cells_of_units
from manyveils.policy import Promise
from manyveils.policy.promises import effective
from manyveils.reading.everybody import chances
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.pairs import search_of
from manyveils.reading.sight import Sight, known_in, sight_of
from manyveils.release import View
from manyveils.table import resolve

# Of more people worlds are not counted.
MOST_PEOPLE = 200


def everybody_findings(evidence: Evidence) -> Iterator[Finding]:
    """How promises about single attributes fare against someone who knows the quasi-identifiers of all.

    It binds where the policy says `everybody`. Persons with several rows are not looked at.

    Claim: where worlds are counted, the measure is that of the share of worlds in which a person has a value; where they
    are not, shares, distances and the number of values are no worse than is said.
    Why: a belief is a mixture of what the buckets that match say, and no mixture exceeds its worst part.
    Tested by: tests/claims/test_everybody.py
    """
    if evidence.table.persons is not None:
        return
    for promise in resolve(evidence.policy, replace(evidence.table, n_rows=evidence.n_people, weights=None)):
        if len(promise.protects) != 1 or not is_about_values(promise):
            continue
        for view in evidence.showing(frozenset(promise.protects)):
            for file in view.files if evidence.is_whole(view) else ():
                sight = sight_of(promise, view, file, known_in(view, promise, evidence))
                if sight.shows and sight.is_spread:
                    yield _finding(evidence, promise, sight)


def _finding(evidence: Evidence, promise: Promise, sight: Sight) -> Finding:
    home = evidence.table.home(promise.protects[0])
    binds = effective(evidence.policy, home).everybody
    stub = replace(stub_for(promise, "everybody", promised=binds), view=sight.view.name)
    measured = _exact(evidence, promise, sight)
    if measured is None:
        groups = groups_in(evidence, promise, replace(sight, is_spread=False))
        if groups is None:
            return stub
        measured = MEASURES[type(promise.guarantee)](promise.guarantee, groups)
        stub = replace(stub, terms=", ".join(filter(None, (stub.terms, BOUND))), status="proved")
    told = measured.with_columns(value=pl.lit(0, dtype=pl.Int64), times=pl.lit(1), all_rows=pl.col("rows"))
    return replace(stub, **worst_of(told, promise)[0]) if told.height else replace(stub, kept=True)


def _exact(evidence: Evidence, promise: Promise, sight: Sight) -> pl.DataFrame | None:
    """The measures of what worlds say of each target; None where they are too many to be counted."""
    view = sight.view
    if evidence.n_people > MOST_PEOPLE or not evidence.joins(tuple(sight.known)):
        return None
    slices = search_of(evidence, view, sight.known).slices
    question = ("everybody", view.name, tuple(sorted(sight.known)), ())
    shares = evidence.remembered(question, lambda: chances(slices, _sizes(evidence, view)))
    if shares is None:
        return None
    column = slices.holding(sight.file.table)
    labels, [cells] = cells_in(evidence, [sight])
    units = cells_of_units(column, cells)
    targets, buckets = np.nonzero(shares)
    weights = pl.DataFrame(
        {
            "group": targets,
            "unit": column.matching(targets, buckets),
            "weight": shares[targets, buckets],
        }
    )
    believed = weights.join(units, on="unit").with_columns(
        count=pl.col("weight") * pl.col("count") / pl.col("size")
    )
    believed = believed.group_by("group", "^part_.*$").agg(pl.col("count").sum()).sort("group")
    people = pl.Series(slices.rows[believed["group"].to_numpy()])
    believed = believed.with_columns(size=pl.lit(1.0), rows=people)
    groups = with_reference(evidence, promise, believed, labels)
    return MEASURES[type(promise.guarantee)](promise.guarantee, groups)


def _sizes(evidence: Evidence, view: View) -> Ids:
    """The rows of every bucket."""
    buckets, n_buckets = evidence.buckets_of(view, view.files[0])
    return np.bincount(buckets, minlength=n_buckets)
