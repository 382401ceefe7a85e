"""Intersection: views that are fine alone and give people away together."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks.scene import Scene
from manyveils.attacks.several import intersection as attack
from manyveils.datasets import versatile_patients, versatile_rules
from manyveils.release import Draft, seal
from manyveils.table import Streams, hold
from tests.kit.drafts import printed_drafts

TABLE_2 = {
    ("age", "icd", "race"): [(1, 6), (5, 4), (3, 2)],
    ("gender", "icd", "zipcode"): [(1, 6), (5, 4), (3, 2)],
    ("hospital", "race", "zipcode"): [(1, 3), (4, 2), (6, 5)],
}
TABLE_3 = {("gender", "icd", "hospital", "age"): [], ("race", "zipcode"): [(1, 3), (4, 2), (6, 5)]}


def attacked(tables, rules):
    """The outcome on views of the running example of paper 002, with rows as the paper numbers them."""
    frame = versatile_patients()
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in frame.columns}, guarantee={"l": 2}, rules=rules
    )
    drafts = printed_drafts(tables, 6)
    table, restore = hold(frame, policy)
    release = seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(1))
    return attack(Scene(release, table, policy, streams=Streams(1)))


def test_table_2():
    """Who knows hospital and race is certain of four zipcodes, none of which a table gives away alone."""
    found = attacked(TABLE_2, versatile_rules()[2:])
    assert found.how == "exact"
    assert (found.targets, found.certain, found.worst) == (6, 4, 1.0)
    assert found.details["certain_alone"] == found.details["broken_alone"] == 0
    assert found.details["certain_by_combining"] == 4


def test_table_3():
    """Tables in Guardian Normal Form share nothing that could be combined."""
    found = attacked(TABLE_3, versatile_rules())
    assert not found.applies
    assert "nothing to combine" in found.verdict


@pytest.mark.parametrize("name", ["t0", "71000", "asian", "alcoholism"])
def test_nobody_is_named(name):
    """What is said of an attack has no cell of the data in it."""
    found = attacked(TABLE_2, versatile_rules())
    assert name not in repr(found)
    assert name not in str(found.describe())


def test_views_that_agree():
    """Two views with the same buckets say the same, and combining them gains nothing."""
    rng = np.random.default_rng(1)
    n = 60
    frame = pl.DataFrame(
        {
            "a": rng.integers(0, 4, n).astype(str),
            "b": rng.integers(0, 3, n).astype(str),
            "s": np.tile(["flu", "hiv", "ulcer"], n // 3),
        }
    )
    policy = mv.Policy(
        attributes={"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"l": 3, "l_kind": "frequency"},
    )
    table, restore = hold(frame, policy)
    buckets = np.arange(n) // 3
    drafts = [Draft("one", (("a", "b"), ("s",)), np.arange(n), buckets)]
    drafts.append(Draft("two", (("a", "b"),), np.arange(n)))
    release = seal(drafts, table, policy, restore, notes={}, rng=rng)
    found = attack(Scene(release, table, policy, streams=Streams(1)))
    assert found.details["broken_by_combining"] == found.details["certain_by_combining"] == 0


@pytest.mark.parametrize("name", ["profile", "share", "belief", "part", "value", "people"])
def test_any_attribute_can_be_combined(released, scene_of, name):
    """An attribute may have any name, also one that the attack has a use for itself."""
    rows = [("x", "p", "u"), ("x", "q", "v"), ("y", "p", "v"), ("y", "q", "u")]
    frame = pl.DataFrame(rows, schema=[name, "b", "s"], orient="row")
    policy = mv.Policy(
        attributes={name: {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}}
    )
    release = released(frame, policy, [(name, "b")], [(name, "s")])
    found = attack(scene_of(release, frame, policy))
    assert (found.targets, found.success, found.how) == (4, 0.5, "exact")
