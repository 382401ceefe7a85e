"""Scores: intervals cover at their rate, ties are fair, people outside the data are people like those inside."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks.beliefs import Beliefs
from manyveils.attacks.membership import _error, area_under_curve
from manyveils.attacks.score import NORMAL, wilson
from manyveils.attacks.strangers import strangers
from manyveils.table import hold


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_intervals_cover(n):
    """Over many rates, the interval of a success rate holds the truth in 95 of 100 simulations."""
    rng = np.random.default_rng(1)
    rates = np.linspace(0.02, 0.98, 25)
    covered = [
        np.mean(
            [
                low <= rate <= high
                for low, high in (wilson(x, n) for x in rng.binomial(n, rate, 2000).tolist())
            ]
        )
        for rate in rates
    ]
    assert 0.94 <= np.mean(covered) <= 0.97
    assert min(covered) > 0.83


def test_intervals_of_curves_cover():
    """The interval of an area under the curve holds the truth in about 95 of 100 simulations."""
    rng = np.random.default_rng(1)
    truth, hits = 0.7602, 0
    for _ in range(400):
        inside, outside = rng.normal(1.0, 1.0, 80), rng.normal(0.0, 1.0, 80)
        area = area_under_curve(inside, outside)
        hits += abs(area - truth) <= NORMAL * _error(area, 80, 80)
    assert 0.91 <= hits / 400 <= 0.98


def test_ties_are_fair():
    """Among values that are equally likely a guess is right as often as chance says."""
    beliefs = Beliefs(np.array([[0.4, 0.4, 0.2]]), np.zeros(3, dtype=np.int64))
    assert beliefs.right(np.array([0, 1, 2])).tolist() == [0.5, 0.5, 0.0]


def test_strangers_resemble_people():
    """Strangers have the table's shares and its strong relations, and not its rows."""
    rng = np.random.default_rng(1)
    one = rng.integers(0, 3, 4000)
    frame = pl.DataFrame(
        {
            "one": one,
            "two": np.where(rng.random(4000) < 0.9, one, rng.integers(0, 3, 4000)),
            "own": np.arange(4000),
        }
    )
    policy = mv.Policy(
        attributes={"one": {"role": "quasi"}, "two": {"role": "sensitive"}, "own": {"role": "neutral"}}
    )
    table, _ = hold(frame, policy)
    drawn = strangers(table, ("one", "two", "own"), 5000, np.random.default_rng(2))
    assert np.mean(drawn.codes["one"] == 0) == pytest.approx(np.mean(one == 0), abs=0.03)
    assert np.mean(drawn.codes["one"] == drawn.codes["two"]) == pytest.approx(0.933, abs=0.03)
    # A number that everybody has of her own decides nothing.
    alike = one[drawn.codes["own"]] == drawn.codes["one"]
    assert np.mean(alike) == pytest.approx(1 / 3, abs=0.05)


def test_control_is_taken():
    """People who are known not to be in the data are the control group, also with values nobody in the data has."""
    frame = pl.DataFrame({"q": list("ab") * 10, "s": list("uv") * 10})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}}, publish={"method": "generalize"}
    )
    release = mv.publish(frame, policy)
    outside = pl.DataFrame({"q": ["a", "a", "b", "new"], "s": ["u", "v", "v", "new"]})
    found = mv.attack(release, frame, policy, only=["homogeneity"], control=outside)["homogeneity"]
    assert (found.success, found.control, found.baseline) == (1.0, 0.5, 0.5)


def test_verdicts_speak_plainly():
    """A verdict says how often an attack is right, what guessing gets, and how many are beyond the bound."""
    frame = pl.DataFrame({"q": list("ab") * 10, "s": list("uv") * 10})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}}, publish={"method": "generalize"}
    )
    found = mv.attack(mv.publish(frame, policy), frame, policy, seed=1)
    said = found["homogeneity"].verdict
    assert "Right for 100 % of 20 targets; guessing gets 50 %" in said
    assert "20 targets are beyond the bound, 20 of them certain" in said
    assert "homogeneity" in found.verdict
    assert found["dependency"].verdict.startswith("Does not apply:")
    assert found["dependency"].success is None
