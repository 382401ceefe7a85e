"""The groups an audit looks at are those an adversary can tell apart."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.audits import audit
from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    Closeness,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    SupersetCloseness,
)
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, Recoding
from tests.kit import sealed

SENSITIVE = {"role": "sensitive", "kind": "categorical"}
POLICY = Policy(attributes={"q": {"role": "quasi", "kind": "categorical"}, "a": SENSITIVE, "b": SENSITIVE})
SCHEMA = {"q": pl.String, "a": pl.String, "b": pl.String}
short_words = st.sampled_from(["x", "y", None])
rows_of_three = st.lists(st.tuples(short_words, short_words, short_words), min_size=1, max_size=10)
MARGINAL, CONDITIONAL = "marginal", "conditional"


def judged(release, table, promise, policy=POLICY):
    return {
        (found.view, found.reading): found
        for found in judge(Evidence(release, table, policy), promise, promised=True)
    }


def framed(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def least_distinct(keys, values):
    return min(
        len({value for key, value in zip(keys, values, strict=True) if key == one}) for one in set(keys)
    )


@settings(deadline=None)
@given(rows=rows_of_three)
def test_the_conditional_reading_adds_the_other_sensitive_attributes(rows):
    """Whoever also knows b sees groups of (q, b); the finding stands beside the promised one, unpromised."""
    release, table = sealed(framed(rows), POLICY, columns=[("q", "a", "b")])
    found = judged(release, table, Promise(DistinctDiversity(1), ("q",), ("a",)))
    a = [row[1] for row in rows]
    assert found["main", MARGINAL].measured == least_distinct([row[0] for row in rows], a)
    assert found["main", CONDITIONAL].measured == least_distinct([(row[0], row[2]) for row in rows], a)
    assert (found["main", MARGINAL].promised, found["main", CONDITIONAL].promised) == (True, False)


@settings(deadline=None)
@given(rows=rows_of_three, buckets=st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_another_column_tells_nothing_more_inside_a_bucket(rows, buckets):
    """With a and b in columns of their own, knowing b changes nothing; in one column it does."""
    buckets, a = buckets[: len(rows)], [row[1] for row in rows]
    promise = Promise(DistinctDiversity(1), ("q",), ("a",))
    apart = judged(*sealed(framed(rows), POLICY, columns=[("q",), ("a",), ("b",)], buckets=buckets), promise)
    assert (
        apart["main", MARGINAL].measured == apart["main", CONDITIONAL].measured == least_distinct(buckets, a)
    )
    beside = judged(*sealed(framed(rows), POLICY, columns=[("q",), ("a", "b")], buckets=buckets), promise)
    assert beside["main", CONDITIONAL].measured == least_distinct(
        list(zip(buckets, (row[2] for row in rows), strict=True)), a
    )
    with_q = judged(*sealed(framed(rows), POLICY, columns=[("q", "a"), ("b",)], buckets=buckets), promise)
    assert with_q["main", MARGINAL].measured == least_distinct(
        list(zip(buckets, (row[0] for row in rows), strict=True)), a
    )


def test_a_conditional_promise_is_judged_conditionally_and_once():
    """A promise that is conditional has one finding, promised and conditional."""
    release, table = sealed(framed([("x", "x", "x"), ("x", "y", "y")]), POLICY, columns=[("q", "a", "b")])
    [finding] = judged(
        release, table, Promise(DistinctDiversity(2), ("q",), ("a",), conditional=True)
    ).values()
    assert (finding.reading, finding.promised, finding.kept, finding.measured) == (
        "conditional",
        True,
        False,
        1,
    )


def test_a_separate_view_is_one_group():
    """Attributes in views of their own tell no groups apart."""
    frame = framed([("x", "x", "x"), ("y", "y", "x"), ("y", "x", "y")])
    everyone = np.arange(3, dtype=np.intp)
    drafts = [Draft(name, ((name,),), everyone) for name in ("q", "a", "b")]
    release, table = sealed(frame, POLICY, *drafts)
    assert judged(release, table, Promise(DistinctDiversity(2), ("q",), ("a",)))["a", MARGINAL].groups == 1
    sizes = judged(release, table, Promise(KAnonymity(3), ("q",)))
    assert {view: found.measured for (view, _), found in sizes.items()} == {"a": 3, "b": 3}


def test_bits_of_one_attribute_are_not_others_to_each_other():
    """The 0/1 columns of a multi-valued attribute do not condition each other, but condition other attributes."""
    policy = Policy(
        attributes={
            "q": {"role": "quasi"},
            "m": {"role": "sensitive", "multivalued": "|"},
            "a": {"role": "sensitive", "kind": "categorical"},
        },
        guarantee={"l": 2},
    )
    frame = pl.DataFrame({"q": ["x"] * 4, "m": ["u|v", "u", "v", ""], "a": ["1", "2", "1", "2"]})
    columns = [("q", "m=u", "m=v", "a")]
    release, table = sealed(frame, policy, columns=columns)
    found = {(one.attribute, one.reading): one for one in audit(release, table, policy).findings}
    assert found["m=u", CONDITIONAL].groups == 2
    assert found["a", CONDITIONAL].groups == 4


@settings(deadline=None)
@given(rows=rows_of_three, buckets=st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_a_combination_in_two_columns_has_the_product_of_their_distributions(rows, buckets):
    """Inside a bucket the share of a pair is the product of the shares of its parts."""
    buckets = buckets[: len(rows)]
    release, table = sealed(framed(rows), POLICY, columns=[("q",), ("a",), ("b",)], buckets=buckets)
    found = judged(release, table, Promise(FrequencyDiversity(2), ("q",), ("a", "b")))["main", "joint"]
    shares = []
    for bucket in set(buckets):
        within = [row for row, number in zip(rows, buckets, strict=True) if number == bucket]
        shares.append(
            max(
                Fraction(
                    Counter(row[1] for row in within)[one] * Counter(row[2] for row in within)[other],
                    len(within) ** 2,
                )
                for one, other in product(("x", "y", None), repeat=2)
            )
        )
    assert found.measured == pytest.approx(float(1 / max(shares)))
    assert found.kept == (max(shares) <= Fraction(1, 2))
    assert found.worst_group_size in Counter(buckets).values()


@settings(deadline=None)
@given(rows=rows_of_three)
def test_a_combination_in_one_column_is_counted_as_it_stands(rows):
    """Closeness of pairs in one column is the equal distance between the distributions of pairs."""
    release, table = sealed(framed(rows), POLICY, columns=[("q", "a", "b")])
    found = judged(release, table, Promise(Closeness(Fraction(1, 2), "equal"), ("q",), ("a", "b")))[
        "main", "joint"
    ]
    pairs = [row[1:] for row in rows]
    distances = []
    for key in {row[0] for row in rows}:
        own = [row[1:] for row in rows if row[0] == key]
        distances.append(
            sum(
                abs(Fraction(own.count(pair), len(own)) - Fraction(pairs.count(pair), len(pairs)))
                for pair in set(pairs)
            )
            / 2
        )
    assert found.measured == pytest.approx(float(max(distances)))


def test_a_combination_across_views_follows_what_is_known_into_each():
    """Views (q, a) and (q, b) are joined by the rows of the original; an ambiguous recoding cannot be followed."""
    frame = framed([("x", "x", "x"), ("x", "y", "y"), ("y", "x", "x"), ("y", "x", "y")])
    everyone = np.arange(4, dtype=np.intp)
    drafts = [Draft("one", (("q", "a"),), everyone), Draft("two", (("q", "b"),), everyone)]
    promise = Promise(FrequencyDiversity(2), ("q",), ("a", "b"))
    found = judged(*sealed(frame, POLICY, *drafts), promise)["one+two", "joint"]
    assert (found.measured, found.groups, found.worst_group_size) == (2, 2, 2)
    covers = (np.array([0, 0, 1]), ("x", "y", "y"))
    torn = Recoding(np.array([0, 0, 0, 1], dtype=np.int32), ("{x, y}", "y"), covers)
    drafts[0] = Draft("one", (("q", "a"),), everyone, recodings={"q": torn})
    found = judged(*sealed(frame, POLICY, *drafts), promise)["one+two", "joint"]
    assert (found.measured, found.kept) == (None, False)


def test_a_combination_in_separate_views_is_one_product():
    """Nothing joins views of single attributes, so the pair's distribution is one product."""
    everyone = np.arange(4, dtype=np.intp)
    drafts = [Draft(name, ((name,),), everyone) for name in ("q", "a", "b")]
    frame = framed([("x", "x", "x"), ("x", "y", "y"), ("y", "x", "x"), ("y", "x", "y")])
    found = judged(*sealed(frame, POLICY, *drafts), Promise(FrequencyDiversity(2), ("q",), ("a", "b")))[
        "a+b", "joint"
    ]
    assert found.measured == pytest.approx(8 / 3)


