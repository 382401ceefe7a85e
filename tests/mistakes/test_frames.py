"""Dataframes that do not fit, given from Python, and what one is told."""

import datetime
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import manyveils as mv

POLICY = {
    "attributes": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
    "guarantee": {"k": 2, "l": 2},
}
ILLNESS = [f"Zq7ill{i % 3}" for i in range(9)]
NAN, INFINITE = float("nan"), float("inf")


def refusal(data, policy=POLICY):
    """Refuse data from Python; the message quotes no cell."""
    with pytest.raises(mv.DataError) as caught:
        mv.publish(data, policy)
    assert "Zq7" not in str(caught.value)
    assert caught.value.exit_status == 2
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    "data",
    [{"age": [1]}, [1, 2], 3, b"age", object(), pl.Series([1]), (1, 2)],
    ids=lambda data: type(data).__name__,
)
def test_not_a_table(data):
    """Something that is not a table is called by its type."""
    assert f"data: {type(data).__name__} is not a table." in refusal(data)


def test_pandas_series():
    """One pandas column is not a table either."""
    refusal(pd.Series([1, 2]))


def test_no_data():
    """Without data there must be a source."""
    assert "data.source is not set and no data were given" in refusal(None)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pl.LazyFrame])
@pytest.mark.parametrize("odd", [NAN, INFINITE, -INFINITE])
def test_not_finite(make, odd):
    """NaN and infinite numbers are refused in Polars and PyArrow, where missing is said otherwise."""
    frame = make({"age": [odd, odd, *map(float, range(7))], "illness": ILLNESS})
    assert "data: age: 2 cells are NaN or infinite." in refusal(frame)


def test_pandas_infinite():
    """An infinity is no gap in pandas either."""
    assert "1 cells are NaN or infinite" in refusal(
        pd.DataFrame({"age": [INFINITE, *map(float, range(8))], "illness": ILLNESS})
    )


def test_pandas_nan_is_missing():
    """In pandas NaN is how a missing number is written, so it is one."""
    frame = pd.DataFrame({"age": [NAN, NAN, NAN, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0], "illness": ILLNESS})
    main = mv.publish(frame, POLICY).tables["main"]
    assert main["age"].isna().sum() == 3
    with pytest.raises(mv.DataError, match="3 of 9 cells are missing"):
        mv.publish(frame, POLICY | {"data": {"missing": "error"}})


def test_mixed_column():
    """A pandas column of texts and numbers is refused without the library's words."""
    frame = pd.DataFrame({"age": ["Zq7", *range(8)], "illness": ILLNESS}, dtype=object)
    assert "Give every column one type" in refusal(frame)


def test_doubled_names():
    """Frames that allow two columns of one name are found out, whatever library they come from."""
    twice = pd.DataFrame([[1, 2]], columns=["age", "age"])
    assert "column 'age' occurs 2 times" in refusal(twice)
    assert "column 'age' occurs 2 times" in refusal(pa.table([[1], [2]], names=["age", "age"]))


def test_no_row():
    """A frame without rows is refused."""
    assert "there is a header but no row" in refusal(pl.DataFrame({"age": [], "illness": []}))


@pytest.mark.parametrize(
    "cell",
    [["Zq7"], {"a": "Zq7"}, b"Zq7\xff", datetime.timedelta(1)],
    ids=["list", "struct", "binary", "duration"],
)
def test_nested_cells(cell):
    """Cells that hold lists, structures, bytes or durations are refused with their type."""
    frame = pl.DataFrame({"age": [cell] * 9, "illness": ILLNESS})
    assert "data: age: cells of type" in refusal(frame)
    frame = pl.DataFrame({"age": pl.Series([object()] * 9, dtype=pl.Object), "illness": ILLNESS})
    assert "cells of type Object" in refusal(frame)


def test_lazy_frame_that_fails(tmp_path):
    """A lazy frame that fails when it is collected is refused without the library's words."""
    path = tmp_path / "people.csv"
    path.write_text("age,illness\nZq7,Zq7\n")
    lazy = pl.scan_csv(path, schema={"age": pl.Int64, "illness": pl.String})
    assert "cannot be read as a table" in refusal(lazy)


def test_other_columns():
    """Both ways round, as for files."""
    message = refusal(pl.DataFrame({"age": [1], "disease": ["Zq7"]}))
    assert "attributes.illness: the data have no such column" in message
    assert "column 'disease' has no role" in message


def test_missing_package(monkeypatch):
    """Where a package is missing to read the data, it is named."""
    frame = pd.DataFrame({"age": range(9), "illness": ILLNESS})

    def missing(data):
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(sys.modules["manyveils.table.door"], "_as_polars", missing)
    assert "a package is missing to read them (pyarrow)" in refusal(frame)
