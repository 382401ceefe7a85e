"""Several releases of the same people: inserted rows leak by anatomy, a repeated release does not."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks.adversaries import Reader
from manyveils.attacks.people import members
from manyveils.attacks.several import Collector
from manyveils.table import hold


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {"q": [f"{seed}-{place}" for place in range(n)], "s": rng.integers(0, 20, n).astype(str)}
    )


POLICY = mv.Policy(
    attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
    guarantee={"l": 3, "l_kind": "frequency"},
    publish={"method": "anatomize"},
)


def test_inserted_rows_leak():
    """A grown table, published again by anatomy, makes values certain of which each release leaves three."""
    first = people(600, 1)
    grown = pl.concat([first, people(60, 2)])
    one, two = mv.publish(first, POLICY, seed=1), mv.publish(grown, POLICY, seed=2)
    alone = mv.attack(one, first, POLICY, only=["homogeneity"], seed=1)["homogeneity"]
    assert (alone.certain, alone.broken) == (0, 0)
    found = mv.attack(one, first, POLICY, only=["sequential"], others=[two], seed=1)["sequential"]
    assert found.details["releases"] == 2
    assert found.details["success_with_one"] == pytest.approx(1 / 3, abs=0.01)
    assert found.success > 0.5
    assert found.certain > 100
    assert found.standing == "broken"


def test_the_same_release_again():
    """The same buckets twice say what they said once."""
    first = people(600, 1)
    release = mv.publish(first, POLICY, seed=1)
    found = mv.attack(release, first, POLICY, only=["sequential"], others=[release], seed=1)["sequential"]
    assert found.certain == 0
    assert found.broken == 0
    assert found.success == pytest.approx(found.details["success_with_one"])


def test_two_releases_by_hand(released):
    """What two releases say is multiplied and divided by how common a value is: three quarters, worked out by hand."""
    frame = pl.DataFrame({"q": list("abcdef"), "s": list("uuvvvw")})
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    one = released(frame, policy, [("q",), ("s",)], buckets=[0, 1, 0, 1, 1, 0])
    two = released(frame, policy, [("q",), ("s",)], buckets=[0, 0, 0, 1, 1, 1])
    table, _ = hold(frame, policy)
    collector = Collector((Reader(one, table, policy), Reader(two, table, policy)))
    beliefs = collector.beliefs(members(table, 10, np.random.default_rng(1)), ("q",), "s")
    # a: u or v or w (1/3 each), then u twice and v once in three: 1/3 * 2/3 / (1/3) against 1/3 * 1/3 / (1/2).
    assert beliefs.of([0]).dense()[0].tolist() == pytest.approx([3 / 4, 1 / 4, 0])
    again = Collector((Reader(two, table, policy), Reader(two, table, policy)))
    beliefs = again.beliefs(members(table, 10, np.random.default_rng(1)), ("q",), "s")
    assert beliefs.of([0]).dense()[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0])


def test_beliefs_that_do_not_come_true(released):
    """The same groups with a few more rows make beliefs stronger and no truer, and that breaks nothing."""
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    groups = [(group, group % 3) for group in range(60)]
    rows = [(f"g{group}", f"v{(kind + step) % 3}") for group, kind in groups for step in (0, 0, 1)]
    more = [(f"g{group}", f"v{(kind + 2) % 3}") for group, kind in groups]
    first, grown = (pl.DataFrame(each, schema=["q", "s"], orient="row") for each in (rows, rows + more))
    one, two = (released(frame, policy, [("q", "s")]) for frame in (first, grown))
    found = mv.attack(one, first, policy, only=["sequential"], others=[two], seed=1)["sequential"]
    assert found.worst == pytest.approx(4 / 5)
    assert found.success == pytest.approx(found.details["success_with_one"])
    assert (found.broken, found.certain) == (0, 0)


def test_secret_values_say_nothing():
    """A later release of the same people in codes does not spoil what the first one says."""
    first = people(600, 1)
    graded = mv.publish(first, POLICY.replaced(guarantee={}, publish={"method": "grade"}), seed=1)
    release = mv.publish(first, POLICY, seed=1)
    found = mv.attack(release, first, POLICY, only=["sequential"], others=[graded], seed=1)["sequential"]
    assert found.success == pytest.approx(found.details["success_with_one"])


def test_tables_apart():
    """Two releases that tie nothing together say no more than guessing."""
    first = people(600, 1)
    policy = POLICY.replaced(publish={"method": "separate"})
    release = mv.publish(first, policy, seed=1)
    found = mv.attack(release, first, policy, only=["sequential"], others=[release], seed=1)["sequential"]
    assert found.success == pytest.approx(found.baseline)
    assert (found.certain, found.broken) == (0, 0)


def test_one_release():
    """With one release there is nothing to combine, and the outcome says what to give."""
    first = people(60, 1)
    found = mv.attack(mv.publish(first, POLICY, seed=1), first, POLICY, only=["sequential"])["sequential"]
    assert "--other" in found.reason
