"""Several releases of the same people: inserted rows leak by anatomy, a repeated release does not."""

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks.adversaries import Reader
from manyveils.attacks.composition import Collector, Composer
from manyveils.attacks.people import members
from manyveils.attacks.worlds import Limits
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


def test_beliefs_that_do_not_come_true(released, monkeypatch):
    """The same groups with a few more rows make beliefs stronger and no truer, and that breaks nothing; worlds do not."""
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    groups = [(group, group % 3) for group in range(60)]
    rows = [(f"g{group}", f"v{(kind + step) % 3}") for group, kind in groups for step in (0, 0, 1)]
    more = [(f"g{group}", f"v{(kind + 2) % 3}") for group, kind in groups]
    first, grown = (pl.DataFrame(each, schema=["q", "s"], orient="row") for each in (rows, rows + more))
    one, two = (released(frame, policy, [("q", "s")]) for frame in (first, grown))
    for most, how, worst in ((20_000, "exact", 2 / 3), (0, "estimate", 4 / 5)):
        monkeypatch.setattr("manyveils.attacks.composition.MOST_COMPOSED", most)
        found = mv.attack(one, first, policy, only=["sequential"], others=[two], seed=1)["sequential"]
        assert found.how == how
        assert found.worst == pytest.approx(worst)
        assert found.success == pytest.approx(found.details["success_with_one"])
        assert (found.broken, found.certain) == (0, 0)


def test_whoever_is_in_one_release_only(released):
    """A product tells nothing more of people whom the other release has no row for, though it has few values."""
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    first = pl.DataFrame({"q": list("aabbcc"), "s": list("uvuvuv")})
    other = pl.DataFrame({"q": list("aadd"), "s": list("uuuu")})
    one, two = (released(frame, policy, [("q", "s")]) for frame in (first, other))
    table, _ = hold(first, policy)
    collector = Collector((Reader(one, table, policy), Reader(two, table, policy)))
    beliefs = collector.beliefs(members(table, 10, np.random.default_rng(1)), ("q",), "s")
    assert beliefs.of(np.arange(6)).dense().tolist() == [[1, 0]] * 2 + [[0.5, 0.5]] * 4


def test_groups_with_less_room_than_people_who_fit(released):
    """Where more people fit a group than it has, nobody says who is in it; of other groups worlds are counted all the same."""
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    first = pl.DataFrame({"q": list("aaabb"), "s": list("uvwuv")})
    one, two = (released(frame, policy, [("q", "s")]) for frame in (first, first[1:]))
    table, _ = hold(first, policy)
    composer = Composer(Collector((Reader(one, table, policy), Reader(two, table, policy))), Limits())
    assert not composer.is_exact(("q",), "s")
    _, is_told = composer.shared(("q",), "s")
    assert is_told.tolist() == [False] * 3 + [True] * 2


def worlds_of(groups_of, counts, values):
    """Every way to give everybody a value so that all groups have their counts."""
    for world in product(values, repeat=len(groups_of)):
        told = {group: Counter() for group in counts}
        for own, value in zip(groups_of, world, strict=True):
            for group in own:
                told[group][value] += 1
        if told == counts:
            yield world


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_two_publishers_by_all_worlds(released, data):
    """What two releases tell together, of whom no ledger says who is in both, is the share of all worlds."""
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    n = data.draw(st.integers(3, 7))
    values = [data.draw(st.sampled_from("uvw")) for _ in range(n)]
    both = [sorted(data.draw(st.frozensets(st.integers(0, n - 1), min_size=1))) for _ in range(2)]
    whole = data.draw(st.booleans())
    buckets = [[data.draw(st.integers(0, 1)) for _ in own] for own in both]
    buckets = [np.unique(own, return_inverse=True)[1].tolist() for own in buckets]
    releases, groups_of, counts = [], [set() for _ in range(n)], {}
    for number, (own, bucket_of) in enumerate(zip(both, buckets, strict=True)):
        for person, bucket in zip(own, bucket_of, strict=True):
            groups_of[person].add((number, bucket))
            counts.setdefault((number, bucket), Counter())[values[person]] += 1
        names = [f"b{number}{bucket}" for bucket in bucket_of]
        frame = pl.DataFrame({"q": [f"p{person}" for person in own], "s": [values[person] for person in own]})
        if whole:
            covers = {
                name: [f"p{person}" for person, label in zip(own, names, strict=True) if label == name]
                for name in names
            }
            releases.append(released(frame, policy, [("q", "s")], recodings={"q": (names, covers)}))
        else:
            releases.append(released(frame, policy, [("q",), ("s",)], buckets=bucket_of))
    frame = pl.DataFrame({"q": [f"p{person}" for person in range(n)], "s": values})
    table, _ = hold(frame, policy)
    composer = Composer(Collector(tuple(Reader(own, table, policy) for own in releases)), Limits())
    found = composer.beliefs(members(table, 10, np.random.default_rng(1)), ("q",), "s")
    dense, texts = found.of(np.arange(n)).dense(), table["s"].texts
    every = list(worlds_of(groups_of, counts, sorted({*values})))
    for person in range(n):
        if groups_of[person]:
            share = [sum(world[person] == text for world in every) / len(every) for text in texts]
            assert dense[person, : len(texts)].tolist() == pytest.approx(share)
    assert composer.is_exact(("q",), "s") == all(groups_of)


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
