"""Scores: intervals cover at their rate, ties are fair, people outside the data are people like those inside."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks.beliefs import Beliefs
from manyveils.attacks.chance import NORMAL, named_rightly, of_hits, of_mean, wilson
from manyveils.attacks.finding import _error, area_under_curve
from manyveils.attacks.people import drawn_people
from manyveils.attacks.scene import bounds_of_values
from manyveils.attacks.sparse_rows import Rows
from manyveils.table import hold, resolve


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


def test_intervals_of_people_cover():
    """Where a person is found out in three attributes or in none, the interval covers as for people, not attributes."""
    rng = np.random.default_rng(1)
    n, rate, covered, pooled = 150, 0.3, 0, 0
    for _ in range(1000):
        hits = 3.0 * (rng.random(n) < rate)
        low, high = of_hits(hits, np.full(n, 3.0), 0.0)
        covered += low <= rate <= high
        low, high = wilson(hits.sum(), 3 * n)
        pooled += low <= rate <= high
    assert 0.93 <= covered / 1000 <= 0.97
    assert pooled / 1000 < 0.85


def test_intervals_count_luck():
    """Where ties are broken by chance, the interval covers the share of guesses that come out right."""
    rng = np.random.default_rng(1)
    n, covered = 200, 0
    chances = rng.choice([0.0, 0.5, 1.0], n)
    for _ in range(1000):
        who = rng.choice(chances, n)
        low, high = of_hits(who, np.ones(n), float((who * (1 - who)).sum()))
        covered += low <= np.mean(rng.random(n) < chances.mean()) <= high
    # A guess that comes out varies as much again as the people do.
    assert 0.80 <= covered / 1000 <= 0.9
    mixed = np.array([0.0, 0.5, 0.5, 1.0] * 10)
    assert of_hits(mixed, np.ones(40), 20 * 0.25) == pytest.approx(wilson(20, 40))
    # Two guesses by chance about everybody are as many independent tries.
    assert of_hits(np.ones(50), np.full(50, 2.0), 100 * 0.25) == pytest.approx(wilson(50, 100))


def test_intervals_of_means_cover():
    """The interval of a mean belief covers at its rate, and is narrower than that of a share where beliefs are alike."""
    rng = np.random.default_rng(1)
    n, covered = 200, 0
    for _ in range(1000):
        low, high = of_mean(rng.beta(2, 6, n), np.ones(n))
        covered += low <= 0.25 <= high
    assert 0.93 <= covered / 1000 <= 0.97
    low, high = of_mean(np.full(n, 0.25), np.ones(n))
    assert low == pytest.approx(high) == pytest.approx(0.25)


def test_a_small_control_is_unsure():
    """What is right a little more often than of few people outside may be chance; of many it is knowledge."""
    few, many = (
        mv.Outcome(
            "x", "", "exact", success=0.5, low=0.49, high=0.51, baseline=0.3, control=0.48, control_unsure=u
        )
        for u in (0.03, 0.003)
    )
    assert (few.standing, many.standing) == ("nothing learnt", "within bounds")


def test_bounds_are_those_of_the_rule():
    """A promise caps what those believe who know what it speaks of, and not what is known to others."""
    frame = pl.DataFrame({"a": list("xy") * 6, "b": list("uuvv") * 3, "s": list("123456") * 2})
    policy = mv.Policy(
        attributes={name: {"role": "neutral", "kind": "categorical"} for name in "abs"},
        rules=[{"given": ["a"], "protect": "s", "l": 2}, {"given": ["b"], "protect": "s", "l": 4}],
    )
    table, _ = hold(frame, policy)
    promises = resolve(policy, table)
    for known, cap in (("a", 1 / 2), ("b", 1 / 4)):
        assert set(bounds_of_values(promises, table["s"], (known,)).cap) == {cap}
    bounds = bounds_of_values(promises, table["s"], ("a", "b"))
    assert not bounds.promised.any()
    assert bounds.cap == pytest.approx((1 + 1 / 6) / 2)


def test_a_cap_of_certainty_is_none():
    """A promise that allows certainty caps nothing, so whoever is known for certain is beyond half of the doubt."""
    frame = pl.DataFrame({"q": list("ab") * 10, "s": list("uv") * 10})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"t": 0.5, "ground": "equal"},
    )
    found = mv.attack(mv.publish(frame, policy), frame, policy, only=["homogeneity"], seed=1)["homogeneity"]
    assert (found.certain, found.broken, found.promised) == (20, 20, 0)


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
    beliefs = Beliefs(Rows.of(np.array([[0.4, 0.4, 0.2]])), np.zeros(3, dtype=np.int64))
    assert beliefs.right(np.array([0, 1, 2])).tolist() == [0.5, 0.5, 0.0]


def test_drawn_people_resemble_members():
    """Non-members who are drawn have the table's shares and its strong relations, and not its rows."""
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
    drawn = drawn_people(table, ("one", "two", "own"), 5000, np.random.default_rng(2))
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


