"""Ranges that no recoding file lists mean what listed ones mean, for whoever reads them."""

import random
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.release import draft

N_ROWS = 400


def frame(seed=1, *, whole=True):
    """People with two numbers of many values, of which some may be missing, and an illness."""
    rng = random.Random(seed)
    zips = [rng.randrange(10_000, 99_999) for _ in range(N_ROWS)]
    heights = [rng.randrange(1400, 2100) / (1 if whole else 10) for _ in range(N_ROWS)]
    return pl.DataFrame(
        {
            "zip": zips,
            "height": [None if rng.random() < 0.02 else height for height in heights],
            "ill": [rng.choice(["A", "B", "C", "D"]) for _ in range(N_ROWS)],
        }
    )


def policy(**publish):
    """Mondrian with ranges for both numbers."""
    return mv.Policy(
        attributes={
            "zip": {"role": "quasi", "kind": "numeric"},
            "height": {"role": "quasi", "kind": "numeric"},
            "ill": {"role": "sensitive"},
        },
        guarantee={"k": 4, "l": 2},
        publish={"method": "generalize", "recoding": "mondrian", **publish},
    )


@pytest.fixture(scope="module", params=[True, False], ids=["whole", "decimal"])
def both(request):
    """The same release with its recoding files, and without them as if they had become too long."""
    data = frame(whole=request.param)
    listed = mv.publish(data, policy(), seed=3)
    with patch.object(draft, "MOST_LISTED", 50):
        unlisted = mv.publish(data, policy(), seed=3)
        assert listed.recodings
        assert not unlisted.recodings
        assert listed.tables["main"].equals(unlisted.tables["main"])
        yield data, listed, unlisted


QUERIES = [
    "zip >= 50000 and ill = 'A'",
    "zip < 30000",
    "height between 160 and 1800",
    "zip != 51234",
    "height is missing",
    "zip = 12345",
]


@pytest.mark.parametrize("query", QUERIES)
def test_counts_are_about_the_same(both, query):
    """A count over unlisted ranges is near the one over listed ranges."""
    _, listed, unlisted = both
    assert float(unlisted.count(query)) == pytest.approx(float(listed.count(query)), abs=0.06 * N_ROWS)


@given(
    st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    st.integers(9_000, 100_500),
    st.sampled_from(["zip", "height"]),
)
def test_bounds_are_certain(both, sign, number, name):
    """The true count lies within the bounds, whatever number a range is compared with."""
    data, _, unlisted = both
    number = number if name == "zip" else number / 40
    column = data[name]
    holds = {
        "<": column < number,
        "<=": column <= number,
        ">": column > number,
        ">=": column >= number,
        "=": column == number,
        "!=": column != number,
    }
    count = unlisted.count(f"{name} {sign} {number}")
    assert count.low <= int(holds[sign].sum()) <= count.high
    assert count.low <= count.estimate <= count.high


def test_measures_are_the_same(both):
    """Whoever has the original measures the same with and without recoding files."""
    data, listed, unlisted = both
    one, other = mv.measure(listed, data, policy()), mv.measure(unlisted, data, policy())
    assert other.keys() == one.keys()
    assert "kl_unseen" not in other
    for key, value in one.items():
        assert other[key] == pytest.approx(value, rel=1e-9), key


def test_attacks_are_the_same(both):
    """Adversaries learn the same with and without recoding files."""
    data, listed, unlisted = both
    only = ["homogeneity", "linkage", "membership", "skewness"]
    one = mv.attack(listed, data, policy(), only=only, seed=1).describe()
    other = mv.attack(unlisted, data, policy(), only=only, seed=1).describe()
    assert other == one


def test_the_audit_is_the_same(both):
    """The judge finds the same, but for the recodings it has nothing to compare with."""
    data, listed, unlisted = both
    one, other = mv.audit(listed, data, policy()), mv.audit(unlisted, data, policy())
    assert other.kept
    assert set(other.findings) == {each for each in one.findings if each.promise != "recodings-true"}


def test_texts_like_ranges_stand_for_themselves():
    """Bands that the original itself has are values: they can be asked for, and rows drawn have them."""
    data = pl.DataFrame({"band": ["[20, 29]", "[30, 39]"] * 6, "ill": ["A", "B", "C"] * 4})
    bands = mv.Policy(
        attributes={"band": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee={"k": 2, "l": 2},
        publish={"method": "generalize"},
    )
    release = mv.publish(data, bands, seed=1)
    assert float(release.count("band = '[20, 29]'")) == 6
    assert set(release.sample(20, seed=1)["band"]) <= {"[20, 29]", "[30, 39]"}


def test_wide_bands_stand_for_themselves():
    """Bands that do not overlap are values, however wide they are."""
    bands = ["[0, 99999]", "[100000, 199999]", "[200000, 299999]"]
    data = pl.DataFrame({"band": bands * 20, "ill": ["A", "B", "C", "D"] * 15})
    wanted = mv.Policy(
        attributes={"band": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee={"l": 2},
        publish={"method": "anatomize"},
    )
    with patch.object(draft, "MOST_LISTED", 100):
        release = mv.publish(data, wanted, seed=1)
        assert float(release.count("band = '[0, 99999]'")) == 20
        assert set(release.sample(20, seed=1)["band"]) <= set(bands)
