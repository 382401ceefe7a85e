"""Counts about a column, against counting in plain Python."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.profiling.facts import facts_of, markers_in

cells = st.lists(st.sampled_from(["a", "b", "c", "?", "NA", "", None]), min_size=1, max_size=40)


def facts(values, name="x", **options):
    series = pl.Series(name, values, **options)
    markers = markers_in(series)
    return facts_of(series, markers, tuple(markers))


@given(cells)
def test_counts(values):
    """Distinct values, missing cells, the commonest share and the share that stands alone are right."""
    read = [None if value in ("?", "NA", "", None) else value for value in values]
    counts = Counter(read)
    found = facts(values, dtype=pl.String)
    assert found.distinct == len(set(read) - {None})
    assert found.missing == counts[None]
    assert found.commonest == max(counts.values()) / len(read)
    assert found.alone == sum(count == 1 for count in counts.values()) / len(read)
    assert found.n_values == len(counts)


@given(cells)
def test_markers(values):
    """Every marker is counted, and nothing else is taken for one."""
    assert markers_in(pl.Series("x", values, dtype=pl.String)) == {
        marker: count for marker in ("?", "NA") if (count := values.count(marker))
    }


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (["1", "2", "30", "?"] * 4 + [str(n) for n in range(11)], "x", "whole number"),
        ([f"{n}.5" for n in range(12)], "x", "decimal"),
        (["1", "2", "3"], "region", "code"),
        (["1", "2", "3"], "children", "whole number"),
        (["2020-01-31", "2021-12-01"], "x", "date"),
        (["2020-01-31T10:00", "2021-12-01 11:30:00"], "x", "date"),
        (["2020-02-31", "2021-12-01"], "x", "code"),
        (["47906", "47905"], "zip", "code"),
        (["A-12", "B-99"], "x", "code"),
        (["red", "blue"], "x", "category"),
        (["a long story about one person, with names and places"] * 2, "x", "text"),
        ([True, False], "x", "true or false"),
        ([[1], [2]], "x", "unreadable"),
        ([float("nan"), 1.0], "x", "unreadable"),
    ],
)
def test_types(values, name, expected):
    """The type is told from the cells, and for whole numbers with few values from the name."""
    assert facts(values, name).type == expected


def test_a_counter_goes_up_by_one():
    """Row numbers are told from numbers that are all different."""
    assert facts([7, 8, 9, 10]).is_counter
    assert not facts([7, 9, 8, 10]).is_counter
    assert not facts([7, 8, 9, 11]).is_counter
    assert not facts([7, 8, 8, 9]).is_counter


def test_nothing_shows_a_cell():
    """The repr names the column and counts only."""
    assert "secret" not in repr(facts(["secret", "hidden"]))
