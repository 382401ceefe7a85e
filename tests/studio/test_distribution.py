"""Distributions of columns: every row is in one bar, and the words say what the bars show."""

from html import unescape
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.profiling.facts import facts_of
from manyveils.studio.distribution import N_BARS, distribution_of


def drawn_of(values):
    """The distribution of a column as the studio reads it."""
    return distribution_of(facts_of(pl.Series("x", values), {}, ()).attribute)


@given(st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=1, max_size=60).filter(any))
def test_every_row_is_in_one_bar(values):
    """Bars add up to the rows, whatever the numbers are, and there are never many of them."""
    shape = drawn_of(values)
    assert sum(bar.n_rows for bar in shape.bars) + (shape.rest.n_rows if shape.rest else 0) == len(values)
    assert len(shape.bars) <= N_BARS + 1


def test_ranges_hold_what_they_say():
    """A bar of a range counts the numbers from its lower end to its upper one."""
    values = [*range(100), 7, 7, 99]
    shape = drawn_of(values)
    assert shape.is_range
    for bar in shape.bars:
        low, high = map(int, bar.label.split(" to "))
        assert bar.n_rows == sum(low <= value <= high for value in values)


def test_decimals_fall_into_ranges_of_one_width():
    """Numbers that are not whole are binned between the smallest and the largest."""
    shape = drawn_of([number / 7 for number in range(50)])
    assert len(shape.bars) == N_BARS
    assert shape.bars[0].label.startswith("0 to ")


def test_dates_are_ranges_of_days():
    """Dates in texts lie on a line of days."""
    shape = drawn_of([f"2020-{month:02}-{day:02}" for month in range(1, 13) for day in (1, 15)])
    assert shape.is_range
    assert shape.bars[0].label.startswith("2020-01-01 to ")


def test_of_many_words_the_commonest_are_shown():
    """Of texts the commonest come first, the rest is one bar, and what is missing is the last."""
    values = ["a"] * 9 + [f"word {number}" for number in range(20)] + [None] * 4
    shape = drawn_of(values)
    assert (shape.bars[0].label, shape.bars[0].n_rows) == ("a", 9)
    assert (shape.rest.label, shape.rest.n_rows) == ("14 others", 14)
    assert "14 others" in shape.described("x")
    assert (shape.bars[-1].label, shape.bars[-1].n_rows) == ("missing", 4)


@pytest.mark.parametrize("hostile", ['"><script>alert(1)</script>', "a & b", "x" * 500, "'"])
def test_the_drawing_is_sound_and_says_the_same(hostile):
    """Whatever a value holds, the drawing is well-formed, and its label names the bars."""
    shape = drawn_of([hostile, hostile, "b"])
    root = ElementTree.fromstring(shape.drawn("<name>"))
    assert root.get("aria-label") == unescape(shape.described("<name>"))
    assert len(root.findall("rect")) == 2
