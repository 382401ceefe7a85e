"""Identifiers number persons, whatever type and spelling their cells have."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.comparing.trial import split
from manyveils.table import hold
from manyveils.table.persons import changing_persons, numbered

cells = st.none() | st.sampled_from(["a", "b", "c"])
BODY = {"age": [20, 21, 22, 23, 24], "ill": list("abcab")}
ATTRIBUTES = {
    "key": {"role": "identifier"},
    "age": {"role": "quasi"},
    "ill": {"role": "sensitive"},
}


def persons_of(keys, *, frame=pl.DataFrame, **data):
    """The persons of five rows, numbered in the order in which they come."""
    policy = mv.Policy(data={"person": "key", **data}, attributes=ATTRIBUTES)
    table, _ = hold(frame({"key": keys, **BODY}), policy)
    return None if table.persons is None else table.persons.tolist()


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12))
def test_rows_share_a_number_if_they_share_all_keys(rows):
    """Two rows have one number exactly if their keys are equal and none is missing; numbers have no gaps."""
    keys = pl.DataFrame(rows, {"one": pl.String, "two": pl.String}, orient="row")
    numbers = numbered(keys).tolist()
    assert set(numbers) == set(range(len(set(numbers))))
    for place, row in enumerate(rows):
        for other in range(place):
            assert (numbers[place] == numbers[other]) == (row == rows[other] and None not in row)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_changes_are_counted(rows):
    """The persons of whom an attribute changes are those with two values or more."""
    persons = np.unique([person for person, _ in rows], return_inverse=True)[1].astype(np.int64)
    frame = pl.DataFrame({"ill": [value for _, value in rows]})
    attribute = hold(frame, mv.Policy(attributes={"ill": {"role": "sensitive"}}))[0]["ill"]
    values = {}
    for person, value in rows:
        values.setdefault(person, set()).add(value)
    assert changing_persons(attribute, persons) == sum(len(own) > 1 for own in values.values())


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [
        (["1", "1.0", " 1", "+1", "2"], [0, 0, 0, 0, 1]),
        (["1", "01", "1.5", "1e0", "A"], None),
        (["A", "a", "A ", "", " "], [0, 1, 0, 2, 3]),
        ([1.0, float("nan"), float("nan"), 1.0, 2.0], [0, 1, 2, 0, 3]),
        ([1.0, None, None, -0.0, 0.0], [0, 1, 2, 3, 3]),
        ([2**62, 2**62 + 1, 2**62, 0, 1], [0, 1, 0, 2, 3]),
        (pl.Series([2**64 - 1, 2**64 - 2, 2**64 - 1, 0, 1], dtype=pl.UInt64), [0, 1, 0, 2, 3]),
        (pl.Series(list("abbac"), dtype=pl.Categorical), [0, 1, 1, 0, 2]),
        ([date(2020, 1, 1)] * 2 + [date(2021, 1, 1)] * 3, [0, 0, 1, 1, 1]),
        ([b"a", b"b", b"a", b"c", b"d"], [0, 1, 0, 2, 3]),
        ([True, False, True, None, None], [0, 1, 0, 2, 3]),
    ],
    ids=str,
)
def test_cells_of_every_type(keys, numbers):
    """Whole numbers are one person however they are spelled, codes and texts as they stand, missing ones nobody's."""
    assert persons_of(keys) == numbers


def test_frames_of_every_kind():
    """Numbers with gaps from pandas, and dictionaries from pandas and Arrow, are the same persons."""
    assert persons_of([1.0, np.nan, np.nan, 1.0, 2], frame=pd.DataFrame) == [0, 1, 2, 0, 3]
    assert persons_of(pd.Categorical(list("abbac")), frame=pd.DataFrame) == [0, 1, 1, 0, 2]
    assert persons_of(pa.array(list("abbac")).dictionary_encode(), frame=pa.table) == [0, 1, 1, 0, 2]


def test_missing_markers():
    """A marker stands for a missing person, as a text or as a number."""
    assert persons_of(["?", "a", "?", "a", "b"], missing_markers=["?"]) == [0, 1, 2, 1, 3]
    assert persons_of([-9, 1, -9, 1, 2], missing_markers=["-9"]) == [0, 1, 2, 1, 3]


def test_rows_that_are_dropped():
    """Rows with a missing cell are dropped before persons are numbered, and a missing identifier drops no row."""
    policy = mv.Policy(data={"person": "key", "missing": "drop"}, attributes=ATTRIBUTES)
    frame = pl.DataFrame(
        {"key": ["a", "b", "b", None, "a"], "age": [1, 2, 3, 4, 5], "ill": ["x", "y", None, "z", "y"]}
    )
    table, _ = hold(frame, policy)
    assert (table.n_dropped, table.persons.tolist(), table.n_persons) == (1, [0, 1, 2, 0], 3)
    strict = policy.replaced(data={"person": "key", "missing": "error"})
    assert hold(frame.drop_nulls("ill"), strict)[0].n_persons == 3


def test_one_row_each():
    """Where no two rows are of one person, there are no numbers, so that nothing is done for them."""
    assert persons_of([5, 4, 3, 2, None]) is None
    assert persons_of([5, 5, 3, 2, None], person="row") is None


def test_cells_that_cannot_be_compared():
    """Lists tell nobody apart, and are refused unless rows are persons."""
    with pytest.raises(mv.DataError, match="key: cells of type List cannot tell persons apart"):
        persons_of([[1], [1], [2], [3], [4]])
    assert persons_of([[1], [1], [2], [3], [4]], person="row") is None


def test_persons_are_held_out_as_a_whole():
    """All rows of a person are published, or all are held out to test on."""
    frame = pl.DataFrame({"key": [n // 3 for n in range(60)], "age": range(60), "ill": ["a", "b"] * 30})
    policy = mv.Policy(data={"person": "key"}, attributes=ATTRIBUTES)
    taught, tested = split(frame, policy, 1)
    assert set(taught["key"]).isdisjoint(tested["key"])
    assert (taught["key"].n_unique(), tested["key"].n_unique()) == (16, 4)