def test_a_label_counts_what_it_covers_in_the_original():
    """The share of a recoded value is that of all the originals under it."""
    frame = framed([("x", "u", "x"), ("x", "v", "x"), ("y", "u", "x"), ("y", "w", "x")])
    everyone = np.arange(4, dtype=np.intp)
    covers = (np.array([0, 0, 1]), ("u", "v", "w"))
    merged = Recoding(np.array([0, 0, 0, 1], dtype=np.int32), ("{u, v}", "w"), covers)
    release, table = sealed(
        frame, POLICY, Draft("main", (("q", "a", "b"),), everyone, recodings={"a": merged})
    )
    found = judged(release, table, Promise(Likeness(Fraction(1)), ("q",), ("a",)))["main", MARGINAL]
    # {u, v} has 3/4 of the table and all of x: the gain of 1/3 is more than -ln(3/4) allows.
    assert found.measured == pytest.approx(1 / 3 / -math.log(3 / 4))
    assert not found.kept
    # w has 1/4 of the table and 1/2 of its group: it doubles, so the gain is one.
    spared = Promise(Likeness(Fraction(1)), ("q",), ("a",), insensitive=frozenset({"u", "v"}))
    assert judged(release, table, spared)["main", MARGINAL].measured == 1
    close = judged(release, table, Promise(Closeness(Fraction(1, 4), "equal"), ("q",), ("a",)))[
        "main", MARGINAL
    ]
    assert (close.measured, close.kept) == (0.25, True)


