"""Membership measures agree with listing every combination of values that fits some bucket."""

from itertools import product
from statistics import fmean

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv

# Each example is a whole publication.
few = settings(max_examples=40)
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.sampled_from("ab"), st.sampled_from("pqrs")),
    min_size=6,
    max_size=30,
)
NAMES = ("age", "town", "sex", "illness")
APART = [["age", "sex"], ["town", "illness"]]
OVERLAPPING = [["age", "sex"], ["town", "sex", "illness"]]


def release_of(rows, columns):
    """Slice rows into random buckets of about six, without a promise; some attributes may stand in two columns."""
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    overlap = {"overlap": ["sex"]} if columns is OVERLAPPING else {}
    policy = mv.Policy(
        attributes={name: {"role": "quasi"} for name in NAMES} | {"illness": {"role": "sensitive"}},
        guarantee={"k": 1},
        publish={"method": "slice", "columns": columns, "partition": "random", "bucket": 6, **overlap},
    )
    return mv.publish(frame, policy, seed=1), frame, policy


def buckets_by_tuple(release):
    """For every combination of published values, how many buckets have all its parts."""
    columns = [(file.attributes, release.frames[file.table]) for file in release.views[0].files]
    counts = {}
    for bucket in set(columns[0][1]["bucket"]):
        parts = []
        for names, frame in columns:
            inside = frame.filter(pl.col("bucket") == bucket)
            parts.append({tuple(zip(names, row, strict=True)) for row in inside.select(names).iter_rows()})
        tuples = [[pair for part in combination for pair in part] for combination in product(*parts)]
        whole = {
            tuple(dict(pairs)[name] for name in NAMES)
            for pairs in tuples
            if len(dict(pairs)) == len({*pairs})
        }
        for values in whole:
            counts[values] = counts.get(values, 0) + 1
    return counts


@few
@given(ROWS, st.sampled_from([APART, OVERLAPPING]))
def test_fake_tuples_are_those_that_can_be_listed(rows, columns):
    """Fake tuples are combinations that fit a bucket and are no original; an attribute has one value in each."""
    release, frame, policy = release_of(rows, columns)
    utility, matches = mv.measure(release, frame, policy), buckets_by_tuple(release)
    originals = {*rows}
    fakes = matches.keys() - originals
    assert originals <= matches.keys()
    assert utility["fake_tuples"] == len(fakes)
    assert utility["matching_buckets_original"] == pytest.approx(fmean(matches[row] for row in originals))
    assert utility["matching_buckets_fake"] == pytest.approx(fmean([matches[row] for row in fakes] or [0]))
