"""Columns that do not fit the policy, and what one is told."""

from importlib import import_module
from time import monotonic

import numpy as np
import polars as pl
import pytest

ENCODE = import_module("manyveils.table.encode")
SEARCH = import_module("manyveils.methods.generalize.full_domain")


def with_ages(*last):
    """Write the small table with other ages in its last rows."""
    ages = [*(str(20 + i % 4) for i in range(12)), *last]
    rows = [f"Zq7name{i},{age},Zq7city{i % 3},Zq7ill{i % 4}" for i, age in enumerate(ages)]
    return "\n".join(["name,age,city,illness", *rows]) + "\n"


def test_both_ways_at_once(desk):
    """Attributes without a column and columns without a role are reported together, with near names."""
    desk.data((desk.folder / "people.csv").read_text().replace("age,city", "Age,home town", 1))
    message = desk.refused()
    assert "policy.toml: attributes.age: the data have no such column. There is 'Age'." in message
    assert "attributes.city: the data have no such column" in message
    assert "column 'Age' has no role. Add [attributes.Age]" in message
    assert """column 'home town' has no role. Add [attributes."home town"]""" in message


def test_column_without_role(desk):
    """A column that the policy does not speak of is refused, not guessed."""
    desk.policy(attributes={"city": None})
    assert "column 'city' has no role" in desk.refused()


@pytest.mark.parametrize("cell", ["NaN", "nan", "inf", "-Infinity", "1e999"])
@pytest.mark.parametrize("kind", [None, "numeric"])
def test_not_finite(desk, cell, kind):
    """NaN and infinite cells of a column of numbers are counted and refused, told a number or found to be one."""
    desk.data(with_ages(cell, cell))
    desk.policy(attributes={"age": {"kind": kind}})
    assert "data: age: 2 cells are NaN or infinite. Leave such cells empty." in desk.refused()


@pytest.mark.parametrize("cell", ["Zq7", "1_000", "0x10", "٣", "1,5"])
def test_text_among_numbers(desk, cell):
    """Text in a column that is said to be numeric is counted, not quoted."""
    desk.data(with_ages(f'"{cell}"'))
    desk.policy(attributes={"age": {"kind": "numeric"}})
    assert "data: age: 1 of 13 cells are not numbers." in desk.refused()


def test_text_and_nan(desk):
    """Text and NaN together are counted together."""
    desk.data(with_ages("Zq7", "NaN"))
    desk.policy(attributes={"age": {"kind": "numeric"}})
    assert "2 of 14 cells are not numbers" in desk.refused()


@pytest.mark.parametrize("cell", ["+5", ".5", "5.", " 7 ", "1e3", "-0"])
def test_odd_but_numbers(desk, cell):
    """Unusual spellings of numbers are numbers."""
    desk.data(with_ages(cell))
    desk.policy(attributes={"age": {"kind": "numeric"}})
    desk.published()


def test_codes_stay_as_they_are(desk):
    """Digits with leading zeros, or too many to be kept by a number, are published as they were written."""
    desk.data(with_ages("007", "12345678901234567890"))
    desk.policy(attributes={"age": {"role": "neutral"}})
    desk.published()
    assert {"007", "12345678901234567890"} <= set(
        (desk.out / "tables/main.csv").read_text().replace("\n", ",").split(",")
    )


def test_several_columns_at_once(desk):
    """Every column that does not fit is reported, not only the first."""
    desk.data(with_ages("NaN"))
    desk.policy(attributes={"city": {"kind": "numeric"}})
    message = desk.refused()
    assert "data: age:" in message
    assert "data: city: 13 of 13 cells are not numbers" in message


def test_missing_refused(desk):
    """With missing = "error" every column with missing cells is counted."""
    desk.data(with_ages("", ""))
    desk.policy(data={"missing": "error"})
    assert "data: age: 2 of 14 cells are missing." in desk.refused()


def test_nothing_left(desk):
    """With missing = "drop" a table without a whole row is refused."""
    desk.data("name,age,city,illness\n" + "Zq7,,Zq7,Zq7\n" * 5)
    desk.policy(data={"missing": "drop"})
    assert "all 5 rows have a missing cell" in desk.refused()


def test_widths_of_text(desk):
    """Widths need numbers."""
    desk.policy(attributes={"city": {"hierarchy": {"widths": [5]}}})
    assert "widths need numbers, and city is categorical" in desk.refused()


def test_order_misses_values(desk):
    """An order that leaves values out says how many."""
    desk.policy(attributes={"city": {"kind": "ordinal", "order": ["Zq7city0"]}})
    assert "attributes.city.order: misses 2 of 3 values" in desk.refused()


def test_separator_makes_too_many_values(desk, monkeypatch):
    """A separator that tears cells into very many values is suspected."""
    monkeypatch.setattr("manyveils.table.attributes.MANY_BITS", 3)
    desk.policy(attributes={"illness": {"multivalued": "|"}})
    assert "gives 4 different values, 3 at most" in desk.refused()


def test_derived_name_is_taken(desk):
    """A column that has the name of another's 0/1 column is refused, not overwritten."""
    desk.data("illness,illness=Zq7a\nZq7a,Zq7c\nZq7b,Zq7d\n")
    desk.document["attributes"] = {
        "illness": {"role": "sensitive", "multivalued": "|"},
        "illness=Zq7a": {"role": "neutral"},
    }
    desk.policy(guarantee={"l": None, "k": 1})
    assert "one of its 0/1 columns has the name of another attribute" in desk.refused(
        "publish", desk.folder / "policy.toml", "--out", desk.out
    ).replace("Zq7a", "")


@pytest.mark.parametrize(
    ("cell", "remedy"), [("Zq7v{}", 'mask = "right"'), ("{}", "widths = [10, 100, 1000]")]
)
def test_too_many_values(desk, monkeypatch, cell, remedy):
    """A quasi-identifier with very many values and no hierarchy is refused with what to do; at the bound it passes."""
    desk.data(with_ages().replace("Zq7city", cell.format("4")))
    monkeypatch.setattr(ENCODE, "MANY_VALUES", 3)
    monkeypatch.setattr(SEARCH, "MANY_VALUES", 3)
    desk.policy(attributes={"age": {"role": "neutral"}})
    desk.published()
    monkeypatch.setattr(ENCODE, "MANY_VALUES", 2)
    monkeypatch.setattr(SEARCH, "MANY_VALUES", 2)
    message = desk.refused("publish", desk.folder / "policy.toml", "--out", desk.folder / "other")
    assert "attributes.city: a quasi-identifier with 3 different values and no hierarchy." in message
    assert remedy in message


@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_million_values(desk, kind):
    """A million different values are refused within seconds."""
    numbers = np.random.default_rng(1).permutation(1_000_000)
    values = pl.Series(numbers) if kind == "number" else pl.Series(numbers).cast(pl.String) + "Zq7"
    frame = pl.DataFrame({"city": values, "illness": (pl.Series(numbers) % 7)})
    frame.write_parquet(desk.folder / "people.parquet")
    desk.document["attributes"] = {"city": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    desk.policy(data={"source": "people.parquet"})
    started = monotonic()
    outcome = desk.publish()
    assert outcome.status == 2
    assert "a quasi-identifier with 1,000,000 different values and no hierarchy." in outcome.stderr
    assert "Zq7" not in outcome.said
    assert not desk.out.exists()
    assert monotonic() - started < 15