def test_a_value_that_is_partly_recoded_stands_for_itself_and_its_parent_for_all():
    """Where some cells say v and others its parent {u, v}, v has its own share and the parent that of both."""
    frame = framed([("x", value, "x") for value in "uv"] + [("y", value, "x") for value in "vwww"])
    everyone = np.arange(6, dtype=np.intp)
    covers = (np.array([0, 0, 1, 1, 2]), ("u", "v", "u", "v", "w"))
    partly = Recoding(np.array([0, 1, 0, 2, 2, 2], dtype=np.int32), ("{u, v}", "v", "w"), covers)
    release, table = sealed(
        frame, POLICY, Draft("main", (("q", "a", "b"),), everyone, recodings={"a": partly})
    )
    promise = Promise(Likeness(Fraction(1)), ("q",), ("a",), insensitive=frozenset({"w"}))
    # In x, v has 1/2 against 2/6 of the table: a gain of one half; {u, v} has 1/2 against 3/6.
    assert judged(release, table, promise)["main", MARGINAL].measured == pytest.approx(0.5)


@pytest.mark.parametrize("protects", [("a",), ("a", "b")])
def test_an_attribute_may_be_called_group(protects):
    """The name of an attribute changes no finding, even if the audit has a use for the word itself."""
    frame, everyone, findings = framed([("x", "u", "w"), ("x", "v", "z"), ("y", "v", "w")]), np.arange(3), []
    for name in ("q", "group"):
        policy = Policy(
            attributes={name: {"role": "quasi", "kind": "categorical"}, "a": SENSITIVE, "b": SENSITIVE}
        )
        drafts = [Draft(column, ((name, column),), everyone) for column in ("a", "b")]
        release, table = sealed(frame.rename({"q": name}), policy, *drafts)
        promise = Promise(SupersetCloseness(2, Fraction(1, 9), "equal"), (name,), protects)
        findings.append(judged(release, table, promise, policy))
    assert findings[0] == findings[1]
    assert all(finding.groups for finding in findings[0].values())


RULES = {"rules": [{"given": ["gender", "icd"], "protect": "zipcode", "l": 2}]}
ROWS = pl.DataFrame(
    {
        "hospital": ["1", "1", "2", "2", "3", "3"],
        "age": ["37", "71", "55", "37", "23", "37"],
        "gender": ["F", "M", "F", "F", "M", "M"],
        "zipcode": ["71000", "72000", "73000", "74000", "71000", "72000"],
        "icd": ["HIV", "diabetes", "diabetes", "flu", "alcoholism", "HIV"],
    }
)


def ruled():
    return Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in ROWS.columns}, **RULES
    )


def test_a_rule_sees_what_a_chain_of_views_makes_reachable():
    """Gender reaches age over another view, so the table (age, zipcode) breaks {gender, icd} and zipcode."""
    everyone = np.arange(6, dtype=np.intp)
    drafts = [
        Draft("one", (("gender", "icd", "age"),), everyone),
        Draft("two", (("age", "zipcode"),), everyone),
    ]
    [finding] = [
        found
        for found in audit(*sealed(ROWS, ruled(), *drafts), ruled()).findings
        if found.reading == "marginal"
    ]
    assert (finding.view, finding.kept, finding.groups) == ("two", False, 4)


def test_a_rule_ignores_buckets_that_nothing_known_leads_to():
    """A bucket of (age | zipcode) is not found by gender or icd, so the whole view is one group."""
    everyone = np.arange(6, dtype=np.intp)
    drafts = [
        Draft("one", (("gender", "icd"),), everyone),
        Draft("two", (("age",), ("zipcode",)), everyone, buckets=np.array([0, 0, 1, 1, 0, 0])),
    ]
    [finding] = [
        found
        for found in audit(*sealed(ROWS, ruled(), *drafts), ruled()).findings
        if found.reading == "marginal"
    ]
    assert (finding.view, finding.kept, finding.groups) == ("two", True, 1)


def test_what_is_not_published_cannot_be_learnt():
    """A protected attribute that no view shows gives a kept finding without a view."""
    release, table = sealed(framed([("x", "x", "x")]), POLICY, columns=[("q", "b")])
    found = judged(release, table, Promise(DistinctDiversity(2), ("q",), ("a",)))["", MARGINAL]
    assert (found.kept, found.measured, found.groups) == (True, None, 0)
