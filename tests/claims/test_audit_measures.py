"""The audit's verdicts and measures are those of the definitions."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
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
from manyveils.release import Draft
from manyveils.release.draft import recode_to_level
from tests.kit import sealed, verdict

TREE = {"tree": {"G1": ["a", "b"], "G2": ["c", "d"]}}
WORDS = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": "right"}},
        "s": {"role": "sensitive", "kind": "ordinal", "hierarchy": TREE},
    }
)
NUMBERS = Policy(
    attributes={"q": {"role": "quasi", "kind": "categorical"}, "s": {"role": "sensitive", "kind": "numeric"}}
)

small = st.integers(1, 4)
halves = st.sampled_from([Fraction(n, 12) for n in range(13)])
factors = st.sampled_from(
    [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)]
)
grounds = st.sampled_from(["equal", "ordered", "hierarchical"])
about_words = st.one_of(
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(EntropyDiversity, small),
    st.builds(RecursiveDiversity, factors, small),
    st.builds(Closeness, halves, grounds),
    st.builds(SupersetCloseness, st.integers(1, 8), halves, grounds),
    st.builds(CappedShare, halves, st.sampled_from([(), ("a",), ("b", "c")])),
    st.builds(Linkability, halves),
    st.builds(Likeness, factors),
    st.builds(Disclosure, factors),
)
about_numbers = st.one_of(
    st.builds(NumericSpread, factors),
    st.builds(
        Proximity,
        st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(1), Fraction(2)]),
        small,
    ),
    st.builds(Closeness, halves, st.sampled_from(["equal", "ordered"])),
)
cells = st.sampled_from(["a", "b", "c", "d", None])
places = st.sampled_from(["11", "12", "21", None])
decimals = st.sampled_from([0.1, 0.2, 0.3, 1.0, 1.2, 3.0, None])


def text(value):
    return "" if value is None else str(value)


def levels_of(column):
    return [
        {value: level.labels[level.label_of[code]] for code, value in enumerate(column.texts)}
        for level in column.levels.each
    ]


def expected(guarantee, groups, table, insensitive, supersets=None):
    """What the oracle says of every group, and the worst of it."""
    column = table["s"]
    original = [column.texts[code] for code in column.codes]
    verdicts = {
        key: verdict(
            guarantee,
            values,
            original,
            insensitive=insensitive,
            domain=column.texts,
            levels=levels_of(column),
            supersets=(supersets or {}).get(key, ()),
        )
        for key, values in groups.items()
    }
    measures = [found.measure for found in verdicts.values() if found.measure is not None]
    worst = min if guarantee.worst == "smallest" else max
    short = [key for key, found in verdicts.items() if not found.kept]
    return worst(measures, default=None), short


def assert_equal(finding, guarantee, groups, table, insensitive=frozenset(), supersets=None):
    measure, short = expected(guarantee, groups, table, insensitive, supersets)
    assert (finding.kept, finding.groups, finding.groups_short) == (not short, len(groups), len(short))
    assert finding.rows_short == sum(len(groups[key]) for key in short)
    assert finding.measured == (
        measure if measure is None or math.isinf(measure) else pytest.approx(measure, abs=1e-12)
    )


def grouped(keys, values):
    groups = defaultdict(list)
    for key, value in zip(keys, values, strict=True):
        groups[key].append(text(value))
    return dict(groups)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(places, cells), min_size=1, max_size=12),
    guarantee=about_words,
    insensitive=st.frozensets(st.sampled_from(["a", "b", ""]), max_size=2),
)
def test_classes_of_a_table_are_measured_as_defined(rows, guarantee, insensitive):
    """In a one-column view the groups are the equivalence classes, missing cells included."""
    frame = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row")
    release, table = sealed(frame, WORDS, columns=[("q", "s")])
    promise = Promise(guarantee, ("q",), ("s",), insensitive)
    [finding] = judge(Evidence(release, table, WORDS), promise, promised=True)
    groups = grouped(*zip(*rows, strict=True))
    assert_equal(
        finding, guarantee, groups, table, insensitive, ancestors(rows, table, list(groups), level=0)
    )


def ancestors(rows, table, keys, level):
    """The original rows under every coarser label of each key: the natural supersets of (n,t)-closeness."""
    steps = levels_of(table["q"])
    return {
        key: [
            [text(s) for q, s in rows if steps[height][text(q)] == steps[height][text(key)]]
            for height in range(level, len(steps))
        ]
        for key in keys
    }


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(places, cells), min_size=1, max_size=12),
    level=st.integers(0, 2),
    guarantee=st.builds(SupersetCloseness, st.integers(1, 8), halves, grounds),
)
def test_supersets_of_generalized_classes_start_at_their_own_level(rows, level, guarantee):
    """A class published under a coarse label has the rows under that label and above as supersets."""
    frame = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row")
    _, table = sealed(frame, WORDS, columns=[("q", "s")])
    level = min(level, len(table["q"].levels) - 1)
    steps = levels_of(table["q"])
    everyone = np.arange(len(rows), dtype=np.intp)
    recoding = recode_to_level(table["q"], level, everyone)
    draft = Draft("main", (("q", "s"),), everyone, recodings={"q": recoding} if recoding else {})
    release, _ = sealed(frame, WORDS, draft)
    [finding] = judge(Evidence(release, table, WORDS), Promise(guarantee, ("q",), ("s",)), promised=True)
    groups = grouped([steps[level][text(q)] for q, _ in rows], [s for _, s in rows])
    original_of = {steps[level][text(q)]: q for q, _ in rows}
    supersets = ancestors(rows, table, original_of.values(), level)
    assert_equal(
        finding, guarantee, groups, table, supersets={key: supersets[original_of[key]] for key in groups}
    )


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(places, cells, st.integers(0, 3)), min_size=1, max_size=12), guarantee=about_words
)
def test_buckets_are_measured_as_defined(rows, guarantee):
    """In a bucketed view with the value in a column of its own the groups are the buckets."""
    frame = pl.DataFrame([row[:2] for row in rows], schema={"q": pl.String, "s": pl.String}, orient="row")
    buckets = [row[2] for row in rows]
    release, table = sealed(frame, WORDS, columns=[("q",), ("s",)], buckets=buckets)
    [finding] = judge(Evidence(release, table, WORDS), Promise(guarantee, ("q",), ("s",)), promised=True)
    assert_equal(finding, guarantee, grouped(buckets, [row[1] for row in rows]), table)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("xy"), decimals), min_size=1, max_size=10),
    guarantee=about_numbers,
    insensitive=st.frozensets(st.sampled_from(["0.1", "1.0", ""]), max_size=1),
)
def test_numbers_are_measured_as_defined(rows, guarantee, insensitive):
    """Spread and proximity of decimals are exact: 0.3 and 0.1 are 0.2 apart, not a little less."""
    frame = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.Float64}, orient="row")
    release, table = sealed(frame, NUMBERS, columns=[("q", "s")])
    [finding] = judge(
        Evidence(release, table, NUMBERS), Promise(guarantee, ("q",), ("s",), insensitive), promised=True
    )
    assert_equal(finding, guarantee, grouped(*zip(*rows, strict=True)), table, insensitive)


@given(rows=st.lists(places, min_size=1, max_size=10), k=st.integers(1, 5))
def test_sizes_count_rows_with_missing_cells(rows, k):
    """k-anonymity counts a group of missing keys like any other."""
    frame = pl.DataFrame({"q": pl.Series(rows, dtype=pl.String), "s": ["a"] * len(rows)})
    release, table = sealed(frame, WORDS, columns=[("q", "s")])
    [finding] = judge(Evidence(release, table, WORDS), Promise(KAnonymity(k), ("q",)), promised=True)
    sizes = [len(values) for values in grouped(rows, rows).values()]
    assert (finding.kept, finding.measured, finding.worst_group_size) == (
        min(sizes) >= k,
        min(sizes),
        min(sizes),
    )


def test_entropy_on_the_bound_is_decided_exactly():
    """Three equal shares have the entropy log 3 and not a rounding error less; one row fewer breaks it."""
    for rows, kept in ((["a", "b", "c"] * 7, True), ((["a", "b", "c"] * 7)[:-1], False)):
        frame = pl.DataFrame({"q": ["11"] * len(rows), "s": rows})
        release, table = sealed(frame, WORDS, columns=[("q", "s")])
        [finding] = judge(
            Evidence(release, table, WORDS), Promise(EntropyDiversity(3), ("q",), ("s",)), promised=True
        )
        assert finding.kept is kept


def test_products_of_a_million_rows_do_not_overflow():
    """Ordered closeness of two groups over a wide domain is exact in integers beyond 64 bits."""
    n = 200_000
    frame = pl.DataFrame({"q": ["x"] * (n // 2) + ["y"] * (n // 2), "s": [float(i) for i in range(n)]})
    release, table = sealed(frame, NUMBERS, columns=[("q", "s")])
    evidence = Evidence(release, table, NUMBERS)
    # Each half is n/4 steps from the middle on average: (n/2)·(1/2)/(n-1).
    distance = Fraction(n, 4) / (n - 1)
    bound = Fraction(math.ceil(distance * 10**9), 10**9)
    [kept] = judge(evidence, Promise(Closeness(bound, "ordered"), ("q",), ("s",)), promised=True)
    [broken] = judge(
        evidence, Promise(Closeness(bound - Fraction(1, 10**9), "ordered"), ("q",), ("s",)), promised=True
    )
    assert (kept.kept, broken.kept) == (True, False)
    assert kept.measured == pytest.approx(float(distance), abs=1e-12)


def test_a_superset_between_class_and_table_counts():
    """A class of (n,t)-closeness may be near the rows under its parent label while far from the table."""
    frame = pl.DataFrame({"q": ["11", "12", "21", "22"], "s": ["a", "a", "b", "b"]})
    release, table = sealed(frame, WORDS, columns=[("q", "s")])
    evidence = Evidence(release, table, WORDS)
    for n, measured in ((1, 0), (2, 0), (3, 0.5), (5, math.inf)):
        promise = Promise(SupersetCloseness(n, Fraction(1, 4), "equal"), ("q",), ("s",))
        [finding] = judge(evidence, promise, promised=True)
        assert (finding.measured, finding.kept) == (measured, measured == 0)


def test_a_bucket_that_is_large_itself_is_near_to_itself():
    """Of (n,t) a bucket with n rows is as near to a superset as can be, whatever the others are like."""
    frame = pl.DataFrame({"age": range(7), "ill": ["flu"] * 3 + ["cold"] * 4})
    roles = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    asked = {"l": 1, "t": 0, "n": 3}
    policy = mv.Policy(attributes=roles, guarantee=asked, publish={"method": "anatomize"})
    release = mv.publish(frame, policy, seed=1)
    assert sorted(release.tables["main.age"]["bucket"].to_list()) == [0, 0, 0, 0, 1, 1, 1]
    [told] = [own for own in mv.audit(release, frame, policy).findings if own.promise == "n-t-closeness"]
    assert (told.kept, told.measured) == (True, 0)
