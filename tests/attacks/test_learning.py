"""Attacks that infer: who is in the data, why groups are as they are, what buckets teach."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv


def attacked(name, release, frame, policy, **more):
    return mv.attack(release, frame, policy, only=[name], seed=1, **more)[name]


def policy_of(frame, **sections):
    attributes = {name: {"role": "quasi"} for name in frame.columns} | {"s": {"role": "sensitive"}}
    return mv.Policy(attributes=attributes, **sections)


def crowd(n=600, values=30):
    """People with two quasi-identifiers of many values, so that most are alone with theirs."""
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {name: rng.integers(0, values, n).astype(str) for name in ("a", "b")}
        | {"s": rng.integers(0, 4, n).astype(str)}
    )


def test_membership(released):
    """Quasi-identifiers in the open tell members from non-members; attributes in tables of their own do not."""
    frame = crowd()
    policy = policy_of(frame)
    found = attacked("membership", released(frame, policy, [("a", "b", "s")]), frame, policy)
    assert found.success > 0.7
    assert found.broken > 200
    apart = released(frame, policy, [("a",)], [("b",)], [("s",)])
    found = attacked("membership", apart, frame, policy)
    assert found.low <= 0.5 <= found.high
    assert (found.broken, found.standing) == (0, "nothing learnt")


def test_membership_of_the_like(released):
    """Where everybody outside looks like somebody inside, nobody is shown to be in the data."""
    frame = crowd(values=3)
    policy = policy_of(frame)
    found = attacked("membership", released(frame, policy, [("a", "b", "s")]), frame, policy)
    assert found.low <= 0.55
    assert found.broken == 0
    assert found.details["strangers_shown_for_sure"] == 1


def wong(first):
    """Two people of one kind, who have a secret or not, and six of another."""
    frame = pl.DataFrame({"q": ["a"] * 2 + ["b"] * 6, "s": [*first, *["none"] * (6 + 2 - len(first))]})
    attributes = {"q": {"role": "quasi"}, "s": {"role": "sensitive", "insensitive": ["none"]}}
    return frame, attributes


def test_minimality():
    """That nothing finer was published says that both of the first kind have the secret: it would not have kept l."""
    frame, attributes = wong(["HIV", "HIV"])
    policy = mv.Policy(attributes=attributes, guarantee={"l": 2, "l_kind": "frequency"})
    release = mv.publish(frame, policy, seed=1)
    assert release.frames["main"]["q"].unique().to_list() == ["*"]
    assert attacked("homogeneity", release, frame, policy).worst == pytest.approx(1 / 4)
    found = attacked("minimality", release, frame, policy)
    assert (found.worst, found.broken, found.certain) == (1.0, 2, 2)


def test_minimality_explained_by_size():
    """Where groups are coarse for want of rows, why they are tells nothing of anybody's value."""
    frame, attributes = wong(["HIV", "HIV"])
    policy = mv.Policy(attributes=attributes, guarantee={"k": 4, "l": 2, "l_kind": "frequency"})
    found = attacked("minimality", mv.publish(frame, policy, seed=1), frame, policy)
    assert found.worst == pytest.approx(1 / 4, abs=0.06)
    assert found.broken == 0


def test_minimality_in_halves():
    """A group that Mondrian did not cut tells why: a half of it would have had one value too often."""
    frame = pl.DataFrame({"q": list(range(8)), "s": ["HIV", "HIV", "HIV", *["none"] * 5]})
    attributes = {
        "q": {"role": "quasi", "kind": "numeric"},
        "s": {"role": "sensitive", "insensitive": ["none"]},
    }
    policy = mv.Policy(
        attributes=attributes,
        guarantee={"k": 4, "l": 2, "l_kind": "frequency"},
        publish={"method": "generalize", "recoding": "mondrian"},
    )
    release = mv.publish(frame, policy, seed=1)
    assert release.frames["main"]["q"].n_unique() == 1
    found = attacked("minimality", release, frame, policy)
    # All three are in one half, so each of the four in it has it with 3/4 if it is hers: 3/8 as before by symmetry.
    assert found.worst == pytest.approx(3 / 8, abs=0.1)


