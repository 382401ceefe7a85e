"""Where somebody has several rows, the audit's verdicts are those of the definitions for persons."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import polars as pl
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
    Elimination,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
)
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, Release, seal
from manyveils.table import Table
from tests.kit import persons as oracle
from tests.kit.people import held_by

WORDS = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "ordinal"},
        "z": {"role": "sensitive", "kind": "categorical"},
    }
)
NUMBERS = Policy(
    attributes={"q": {"role": "quasi", "kind": "categorical"}, "s": {"role": "sensitive", "kind": "numeric"}}
)
small = st.integers(1, 4)
shares = st.sampled_from([Fraction(n, 12) for n in range(13)])
factors = st.sampled_from(
    [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)]
)
about_words = st.one_of(
    st.builds(KAnonymity, small),
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(EntropyDiversity, small),
    st.builds(RecursiveDiversity, factors, small),
    st.builds(Closeness, shares, st.sampled_from(["equal", "ordered"])),
    st.builds(CappedShare, shares, st.sampled_from([(), ("a",), ("b", "c")])),
    st.builds(Linkability, shares),
    st.builds(Likeness, factors),
    st.builds(Disclosure, factors),
)
about_numbers = st.one_of(
    st.builds(NumericSpread, st.sampled_from([Fraction(n, 2) for n in range(7)])),
    st.builds(Proximity, st.sampled_from([Fraction(0), Fraction(1), Fraction(5, 2)]), small),
)
# Whose row it is, what is known of her, what is not, what else is not, and the row's bucket.
rows_of_words = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from("xy"),
        st.sampled_from("abcd"),
        st.sampled_from("uv"),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)
rows_of_numbers = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from("xy"),
        st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.5, None]),
        st.just(""),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)


def published(
    table: Table, policy: Policy, columns: tuple[tuple[str, ...], ...], buckets: list[int] | None
) -> Release:
    """All rows as one view."""
    grouped = None if buckets is None else np.array(buckets, dtype=np.int64)
    draft = Draft("main", columns, np.arange(table.n_rows, dtype=np.intp), grouped)
    return seal([draft], table, policy, lambda frame: frame, notes={}, rng=np.random.default_rng(7))


def groups_by(keys: list[object], rows: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """The rows of each key."""
    return [[row for key, row in zip(keys, rows, strict=True) if key == one] for one in dict.fromkeys(keys)]


def text(value: object) -> str:
    return "" if value is None else str(value)


def checked(
    rows: list[tuple[object, ...]],
    guarantee: object,
    policy: Policy,
    *,
    bucketed: bool,
    insensitive: frozenset[str],
) -> None:
    """The finding about a release of these rows says what the oracle says of its groups."""
    has_z = "z" in policy.attributes
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame if has_z else frame.drop("z"), policy, [row[0] for row in rows])
    columns = (("q",), ("s",)) if bucketed else (("q", "s"),)
    buckets = [row[4] for row in rows]
    release = published(table, policy, columns, buckets if bucketed else None)
    protects = () if isinstance(guarantee, KAnonymity) else ("s",)
    promise = Promise(guarantee, ("q",), protects, insensitive)
    finding = next(iter(judge(Evidence(release, table, policy), promise, promised=True)))
    listed = [(row[0], text(row[2])) for row in rows]
    domain = list(table["s"].texts)
    groups = groups_by(buckets if bucketed else [row[1] for row in rows], listed)
    verdicts = [oracle.keeps(guarantee, group, listed, domain, insensitive) for group in groups]
    assert finding.kept == all(verdicts)
    assert finding.groups_short == verdicts.count(False)
    assert finding.rows_short == sum(
        len(group) for group, kept in zip(groups, verdicts, strict=True) if not kept
    )


harmless = st.sampled_from([frozenset[str](), frozenset({"a"}), frozenset({"a", "b"})])


@settings(deadline=None, max_examples=400)
@given(rows=rows_of_words, guarantee=about_words, bucketed=st.booleans(), insensitive=harmless)
def test_words(rows, guarantee, bucketed, insensitive):
    """Of groups in a plain table, and of buckets, every guarantee about words is kept exactly when the definition says so."""
    checked(rows, guarantee, WORDS, bucketed=bucketed, insensitive=insensitive)


@settings(deadline=None, max_examples=300)
@given(rows=rows_of_numbers, guarantee=about_numbers, bucketed=st.booleans())
def test_numbers(rows, guarantee, bucketed):
    """The spread of numbers and their nearness are those of persons."""
    checked(rows, guarantee, NUMBERS, bucketed=bucketed, insensitive=frozenset())


@settings(deadline=None, max_examples=300)
@given(rows=rows_of_words, eliminations=st.integers(1, 2), insensitive=harmless)
def test_eliminations(rows, eliminations, insensitive):
    """After so many values of others are ruled out, nothing is left or two persons with two values."""
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    release = published(table, WORDS, (("q", "s", "z"),), None)
    promise = Promise(Elimination(eliminations, ("z",)), ("q",), ("s",), insensitive)
    finding = next(iter(judge(Evidence(release, table, WORDS), promise, promised=True)))
    verdicts = [
        oracle.withstands(
            [(row[0], row[2], [row[3]]) for row in rows if row[1] == q], eliminations, insensitive
        )
        for q in {row[1] for row in rows}
    ]
    assert finding.kept == all(verdicts)
    assert finding.groups_short == verdicts.count(False)


KNOWN = Policy(
    attributes={
        "q": {"role": "quasi", "kind": "categorical"},
        "z": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "ordinal"},
    }
)
about_mixtures = st.one_of(
    st.builds(KAnonymity, small),
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(Linkability, shares),
    st.builds(Closeness, shares, st.just("equal")),
)


def believed(rows, target, share_of):
    """What is believed of a target's values: shares in each bucket, weighed by its rows that match in every column."""
    beliefs, total = Counter(), Fraction(0)
    for bucket in {row[4] for row in rows}:
        inside = [row for row in rows if row[4] == bucket]
        weight = Fraction(1)
        for place in (1, 3):
            weight *= Fraction(sum(row[place] == target[place] for row in inside), len(inside))
        group = [(row[0], row[2]) for row in inside]
        for value in {value for _, value in group}:
            beliefs[value] += weight * share_of(group, value)
        total += weight
    return {value: weight / total for value, weight in beliefs.items() if weight}


