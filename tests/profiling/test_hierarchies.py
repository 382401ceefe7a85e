"""Suggested hierarchies are ones that a policy accepts."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.profiling.hierarchies import interval_widths, written

spreads = st.floats(1e-9, 1e14)


def policy(hierarchy):
    return mv.Policy(attributes={"x": {"role": "quasi", "kind": "numeric", "hierarchy": hierarchy}})


@given(spreads, st.booleans())
def test_widths_are_accepted(spread, whole):
    """Widths are a twentieth of the range or so at first, below it at last, and nested as a policy demands."""
    widths = interval_widths(spread, whole=whole)
    if widths:
        assert policy({"widths": [float(written(width)) for width in widths]})
        assert widths[-1] < spread
        assert widths[0] <= spread / 20 * 2.5 * 1.0001 or (whole and widths[0] == 2)
    else:
        assert whole
        assert spread <= 2
    assert not whole or all(width > 1 for width in widths)


def test_nothing_to_cut():
    """A range of nothing has no intervals."""
    assert interval_widths(0.0, whole=False) == ()
    assert interval_widths(float("inf"), whole=False) == ()


def suggested(name, values):
    frame = pl.DataFrame({name: values, "diagnosis": ["a", "b", "c", "d"] * (len(values) // 4)})
    [entry] = [each for each in mv.profile(frame).describe()["columns"] if each["name"] == name]
    return entry["kind"], entry["hierarchy"]


def test_by_type():
    """Numbers get widths, codes a mask, dates parts of the calendar, and words nothing."""
    assert suggested("age", list(range(20, 60))) == ("numeric", "{ widths = [2, 10, 20] }")
    assert suggested("zip", [f"479{n:02d}" for n in range(40)]) == ("categorical", '{ mask = "right" }')
    assert suggested("zip", [47900 + n for n in range(40)]) == ("categorical", '{ mask = "right" }')
    days = [f"2024-01-{1 + n % 28:02d}" for n in range(40)]
    assert suggested("born", days) == ("ordinal", '{ dates = ["month", "quarter", "year"] }')
    times = [f"{day}T10:00" for day in days]
    assert suggested("born", times) == ("ordinal", '{ dates = ["day", "month", "quarter", "year"] }')
    assert suggested("city", ["x", "y", "z", "w"] * 10) == (None, None)


def test_one_far_away_number_does_not_matter():
    """A single far number leaves the widths as they are."""
    near = [20 + n % 60 for n in range(400)]
    assert suggested("age", near) == suggested("age", [*near[:-1], 10_000_000])


@pytest.mark.parametrize(
    ("pattern", "kind", "hierarchy"),
    [
        ("{day:02d}.{month:02d}.2011", "categorical", '{ mask = "left" }'),
        ("{month:02d}/{day:02d}/11", "categorical", '{ mask = "left" }'),
        ("2011/{month:02d}/{day:02d}", "ordinal", '{ mask = "right" }'),
        ("{day}.{month}.2011", "categorical", None),
        ("2011-{month:02d}-{day:02d}", "ordinal", '{ dates = ["month", "quarter", "year"] }'),
    ],
)
def test_dates_keep_their_year_longest(pattern, kind, hierarchy):
    """However dates are written, they are quasi-identifiers, and no hierarchy hides the year before the day."""
    cells = [pattern.format(day=n % 28 + 1, month=n // 28 + 1) for n in range(300)]
    found = mv.profile(pl.DataFrame({"seen": cells, "diagnosis": ["a", "b", "c"] * 100}))
    assert (found.facts["seen"].type, found.decided["seen"].role) == ("date", "quasi")
    assert (found.coarsenings["seen"].kind, found.coarsenings["seen"].hierarchy) == (kind, hierarchy)


def test_decimal_commas_are_told():
    """Numbers with a decimal comma are texts, and the policy says so."""
    cells = [f"{n},5" for n in range(40)]
    text = mv.profile(pl.DataFrame({"size": cells, "diagnosis": ["a", "b"] * 20})).policy_text()
    assert "Numbers with a decimal comma are texts here" in text
