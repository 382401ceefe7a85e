"""Dependencies in a profile: what they rest on, and that accidents are told apart."""

from collections import Counter

import numpy as np
import polars as pl

from manyveils.profiling import profile
from manyveils.profiling.uniqueness import solid_pairs


def table(n, seed=0):
    """Zip codes decide counties; everything else is drawn by itself."""
    rng = np.random.default_rng(seed)
    zips = rng.integers(0, 40, n)
    return pl.DataFrame(
        {
            "zip": [f"{100 + z}00" for z in zips],
            "county": [f"county{z // 8}" for z in zips],
            "sex": rng.choice(["m", "f"], n),
            "diagnosis": rng.choice(list("abcdef"), n),
        }
    )


def test_counted():
    """A dependency tells how many left sides stand in several rows."""
    frame = table(500)
    dependencies = profile(frame).dependencies
    [county] = [each for each in dependencies if (each.left, each.right) == (("zip",), "county")]
    assert county.repeated == sum(count > 1 for count in Counter(frame["zip"].to_list()).values())
    assert county.is_solid


def test_accidents():
    """In a handful of rows dependencies hold by accident, and are not called solid nor written down."""
    few = profile(table(6))
    assert few.dependencies
    assert not any(dependency.is_solid for dependency in few.dependencies)
    assert "[[dependencies]]" not in few.policy_text()


def test_solid_pairs():
    """Only solid dependencies with one column on the left decide."""
    assert solid_pairs(profile(table(500)).dependencies) == [("zip", "county")]
    assert solid_pairs(profile(table(6)).dependencies) == []


def test_declared_only_if_publishing_accepts_it():
    """What ties quasi-identifiers is declared; what ties a sensitive attribute to a published one is a comment."""
    frame = table(2000)
    ward = {value: f"ward{place // 2}" for place, value in enumerate("abcdef")}
    frame = frame.with_columns(pl.col("diagnosis").replace(ward).alias("ward"))
    text = profile(frame).policy_text()
    assert 'from = ["zip"]\nto = "county"' in text
    assert 'to = "ward"' not in text
    assert "#   diagnosis -> ward (6 left sides)" in text