def withstands_search(rows, target, guarantee):
    """Whether a guarantee holds for a target whose bucket is not known."""
    matching = [
        [(row[0], row[2]) for row in rows if row[4] == bucket]
        for bucket in {row[4] for row in rows}
        if all(any(row[4] == bucket and row[at] == target[at] for row in rows) for at in (1, 3))
    ]
    if isinstance(guarantee, KAnonymity):
        return len({person for group in matching for person, _ in group}) >= guarantee.k
    if isinstance(guarantee, DistinctDiversity):
        return max(map(oracle.matched, matching)) >= guarantee.l
    if isinstance(guarantee, Closeness):
        shares_of = believed(rows, target, lambda group, value: oracle.distribution(group)[value])
        table = oracle.distribution([(row[0], row[2]) for row in rows])
        moved = oracle.distance(shares_of, table, sorted(table), is_ordered=False)
        return float(moved) <= float(guarantee.t) + 1e-12
    bound = Fraction(1, guarantee.l) if isinstance(guarantee, FrequencyDiversity) else guarantee.epsilon
    shares_of = believed(rows, target, oracle.share)
    return all(float(share) <= float(bound) + 1e-12 for share in shares_of.values())


@settings(deadline=None, max_examples=300)
@given(rows=rows_of_words, guarantee=about_mixtures)
def test_slices(rows, guarantee):
    """Where no bucket is found for certain, persons are counted in each bucket, and buckets weigh as their rows say."""
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "z": [row[3] for row in rows], "s": [row[2] for row in rows]}
    )
    table = held_by(frame, KNOWN, [row[0] for row in rows])
    if len(np.unique(table.persons)) == table.n_rows:
        return
    release = published(table, KNOWN, (("q",), ("z",), ("s",)), [row[4] for row in rows])
    promise = Promise(guarantee, ("q", "z"), () if isinstance(guarantee, KAnonymity) else ("s",))
    finding = next(iter(judge(Evidence(release, table, KNOWN), promise, promised=True)))
    verdicts = [withstands_search(rows, target, guarantee) for target in rows]
    assert finding.kept == all(verdicts)
    assert finding.rows_short == verdicts.count(False)


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_words, guarantee=about_words, insensitive=harmless)
def test_weights_that_are_fractions_are_refused_in_doubt(rows, guarantee, insensitive):
    """Where weights cannot be whole, nothing is called kept that is not, and nothing broken that is kept by a margin."""
    if len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    release = published(table, WORDS, (("q", "s", "z"),), None)
    protects = () if isinstance(guarantee, KAnonymity) else ("s",)
    promise = Promise(guarantee, ("q",), protects, insensitive)
    with patch("manyveils.audits.persons.LARGEST_WEIGHT", 0):
        finding = next(iter(judge(Evidence(release, table, WORDS), promise, promised=True)))
    listed = [(row[0], row[2]) for row in rows]
    groups, domain = groups_by([row[1] for row in rows], listed), list(table["s"].texts)
    kept = all(oracle.keeps(guarantee, group, listed, domain, insensitive) for group in groups)
    assert kept or not finding.kept
    is_close = finding.measured is not None and math.isclose(finding.measured, finding.required, abs_tol=1e-9)
    assert finding.kept == kept or is_close


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_words, guarantee=about_words, bucketed=st.booleans(), insensitive=harmless)
def test_the_conditional_reading(rows, guarantee, bucketed, insensitive):
    """Whoever also knows another value of the row sees groups of both, and counts the persons in them."""
    if isinstance(guarantee, KAnonymity) or len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    columns = (("q",), ("s", "z")) if bucketed else (("q", "s", "z"),)
    release = published(table, WORDS, columns, [row[4] for row in rows] if bucketed else None)
    promise = Promise(guarantee, ("q",), ("s",), insensitive, conditional=True)
    found = [
        f
        for f in judge(Evidence(release, table, WORDS), promise, promised=True)
        if f.reading == "conditional"
    ]
    listed = [(row[0], row[2]) for row in rows]
    keys = [(row[4] if bucketed else row[1], row[3]) for row in rows]
    domain = list(table["s"].texts)
    verdicts = [
        oracle.keeps(guarantee, group, listed, domain, insensitive) for group in groups_by(keys, listed)
    ]
    assert [finding.kept for finding in found] == [all(verdicts)]
    assert found[0].groups_short == verdicts.count(False)


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_words, guarantee=about_words)
def test_combinations_in_one_column(rows, guarantee):
    """Attributes protected as one have combinations as values."""
    if isinstance(guarantee, KAnonymity | CappedShare | Closeness) or len({row[0] for row in rows}) == len(
        rows
    ):
        return
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    release = published(table, WORDS, (("q", "s", "z"),), None)
    promise = Promise(guarantee, ("q",), ("s", "z"))
    finding = next(iter(judge(Evidence(release, table, WORDS), promise, promised=True)))
    listed = [(row[0], row[2] + row[3]) for row in rows]
    groups = groups_by([row[1] for row in rows], listed)
    verdicts = [
        oracle.keeps(guarantee, group, listed, sorted({value for _, value in listed})) for group in groups
    ]
    assert (finding.kept, finding.groups_short) == (all(verdicts), verdicts.count(False))


