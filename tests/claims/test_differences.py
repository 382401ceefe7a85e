"""The paper's α: judged alike by makers, audit and its definition, and what it leaves open."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.policy import Promise
from manyveils.policy.guarantees import AlphaDifference
from manyveils.promises.keeping import count_for, kept, watch
from manyveils.release.draft import Draft
from manyveils.release.seal import seal
from manyveils.table import hold
from tests.kit.oracles import leaks

HOME = {"tree": {"high": ["a", "b"], "low": ["c", "d"]}}
PAPER = {"method": "alpha-beta-k", "beta": 2, "alpha_reading": "paper"}


def policy(insensitive=(), **publish):
    """One quasi-identifier and two sensitive attributes, under the paper's α."""
    sensitive = {"role": "sensitive", "hierarchy": HOME}
    return mv.Policy(
        attributes={
            "group": {"role": "quasi", "kind": "categorical"},
            "ill": sensitive | {"insensitive": list(insensitive)},
            "pay": sensitive,
        },
        publish={**PAPER, **publish},
    )


def alphas(rows):
    """Of each value of the second attribute that occurs more than once: the values of the first that are not beside it."""
    counts = Counter(pay for _, pay in rows)
    ills = {ill for ill, _ in rows}
    return {pay: ills - {ill for ill, own in rows if own == pay} for pay, n in counts.items() if n > 1}


def leaks_by_letter(rows, insensitive=()):
    """Whether α = nS - nS' is 1 for some value, and what is not beside it needs protection."""
    return any(len(absent) == 1 and not absent & set(insensitive) for absent in alphas(rows).values())


# Every attribute has its values somewhere.
REST = [("z", value, value) for value in "abcd"]
tables = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from("abcd"), st.sampled_from("abcd")),
    min_size=1,
    max_size=14,
).map(lambda rows: [*rows, *REST])


def frame_of(rows):
    return pl.DataFrame(rows, schema=["group", "ill", "pay"], orient="row")


@settings(max_examples=60, deadline=None)
@given(rows=tables, insensitive=st.sets(st.sampled_from("abcd"), max_size=1))
def test_makers_and_audit_decide_as_defined(rows, insensitive):
    """Counts of different rows and the audit of a release find the groups in which some α is 1."""
    asked = policy(insensitive)
    table, restore = hold(frame_of(rows), asked)
    promise = Promise(AlphaDifference(1, ("pay",)), ("group",), ("ill",), frozenset(insensitive))
    watches = watch((promise,), table, ("ill", "pay"))
    owners = table["group"].codes.astype(np.int64)
    [entries] = count_for(watches, owners, table["group"].n_values)
    fine = kept(watches[0], entries, np.bincount(owners))
    held = [[row[1:] for row in rows if row[0] == group] for group in table["group"].texts]
    broken = [leaks_by_letter(group, insensitive) for group in held]
    assert (~fine).tolist() == broken
    draft = Draft("main", (("group", "ill", "pay"),), np.arange(len(rows)))
    release = seal([draft], table, asked, restore, notes={}, rng=np.random.default_rng(1))
    findings = mv.audit(release, frame_of(rows), asked).findings
    [finding] = [each for each in findings if each.promise == "alpha-difference" and each.attribute == "ill"]
    assert (finding.groups_short, finding.kept) == (sum(broken), not any(broken))


@settings(max_examples=40, deadline=None)
@given(rows=tables, seed=st.integers(0, 3))
def test_releases_keep_the_papers_reading(rows, seed):
    """What is published keeps α in every group of published values, or the method refuses."""
    try:
        release = mv.publish(frame_of(rows), policy(), seed=seed)
    except mv.InfeasibleError:
        return
    published = release.tables["main"].rows_by_key("group")
    assert not any(leaks_by_letter(group) for group in published.values())
    assert not any(leaks_by_letter([row[::-1] for row in group]) for group in published.values())


def test_the_papers_reading_leaves_a_leak():
    """With v, v, x beside A, B, A the paper's α is 0 and the group is published, but ruling out v leaves A alone."""
    frame = pl.DataFrame({"group": ["x"] * 3, "pay": ["c", "c", "a"], "ill": ["a", "b", "a"]})
    assert alphas(list(zip(frame["ill"], frame["pay"], strict=True))) == {"c": set()}
    consecutive = {"pairs": "consecutive", "sensitive_order": ["pay", "ill"]}
    release = mv.publish(frame, policy(**consecutive), seed=1)
    assert release.notes["sensitive_values_replaced"] == {"ill": 0, "pay": 0}
    rows = release.tables["main"].select("ill", "pay").rows()
    assert leaks(rows, 1) == [frozenset({(1, "c")})]
    assert mv.audit(release, frame, policy(**consecutive)).kept
    judged = mv.audit(release, frame, policy(**consecutive, alpha_reading="left"))
    left = [each for each in judged.findings if each.promise == "elimination"]
    assert [(each.attribute, each.kept) for each in left] == [("ill", False)]


def test_the_papers_reading_refuses_what_leaks_nothing():
    """With v, v, x, x beside A, B, A, C the paper's α is 1, though ruling out v leaves A and C."""
    rows = [("A", "v"), ("B", "v"), ("A", "x"), ("C", "x")]
    assert alphas(rows)["v"] == {"C"}
    assert leaks(rows, 1) == []


@pytest.mark.parametrize(
    ("publish", "attribute", "told"),
    [
        ({"eliminations": 2}, {}, "rules out one value"),
        ({}, {"multivalued": ";"}, "several values in a cell"),
    ],
)
def test_the_papers_reading_is_refused_where_it_says_nothing(publish, attribute, told):
    """It knows one value that is ruled out, and cells with one value."""
    sections = policy().model_dump(exclude_unset=True)
    sections["attributes"]["ill"] = {"role": "sensitive", **attribute}
    sections["publish"] |= publish
    with pytest.raises(mv.PolicyError, match=told):
        mv.Policy(**sections)
