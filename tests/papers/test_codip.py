"""CODIP: the paper's worked cases, and the numbers of docs/reproductions/codip.md that need no search."""

import gzip
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import codip_patients
from manyveils.methods import Work, read_options
from manyveils.methods.codip.anonymized import closeness, gauges
from manyveils.methods.codip.association import associate
from manyveils.methods.codip.frontier import frontier_of
from manyveils.methods.codip.merging import merged_plan
from manyveils.methods.entries import count
from manyveils.table import Streams, hold, resolve

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "census-income"
SENSITIVE = ("diagnosis", "family_history", "job")
QUASI = ("race", "gender")

needs_census = pytest.mark.skipif(
    not FOLDER.exists(), reason="the Census-Income data are not beside the project (../shared/data)"
)


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
        gauge = gauges(work)[name]
        entries = count(gauge.subject, np.array(groups), 2)
        assert closeness(gauge, entries, np.array([2, 2])) == expected


def test_background_join_finds_nothing_new_across_tables():
    """Example 2: no table shows job beside a diagnosis, so being a teacher gives no diagnosis away."""
    release = mv.publish(codip_patients(), table_1(beta=0.25), seed=1)
    for view in release.views:
        assert not {"diagnosis", "job"} <= set(view.attributes)


@pytest.fixture(scope="module")
def census():
    """The paper's fifteen sensitive attributes, as 0/1 columns where the paper derives them."""
    names = (FOLDER / "columns.txt").read_text(encoding="utf-8").split()
    lines = gzip.decompress((FOLDER / "census-income.data.gz").read_bytes()).decode("ascii").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    place = {name: number for number, name in enumerate(names)}
    kept = [row for row in rows if row[place["major_occupation_code"]] != "Not in universe"]

    def column(name):
        return [row[place[name]] for row in kept]

    household = [text.lower() for text in column("detailed_household_and_family_stat")]
    derived = {
        "married": [text.startswith("Married") for text in column("marital_stat")],
        "under-18": ["<18" in text or "under 18" in text for text in household],
        "descendent": ["child" in text for text in household],
        "subfamily": [
            "subfamily" in text and "not in subfamily" not in text and "not in a subfamily" not in text
            for text in household
        ],
    }
    plain = {
        "worker_class": "class_of_worker",
        "education": "education",
        "industry": "major_industry_code",
        "employment_status": "full_or_part_time_employment_stat",
        "business_status": "own_business_or_self_employed",
        "salary_class": "income",
        "occupation": "major_occupation_code",
    }
    cut = {
        "wage_per_hour": "wage_per_hour",
        "dividend": "dividends_from_stocks",
        "capital_gain": "capital_gains",
        "capital_loss": "capital_losses",
    }
    return pl.DataFrame(
        {
            **{ours: column(theirs) for ours, theirs in plain.items()},
            **{ours: [str(float(x) > 0) for x in column(theirs)] for ours, theirs in cut.items()},
            **{ours: [str(x) for x in found] for ours, found in derived.items()},
        }
    )


@needs_census
def test_census_income(census):
    """The merges of CODIP* on Census-Income give the ratios of the worked numbers, and the frontier betters them."""
    assert census.height == 98_839
    names = tuple(census.columns)
    policy = mv.Policy(attributes={name: {"role": "sensitive"} for name in names})
    association = associate(hold(census, policy)[0], policy, names)
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
