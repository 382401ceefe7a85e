"""Angelization: who matches several batches believes a mixture of them, and groups hide people as those of k-anonymity do."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import InfeasibleError, PolicyError

MANY = {"method": "angelize", "group_k": 3}


def policy(guarantee, publish, **roles):
    """Age and sex are known, ill and pay are sensitive."""
    attributes = {
        "age": {"role": "quasi", "kind": "numeric"},
        "sex": {"role": "quasi"},
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive", "kind": "categorical"},
    }
    return mv.Policy(attributes=attributes | roles, guarantee=guarantee, publish=publish)


def known_of(release):
    """The column of the hospital's quasi-identifiers."""
    name = next(name for name in release.tables if name.startswith("main.age"))
    return release.tables[name].select("bucket", "age", "sex", "zipcode", "job")


def covers(label, value):
    """Whether a published label stands for a value, read as people read it."""
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low) <= float(value) <= float(high)
    return label == "*" or value in label.strip("{}").split(", ")


def believed(release, person, attribute):
    """What somebody with these quasi-identifiers is believed to have: her matching rows, batch by batch, and the batches' values."""
    known = release.tables["main.age+sex"]
    shown = release.tables[f"main.{attribute}"]
    weights = Counter()
    for bucket, age, sex in known.select("bucket", "age", "sex").iter_rows():
        weights[bucket] += covers(str(age), str(person["age"])) and covers(sex, person["sex"])
    belief, total = Counter(), sum(weights.values())
    for bucket, value in shown.select("bucket", attribute).iter_rows():
        size = int((shown["bucket"] == bucket).sum())
        belief[value] += weights[bucket] / total / size
    return belief


@given(
    st.lists(
        st.tuples(
            st.integers(20, 26), st.sampled_from("fm"), st.sampled_from("abcd"), st.sampled_from("xyz")
        ),
        min_size=9,
        max_size=30,
    ),
    st.sampled_from(["own", "groups"]),
    st.integers(1, 4),
)
@settings(max_examples=40, deadline=None)
def test_no_mixture_is_believed_beyond_the_bound(rows, batches, group_k):
    """Somebody who weighs all batches that match believes no value with more than one half, as promised of each batch."""
    frame = pl.DataFrame(rows, schema=["age", "sex", "ill", "pay"], orient="row")
    asked = policy(
        {"l": 2, "l_kind": "frequency"}, {"method": "angelize", "batches": batches, "group_k": group_k}
    )
    try:
        release = mv.publish(frame, asked, seed=1)
    except InfeasibleError:
        return
    assert mv.audit(release, frame, asked).kept
    for person in frame.select("age", "sex").unique().iter_rows(named=True):
        for attribute in ("ill", "pay"):
            assert max(believed(release, person, attribute).values()) <= 0.5 + 1e-9


@pytest.mark.parametrize("k", [2, 5, 10])
def test_groups_hide_people_as_generalize_does(k):
    """As many people are singled out as by Mondrian with the same k, and fewer than by anatomy."""
    frame, asked = mv.datasets.hospital(600), mv.datasets.hospital_policy(guarantee={"l": 2})

    def singled_out(guarantee, publish):
        own = asked.replaced(guarantee=guarantee, publish=publish)
        return mv.measure(mv.publish(frame, own, seed=1), frame, own)["singled_out"]

    ours = singled_out({"l": 2}, {"method": "angelize", "group_k": k})
    theirs = singled_out({"k": k}, {"method": "generalize", "recoding": "mondrian"})
    assert ours == theirs
    assert ours < singled_out({"l": 2}, {"method": "anatomize"}) == 1.0


def test_groups_have_as_many_rows_as_asked():
    """Every combination of labels is that of group_k rows or more, over all batches, while batches may be smaller."""
    frame = mv.datasets.hospital(500)
    asked = mv.datasets.hospital_policy(guarantee={"l": 2}, publish={"method": "angelize", "group_k": 7})
    release = mv.publish(frame, asked, seed=1)
    known = known_of(release)
    assert known.group_by(pl.exclude("bucket")).len()["len"].min() >= 7
    assert known.group_by("bucket").len()["len"].min() < 7