def test_minimality_where_no_group_agrees():
    """Where no group has as many people in the data as rows in the release, nothing is said of finer groups."""
    frame = pl.DataFrame({"q": list(range(16)), "s": ["HIV", "flu"] * 8})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi", "kind": "numeric"}, "s": {"role": "sensitive"}},
        guarantee={"k": 4, "l": 2},
        publish={"method": "generalize", "recoding": "mondrian"},
    )
    release = mv.publish(frame, policy, seed=1)
    assert release.tables["main"]["q"].n_unique() == 4
    found = attacked("minimality", release, frame.filter(pl.col("q") % 4 != 0), policy)
    assert "no finer grouping" in found.reason


def test_minimality_needs_groups():
    """Rows of buckets are dealt by chance, so there is nothing to ask."""
    frame = crowd()
    policy = policy_of(frame, guarantee={"l": 2}, publish={"method": "anatomize"})
    assert "chance" in attacked("minimality", mv.publish(frame, policy, seed=1), frame, policy).reason


def related(strength, n=2000):
    """People whose sensitive value follows from three quasi-identifiers, as strongly as asked; a fourth is hers alone."""
    rng = np.random.default_rng(1)
    value = rng.integers(0, 4, n)
    columns = {
        name: np.where(rng.random(n) < strength, value, rng.integers(0, 4, n)).astype(str)
        for name in ("a", "b", "c")
    }
    return pl.DataFrame(columns | {"own": np.arange(n).astype(str), "s": value.astype(str)})


def test_de_finetti():
    """From buckets of two the model learns what goes with what, and tells most values; chance would tell half."""
    frame = related(0.8)
    policy = policy_of(frame, guarantee={"l": 2, "l_kind": "frequency"}, publish={"method": "anatomize"})
    release = mv.publish(frame, policy, seed=1)
    found = attacked("de-finetti", release, frame, policy)
    assert found.details["success_without_learning"] < 0.6
    assert found.success > 0.8
    assert found.broken > 1000


def test_de_finetti_learns_nothing_from_nothing():
    """Where values follow from nothing, learning gets no more than the buckets give."""
    frame = related(0.0)
    policy = policy_of(frame, guarantee={"l": 2, "l_kind": "frequency"}, publish={"method": "anatomize"})
    found = attacked("de-finetti", mv.publish(frame, policy, seed=1), frame, policy)
    assert found.success == pytest.approx(found.details["success_without_learning"], abs=0.04)
    assert found.broken == 0


def test_de_finetti_beside_non_members():
    """What is learnt holds for people outside the data as well: they are the control."""
    frame = related(0.8, n=4000)
    policy = policy_of(frame, guarantee={"l": 2, "l_kind": "frequency"}, publish={"method": "anatomize"})
    release = mv.publish(frame[:2000], policy, seed=1)
    found = attacked("de-finetti", release, frame[:2000], policy, control=frame[2000:])
    assert found.control > found.baseline + 0.3


@pytest.mark.parametrize(("more", "is_open"), [({}, True), ({"k": 4}, False)])
def test_minimality_in_each_projected_table(more, is_open):
    """Each table of codip is attacked by itself: the one that l made coarse tells, and not the one that needs no l.

    That is the paper's first level of the attack; where k explains the groups, nothing is told.
    """
    frame, attributes = wong(["HIV", "HIV"])
    frame = frame.with_columns(job=pl.Series(["clerk", "cook"] * 4))
    policy = mv.Policy(
        attributes={**attributes, "job": {"role": "sensitive"}},
        guarantee={"l": 2, "l_kind": "frequency", **more},
        publish={"method": "codip", "plan": [["s"], ["job"]]},
    )
    release = mv.publish(frame, policy, seed=1)
    assert [view.attributes for view in release.views] == [("q", "s"), ("q", "job")]
    found = attacked("minimality", release, frame, policy)
    assert (found.worst == 1.0) is is_open
    assert found.broken == (2 if is_open else 0)
