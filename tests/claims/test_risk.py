"""Measures of how likely people are found: prosecutor, journalist, marketer, and by sampling weights."""

import math

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.errors import DataError, PolicyError
from manyveils.utility.risk import benedetti_franconi

DESCRIBED = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}}
PEOPLE = pl.DataFrame({"age": [1, 1, 1, 1, 2, 2, 2, 2], "sex": list("ffmmfmmm"), "ill": ["flu", "cold"] * 4})


def measured(frame=PEOPLE, attributes=DESCRIBED, **sections):
    """What is measured of a release of the people as they are."""
    policy = mv.Policy(attributes=attributes, **sections)
    return mv.measure(mv.publish(frame, policy, seed=1), frame, policy)


def test_risks_of_a_sample_are_counted():
    """Groups of 2, 2, 1 and 3: the highest risk is 1, four of eight are found on average, and all but the three are at risk."""
    found = measured()
    assert found["prosecutor_risk"] == {"highest": 1.0, "average": 0.5, "at_risk": 1.0}
    assert found["marketer_risk"] == 0.5
    assert found["sample_uniques"] == 0.125
    # The policy's own bound counts, and groups at it are not at risk.
    release = mv.publish(PEOPLE, mv.Policy(attributes=DESCRIBED), seed=1)
    bounded = mv.Policy(attributes=DESCRIBED, guarantee={"prosecutor_risk": 0.5})
    assert mv.measure(release, PEOPLE, bounded)["prosecutor_risk"]["at_risk"] == 0.125


def test_journalist_risk_counts_the_population(tmp_path):
    """Risks against a list of all people are those of their numbers, as ARX averages them."""
    population = pl.concat([PEOPLE, PEOPLE, PEOPLE.filter(pl.col("sex") == "m")]).drop("ill")
    population.write_csv(tmp_path / "all.csv")
    found = measured(population={"source": str(tmp_path / "all.csv")})
    alike, sizes = np.array([4, 6, 2, 9]), np.array([2, 2, 1, 3])
    assert found["journalist_risk"] == pytest.approx(
        {
            "highest": 1 / 2,
            "average": max(4 / alike.sum(), (sizes / alike).sum() / 8),
            "at_risk": 3 / 8,
        }
    )
    assert set(found["population_uniques"]) <= {"zayatz", "pitman", "snb", "dankar"}


def test_persons_are_counted_and_not_rows():
    """Who has four rows of a group is found among the persons of it."""
    frame = PEOPLE.with_columns(who=pl.Series(list("aabbcccd")), sex=pl.lit("f"))
    described = DESCRIBED | {"who": {"role": "identifier"}}
    found = measured(frame, described, data={"person": "who"}, population={"size": 100})
    assert found["prosecutor_risk"]["highest"] == 0.5
    assert found["marketer_risk"] == 0.5
    assert found["special_uniques"]["people"] == 0


# The example of Capobianchi, Polettini and Lucarelli as sdcMicro has it (francdat): keys, weights.
FRANCDAT = pl.DataFrame(
    {
        "key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)
SIZES = np.array([2, 2, 2, 1, 1, 1, 1, 2])
ESTIMATED = np.array([110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0])
RISKS = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]


def test_individual_risk_is_sdcmicros():
    """fk, Fk and the individual risk of sdcMicro's francdat, and what is measured of it."""
    assert benedetti_franconi(SIZES, ESTIMATED) == pytest.approx(RISKS, abs=1e-8)
    described = {f"key{number}": {"role": "quasi"} for number in range(1, 5)} | {"w": {"role": "neutral"}}
    found = measured(FRANCDAT, described, accept=["neutral-unique: w"], population={"weights": "w"})
    assert found["individual_risk"] == pytest.approx(
        {"highest": max(RISKS), "average": sum(RISKS) / 8, "expected_found": sum(RISKS)}, abs=1e-7
    )


def test_weights_need_not_be_published():
    """A weight that is dropped is read and does not appear in the release."""
    described = {f"key{number}": {"role": "quasi"} for number in range(1, 5)} | {"w": {"role": "drop"}}
    policy = mv.Policy(attributes=described, population={"weights": "w"})
    release = mv.publish(FRANCDAT, policy, seed=1)
    assert all("w" not in view.attributes for view in release.views)
    assert mv.measure(release, FRANCDAT, policy)["individual_risk"]["highest"] == pytest.approx(
        max(RISKS), abs=1e-8
    )


def test_individual_risk_by_its_integral():
    """The risk of groups of one and of two is the mean of one over a negative binomial population size, summed term by term."""
    for size, estimated in ((1, 7.5), (2, 30.0)):
        share, expected = size / estimated, 0.0
        for people in range(size, 5000):
            expected += (
                math.comb(people - 1, size - 1) * share**size * (1 - share) ** (people - size) / people
            )
        [found] = benedetti_franconi(np.array([size]), np.array([estimated]))
        assert found == pytest.approx(expected, rel=1e-9)
    assert benedetti_franconi(np.array([1, 4]), np.array([1.0, 4.0])).tolist() == [1.0, 0.25]


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        ({"size": 7}, PolicyError, "population.size: is 7, and the data are about 8 people of it"),
        ({"weights": "sex"}, DataError, "sex: is not numeric"),
        ({"weights": "w"}, PolicyError, "population.weights: attribute 'w' is not described"),
        ({"weights": "age"}, None, ""),
    ],
)
def test_populations_that_cannot_be_are_refused(said, error, words):
    """A population smaller than the data, and weights that are no numbers of people, are bad input."""
    if error is None:
        assert "individual_risk" in measured(population=said)
        return
    with pytest.raises(error, match=words) as refused:
        measured(population=said)
    assert "'f'" not in str(refused.value)


def test_weights_below_one_are_refused():
    """Everybody stands for herself, at least, and missing weights say nothing."""
    frame = PEOPLE.with_columns(w=pl.Series([0.5, None, *[2.0] * 6]))
    with pytest.raises(DataError, match="2 of 8 cells are missing or below 1"):
        measured(frame, DESCRIBED | {"w": {"role": "drop"}}, population={"weights": "w"})