def test_a_promised_k_holds_for_groups_and_for_batches():
    """With k = 6 promised and group_k = 3 no group and no batch has fewer than six."""
    frame = mv.datasets.hospital(300)
    asked = mv.datasets.hospital_policy(guarantee={"k": 6, "l": 2}, publish=MANY)
    known = known_of(mv.publish(frame, asked, seed=1))
    assert known.group_by(pl.exclude("bucket")).len()["len"].min() >= 6
    assert known.group_by("bucket").len()["len"].min() >= 6


def test_rows_of_a_person_share_a_batch_and_groups_count_persons():
    """Of patients with several visits everything is kept, and every group has visits of as many patients as asked."""
    frame = mv.datasets.visits(300)
    asked = mv.datasets.visit_policy(publish={"method": "angelize", "group_k": 4})
    release = mv.publish(frame, asked, seed=1)
    assert mv.audit(release, frame, asked).kept
    assert release.rows == frame.height
    with pytest.raises(PolicyError, match="persons have several"):
        mv.publish(
            frame, mv.datasets.visit_policy(publish={"method": "angelize", "batches": "groups"}), seed=1
        )


def test_one_to_one_is_generalization_with_shuffled_columns():
    """With batches of groups, every batch has one label of each quasi-identifier."""
    frame = mv.datasets.hospital(300)
    asked = mv.datasets.hospital_policy(
        guarantee={"l": 2}, publish={"method": "angelize", "batches": "groups"}
    )
    release = mv.publish(frame, asked, seed=1)
    known = known_of(release)
    assert known.group_by("bucket").agg(pl.all().n_unique()).drop("bucket").max().rows() == [(1, 1, 1, 1)]
    assert not mv.attack(release, frame, asked, only=["fingerprint"], seed=1)["fingerprint"].promised


def test_a_table_smaller_than_a_group_is_one_group():
    """With fewer rows than group_k all of them are one group, and nothing is refused."""
    frame = pl.DataFrame(
        {"age": [1, 2, 3], "sex": ["f", "m", "f"], "ill": ["a", "b", "c"], "pay": ["x", "y", "z"]}
    )
    release = mv.publish(frame, policy({"l": 2}, {"method": "angelize"}), seed=1)
    assert release.tables["main.age+sex"].select("age", "sex").n_unique() == 1


def test_it_needs_something_sensitive():
    """Without a sensitive attribute it says to generalize."""
    roles = {name: {"role": "neutral"} for name in ("ill", "pay")}
    frame = pl.DataFrame({"age": [1, 2], "sex": ["f", "m"], "ill": ["a", "b"], "pay": ["x", "y"]})
    with pytest.raises(PolicyError, match="needs a sensitive attribute"):
        mv.publish(frame, policy({"k": 2}, {"method": "angelize"}, **roles), seed=1)


@pytest.mark.parametrize("suppression", [0.5, 0.8])
def test_who_is_left_has_a_group_where_others_were_left_out(suppression):
    """Persons with several rows are counted anew once somebody was left out."""
    frame = pl.DataFrame(
        {"id": ["p0", "p0", "p1", "p2", "p3", "p4", "p5", "p6"], "age": range(1, 9), "ill": list("aaaaaabc")}
    )
    wanted = mv.Policy(
        data={"person": "id"},
        attributes={"id": {"role": "identifier"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee={"l": 2, "l_kind": "frequency"},
        publish={"method": "angelize", "suppression": suppression, "group_k": 2},
    )
    for seed in range(3):
        release = mv.publish(frame, wanted, seed)
        assert 0 < release.rows < 8
        assert mv.audit(release, frame, wanted).kept
