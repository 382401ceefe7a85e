"""CODIP: the paper's worked cases, and the numbers of docs/reproductions/codip.md that need no search."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

import manyveils as mv
from benchmarks.reproductions import census
from manyveils.datasets import codip_patients
from manyveils.methods import Work, read_options
from manyveils.methods.codip.anonymizers import closeness, watch_gauges
from manyveils.methods.codip.association import associate, frontier_of
from manyveils.methods.codip.search import merged_plan
from manyveils.promises.entries import count
from manyveils.table import Streams, hold, resolve

SENSITIVE = ("diagnosis", "family_history", "job")
QUASI = ("race", "gender")

needs_census = pytest.mark.skipif(not census.is_here(), reason=census.MISSING)


def table_1(**publish):
    """A policy for Table 1(a)."""
    roles = {name: {"role": "quasi"} for name in QUASI} | {name: {"role": "sensitive"} for name in SENSITIVE}
    return mv.Policy(attributes=roles, guarantee={"k": 2}, publish={"method": "codip", **publish})


def test_table_1_information():
    """Every two attributes of Table 1(a) share ln 2."""
    policy = table_1()
    association = associate(hold(codip_patients(), policy)[0], policy, SENSITIVE)
    off_diagonal = association.information[~np.eye(3, dtype=bool)]
    assert off_diagonal == pytest.approx(log(2))


def test_table_1_plan():
    """Diagnosis with family history, and job apart, loses 2/3 and exposes 2/9, as `plan` and the search both say."""
    parted = [["diagnosis", "family_history"], ["job"]]
    for publish in ({"plan": parted}, {"beta": 0.25}):
        notes = mv.publish(codip_patients(), table_1(**publish), seed=1).notes
        assert notes["plan"] == parted
        assert notes["association_loss"] == pytest.approx(2 / 3, abs=1e-6)
        assert notes["information_exposure"] == pytest.approx(2 / 9, abs=1e-6)
        assert notes["reduction_of_join_threat"] == pytest.approx(7 / 9, abs=1e-6)


@pytest.mark.parametrize(
    ("groups", "distances"),
    [
        ([0, 0, 1, 1], {"diagnosis": 0.5}),
        ([0, 1, 0, 1], {"diagnosis": 0.25, "family_history": 0.5}),
        ([0, 1, 1, 0], {"diagnosis": 0.25, "job": 0.5}),
    ],
    ids=["b", "c", "d"],
)
def test_table_1_closeness(groups, distances):
    """Groupings (b), (c) and (d) of Table 1 are as close as the paper says."""
    policy = table_1()
    table, _ = hold(codip_patients(), policy)
    work = Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))
    for name, expected in distances.items():
        gauge = watch_gauges(work, ())[1][name]
        entries = count(gauge.subject, np.array(groups), 2)
        assert closeness(gauge, entries, np.array([2, 2])) == expected


def test_promises_and_gauges_share_their_counts():
    """A promise about an attribute and the measure of its closeness are counted once."""
    policy = table_1().replaced(guarantee={"l": 2})
    table, _ = hold(codip_patients(), policy)
    work = Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))
    watches, gauges = watch_gauges(work, work.promises)
    assert {each.promise.protects for each in watches} == {(name,) for name in SENSITIVE}
    assert all(each.subject is gauges[each.promise.protects[0]].subject for each in watches)


def test_background_join_finds_nothing_new_across_tables():
    """Example 2: no table shows job beside a diagnosis, so being a teacher gives no diagnosis away."""
    release = mv.publish(codip_patients(), table_1(beta=0.25), seed=1)
    for view in release.views:
        assert not {"diagnosis", "job"} <= set(view.attributes)


@needs_census
def test_census_income():
    """The merges of CODIP* on Census-Income give the ratios of the worked numbers, and the frontier betters them."""
    policy = mv.Policy(attributes=census.attributes())
    table, _ = hold(census.read(), policy)
    names = table.expand(policy.sensitive)
    assert (table.n_rows, len(names)) == (98_839, 15)
    association = associate(table, policy, names)
    parts = tuple((each,) for each in range(len(names)))
    _, merges = merged_plan(association, parts, lambda part: True, Fraction(1), patient=False)
    found = {
        len(merge.plan): (float(association.loss(merge.plan)), float(association.exposure(merge.plan)))
        for merge in merges
    }
    assert {names[member] for member in merges[0].members} == {"industry", "occupation"}
    expected = {9: (0.2239, 0.0974), 8: (0.1844, 0.1393), 7: (0.1664, 0.1948), 2: (0.1180, 0.5700)}
    for n_tables, ratios in expected.items():
        assert found[n_tables] == pytest.approx(ratios, abs=1e-4)
    frontier = frontier_of(association, parts)
    for loss, exposure in found.values():
        best = frontier.best_within(Fraction(exposure))
        assert frontier.loss(best) <= loss + 1e-9