@settings(deadline=None, max_examples=200)
@given(rows=rows_of_words, bound=shares, l=small)
def test_combinations_in_two_columns(rows, bound, l):
    """What holds of each column of a bucket is multiplied: shares of persons, and different values of different persons."""
    if len({row[0] for row in rows}) == len(rows):
        return
    frame = pl.DataFrame(
        {"q": [row[1] for row in rows], "s": [row[2] for row in rows], "z": [row[3] for row in rows]}
    )
    table = held_by(frame, WORDS, [row[0] for row in rows])
    buckets = [row[4] for row in rows]
    release = published(table, WORDS, (("q",), ("s",), ("z",)), buckets)
    evidence = Evidence(release, table, WORDS)
    groups = [[row for row in rows if row[4] == bucket] for bucket in set(buckets)]
    pairs = [([(row[0], row[2]) for row in group], [(row[0], row[3]) for row in group]) for group in groups]
    capped, diverse = (
        next(iter(judge(evidence, Promise(guarantee, ("q",), ("s", "z")), promised=True)))
        for guarantee in (Linkability(bound), DistinctDiversity(l))
    )
    most = max(oracle.share(s, v) * oracle.share(z, w) for s, z in pairs for _, v in s for _, w in z)
    assert capped.kept == (most <= bound)
    assert diverse.measured == min(oracle.matched(s) * oracle.matched(z) for s, z in pairs)


def test_the_worst_group_is_measured_to_the_end():
    """Three persons of one group have three values between them, whatever is asked for."""
    frame = pl.DataFrame({"p": ["1", "2", "3", "2"], "q": ["a"] * 4, "ill": ["x", "x", "z", "y"]})
    for l in (1, 2, 3):
        policy = Policy(
            data={"person": "p"},
            attributes={"p": {"role": "identifier"}, "q": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            guarantee={"k": l, "l": l},
            publish={"method": "generalize"},
        )
        found = mv.audit(mv.publish(frame, policy, 1), frame, policy).findings
        [own] = [one for one in found if one.promise == "distinct-l-diversity" and one.reading == "marginal"]
        assert own.measured == 3


def test_rows_are_counted_only_where_everybody_has_one():
    """Persons whose numbers have gaps are not taken for rows because there are as many numbers as rows."""
    frame = pl.DataFrame({"q": ["x"] * 4, "s": ["a", "b", "c", "d"], "z": ["u"] * 4})
    for persons, finds in (([0, 0, 0, 9], 2), ([0, 1, 2, 9], 4)):
        table = replace(held_by(frame, WORDS, [0, 0, 1, 1]), persons=np.array(persons))
        release = published(table, WORDS, (("q", "s", "z"),), None)
        evidence = Evidence(release, table, WORDS)
        assert (evidence.by_rows is evidence) == (finds == 2)
        finding = next(iter(judge(evidence, Promise(KAnonymity(3), ("q",), ()), promised=True)))
        assert finding.measured == finds
