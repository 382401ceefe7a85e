"""The picture of a comparison can be read: no axis below zero, no name over another, every point named."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("altair")

from manyveils.reports.frontier import LINE_HEIGHT, apart, ends_of, frontier_picture


def comparison(points):
    """The description of a comparison with these names, risks and errors."""
    results = [
        {
            "name": name,
            "published": True,
            "keeps_policy": True,
            "risk": risk,
            "secret": [],
            "utility": {"query_error": error},
        }
        for name, risk, error in points
    ]
    return {
        "measure": {"key": "query_error", "words": "error of count queries"},
        "recommendation": {"name": points[0][0]},
        "frontier": [points[0][0]],
        "results": results,
    }


boxes = st.tuples(st.floats(0, 500), st.floats(0, 360), st.floats(10, 200))


@given(st.lists(boxes, max_size=20))
def test_no_name_stands_over_another(drawn):
    """However points lie, two names that could meet are a line apart, and every name has a height."""
    heights = apart(drawn)
    assert len(heights) == len(drawn)
    for (one, first), (other, second) in combinations(zip(drawn, heights, strict=True), 2):
        could_meet = one[0] < other[0] + other[2] and other[0] < one[0] + one[2]
        assert not could_meet or abs(first - second) >= LINE_HEIGHT - 1e-5


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=12))
def test_no_axis_below_zero(values):
    """The axis of values that are not negative begins at zero or above, and holds them all."""
    low, high, is_logarithmic = ends_of(values)
    assert 0 <= low <= min(values)
    assert high >= max(values)
    assert low < high
    assert not is_logarithmic or low > 0


def test_every_point_is_named():
    """Each of thirty configurations has its name in the picture, far values included."""
    points = [(f"way{n:02}", n / 40, 0.01 * 1.4**n) for n in range(30)]
    svg = frontier_picture(comparison(points))
    assert svg is not None
    assert [name for name, *_ in points if svg.count(f">{name}<") != 1] == []
    assert "log scale" in svg
    assert re.search(r">-[0-9.]+%?<|>−[0-9.]+%?<", svg) is None
