"""Dates as a hierarchy, against the calendar in plain Python."""

from datetime import date, datetime

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.table import encode

UNITS = ["day", "month", "quarter", "year", "decade"]
days = st.dates(date(1000, 1, 1), date(2999, 12, 31))


def label(day, unit):
    """What a part of the calendar is called."""
    match unit:
        case "day":
            return day.isoformat()
        case "month":
            return day.isoformat()[:7]
        case "quarter":
            return f"{day.year}-Q{(day.month - 1) // 3 + 1}"
        case "year":
            return str(day.year)
        case _:
            return f"{day.year // 10 * 10}s"


def held(values, units=UNITS):
    policy = mv.Policy(attributes={"born": {"role": "quasi", "hierarchy": {"dates": units}}})
    return encode(pl.DataFrame({"born": values}), policy)["born"]


@given(st.lists(days, min_size=1, max_size=20), st.sampled_from(["text", "date", "time"]))
def test_labels(values, written):
    """Each level has the calendar's label, for texts, dates and times alike, and the last is `*`."""
    as_time = [datetime(day.year, day.month, day.day, 13, 5) for day in values]
    column = held({"text": [str(day) for day in values], "date": values, "time": as_time}[written])
    assert column.kind == "ordinal"
    for level, unit in enumerate(UNITS, start=1):
        found = [column.levels[level].labels[column.levels[level].label_of[code]] for code in column.codes]
        assert found == [label(day, unit) for day in values]
    assert column.levels[len(UNITS) + 1].labels == ("*",)


@given(st.lists(days, min_size=1, max_size=20))
def test_order(values):
    """Texts of dates are held in the order of time."""
    column = held([str(day) for day in values])
    assert list(column.texts) == [str(day) for day in sorted(set(values))]


def test_missing_stays_missing():
    """A missing date is empty up to the top."""
    column = held(["2024-03-05", None, ""], ["month", "year"])
    assert [level.labels[level.label_of[-1]] for level in column.levels.each] == ["", "", "", "*"]


def test_published():
    """A release shows the parts of the calendar, and keeps its promises."""
    rows = [(f"20{i % 4 + 10}-0{i % 9 + 1}-1{i % 7}", "abc"[i % 3]) for i in range(200)]
    frame = pl.DataFrame(rows, schema=["born", "ill"], orient="row")
    policy = mv.Policy(
        attributes={
            "born": {"role": "quasi", "hierarchy": {"dates": ["month", "quarter", "year"]}},
            "ill": {"role": "sensitive"},
        },
        guarantee={"k": 20, "l": 2},
    )
    shown = set(mv.publish(frame, policy).tables["main"]["born"].to_list())
    assert shown == {"2010", "2011", "2012", "2013"}
