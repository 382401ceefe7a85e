"""Numbers in classes: the runs that lie nearest to their means."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.kernels.clusters import nearest_runs
from manyveils.methods.slice.layout import cluster_cuts


def test_cluster_cuts_lie_between_clusters():
    """Two heaps of numbers are cut halfway between their means."""
    numbers = np.array([1.0, 2.0, 3.0, 101.0, 102.0, 103.0])
    assert cluster_cuts(numbers, np.ones(6, dtype=int), 2) == pytest.approx([52.0])


def apart(numbers, counts, starts):
    """The squared distances of numbers to the means of their runs, added up."""
    total = Fraction(0)
    for start, stop in zip(starts, [*starts[1:], len(numbers)], strict=True):
        run = [
            number for place in range(start, stop) for number in [Fraction(numbers[place])] * counts[place]
        ]
        mean = sum(run) / len(run)
        total += sum((number - mean) ** 2 for number in run)
    return total


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=2, max_size=8), st.integers(2, 4)
)
def test_no_other_runs_lie_nearer_to_their_means(pairs, n_runs):
    """Runs of sorted numbers have the least sum of squared distances to their means, of all ways to cut them."""
    counted = dict(pairs)
    numbers, n_runs = sorted(counted), min(n_runs, len(counted))
    counts = [counted[number] for number in numbers]
    found = nearest_runs(np.array(numbers, float), np.array(counts, float), n_runs).tolist()
    least = min(
        apart(numbers, counts, [0, *cuts]) for cuts in combinations(range(1, len(numbers)), n_runs - 1)
    )
    assert found[0] == 0
    assert sorted({*found}) == found
    assert float(apart(numbers, counts, found)) == pytest.approx(float(least), abs=1e-9)


def test_classes_rest_whatever_the_size_and_the_order():
    """Values that nobody has, numbers beyond what can be squared and numbers far from zero are cut like others."""
    heaps = np.array([1.0, 2.0, 3.0, 50.0, 101.0, 102.0, 103.0])
    counts = np.array([1, 1, 1, 0, 1, 1, 1])
    for scale, shift in ((1, 0), (1e300, 0), (1, 1e9)):
        assert cluster_cuts(heaps * scale + shift, counts, 2) == pytest.approx([52.0 * scale + shift])
    assert cluster_cuts(heaps[:1], counts[:1], 2).size == 0
