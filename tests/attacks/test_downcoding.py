"""Downcoding: Cohen's construction, from which a minimal recoding gives a constant share away, and single attributes nothing."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from benchmarks.reproductions.beyond_downcoding import LOCAL, clustered, downcoded, policy
from manyveils.attacks.downcoding import apportioned


@pytest.mark.parametrize("n_clusters", [40, 160])
def test_a_minimal_recoding_gives_a_constant_share_away(n_clusters):
    """Of what `generalize` hides most is written out again, however many rows there are; from `separate` next to nothing."""
    frame = clustered(n_clusters)
    found, apart = downcoded(frame, policy(**LOCAL)), downcoded(frame, policy(method="separate"))
    assert found.targets > frame.height / 4
    assert found.success > 0.6
    assert found.baseline < 0.05
    assert apart.targets == frame.height
    assert apart.success < 0.02


def test_what_is_shown_cannot_be_downcoded():
    """Anatomy recodes nothing, so there is nothing to write."""
    found = downcoded(clustered(10), policy(method="anatomize"))
    assert not found.applies


def test_ends_of_ranges_and_members_of_sets_are_told():
    """Two people under a range of two numbers are those two numbers."""
    frame = pl.DataFrame({"place": [1, 2, 11, 12] * 2, "ill": ["flu", "cold", "flu", "cold"] * 2})
    asked = mv.Policy(
        attributes={"place": {"role": "quasi", "kind": "numeric"}, "ill": {"role": "sensitive"}},
        guarantee={"k": 4},
        publish={"method": "generalize", "recoding": "mondrian"},
    )
    release = mv.publish(frame, asked, seed=1)
    found = mv.attack(release, frame, asked, only=["downcoding"], seed=1)["downcoding"]
    assert (found.targets, found.success) == (8, 1.0)


def test_whole_numbers_are_nearest_to_shares():
    """Largest remainders add up to the total of each group, and no number is off by one or more."""
    rng = np.random.default_rng(3)
    groups = np.sort(rng.integers(0, 6, 40))
    groups = np.unique(groups, return_inverse=True)[1]
    shares, totals = rng.random(groups.size) + 0.01, rng.integers(0, 30, groups.max() + 1)
    counts = apportioned(groups, shares, totals)
    assert np.bincount(groups, weights=counts).tolist() == totals.tolist()
    wanted = shares / np.bincount(groups, weights=shares)[groups] * totals[groups]
    assert (np.abs(counts - wanted) < 1).all()