def test_control_with_values_of_its_own():
    """People outside with values that nobody in the data has are a control that nothing is known of."""
    frame = pl.DataFrame({"q": list("ab") * 10, "s": list("uv") * 10})
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    outside = pl.DataFrame({"q": ["new", "newer"], "s": ["new", "newer"]})
    found = mv.attack(mv.publish(frame, policy), frame, policy, control=outside, seed=1)
    assert (found["homogeneity"].control, found["linkage"].control) == (0.0, 0.0)


def test_numbers_however_written():
    """A control, or data, with fractions of nothing behind whole numbers has the same people."""
    frame = pl.DataFrame({"q": [place % 5 for place in range(40)], "s": list("uvwx") * 10})
    policy = mv.Policy(attributes={"q": {"role": "quasi", "kind": "numeric"}, "s": {"role": "sensitive"}})
    release = mv.publish(frame, policy)
    floats = frame.with_columns(pl.col("q").cast(float) + pl.Series([0.5, *[0.0] * 39]))
    found = mv.attack(release, frame, policy, only=["linkage"], control=floats, seed=1)["linkage"]
    assert found.control == pytest.approx(39 / 40 / 8)


def test_verdicts_speak_plainly():
    """A verdict says how often an attack is right, what guessing gets, and whether a promise or none caps what is known."""
    frame = pl.DataFrame({"q": list("ab") * 10, "s": list("uv") * 10})
    policy = mv.Policy(
        attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}}, publish={"method": "generalize"}
    )
    found = mv.attack(mv.publish(frame, policy), frame, policy, seed=1)
    said = found["homogeneity"].verdict
    assert "Right for 100 % of 20 targets; guessing gets 50 %" in said
    assert "20 are known well where no promise caps it; 20 for certain" in said
    assert found["homogeneity"].standing == "not promised"
    assert "are known well by homogeneity" in found.verdict
    assert "nothing was promised against that" in found.verdict
    promising = policy.replaced(guarantee={"l": 2, "l_kind": "frequency"})
    found = mv.attack(mv.publish(frame, policy), frame, promising, seed=1)
    assert "20 are beyond a promised bound; 20 for certain" in found["homogeneity"].verdict
    assert found["homogeneity"].standing == "broken"
    assert "known better than a promised bound by homogeneity" in found.verdict
    assert found["dependency"].verdict.startswith("Does not apply:")
    assert found["dependency"].success is None


def test_who_is_surest_is_named_first():
    """With no mistake allowed only those count who are believed more than the first mistake; with some, more do."""
    best = np.array([1.0] * 10 + [0.8] * 10 + [0.3] * 80)
    right = np.array([1.0] * 10 + [1.0] * 9 + [0.0] + [0.25] * 80)
    assert named_rightly(best, right, 0.0) == pytest.approx(0.1)
    assert named_rightly(best, right, 0.01) == pytest.approx(0.19)
    assert named_rightly(best, right, 1.0) == pytest.approx(0.39)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.05, 0.3]),
)
def test_naming_is_what_walking_down_gives(people, rate):
    """It is the same as naming one belief after the other until the next would name too many wrongly."""
    best, right = (np.array(part, dtype=np.float64) for part in zip(*people, strict=True))
    named = wrong = 0.0
    for belief in sorted({*best.tolist()}, reverse=True):
        among = best == belief
        wrong += float((1 - right[among]).sum())
        if wrong > rate * len(people) + 1e-9:
            break
        named += float(right[among].sum())
    assert named_rightly(best, right, rate) == pytest.approx(named / len(people))


def test_attacks_that_believe_tell_whom_they_name():
    """Where three are alike and certain, they are named without a mistake; without the release nobody is."""
    frame = pl.DataFrame({"age": [1] * 3 + [2] * 3, "ill": ["flu"] * 3 + ["flu", "cold", "gout"]})
    policy = mv.Policy(
        attributes={"age": {"role": "quasi", "kind": "numeric"}, "ill": {"role": "sensitive"}},
        publish={"method": "generalize"},
    )
    found = mv.attack(mv.publish(frame, policy, seed=1), frame, policy, seed=1)
    assert found["homogeneity"].true_positives == {"0.001": 0.5, "0.01": 0.5}
    assert found["skewness"].true_positives is None
    assert set(found["membership"].true_positives) == {"0.001", "0.01"}
