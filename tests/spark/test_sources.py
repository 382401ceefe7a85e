"""Data as Spark reads them: what the local engine would read, or a refusal with its reason."""

import logging

import polars as pl
import pytest

import manyveils as mv
from manyveils.publishing import publish_to

PEOPLE = pl.DataFrame({"a": [20, 21, 22, 23] * 5, "s": ["p", "q", "r", "t"] * 5})
ATTRIBUTES = {"a": {"role": "quasi"}, "s": {"role": "sensitive"}}


def policy(attributes=ATTRIBUTES, **data):
    """Each column published by itself, which takes no other promise."""
    return mv.Policy(data=data, attributes=attributes, publish={"method": "separate"})


def there(spark, tmp_path, data, asked):
    """The release on Spark, read back."""
    publish_to(asked, tmp_path / "out", data=data, seed=1, engine="spark")
    return mv.Release.load(tmp_path / "out")


def folder_of(tmp_path, **frames):
    """A folder of parquet files; two underscores stand for a slash."""
    for name, frame in frames.items():
        path = tmp_path / "data" / f"{name.replace('__', '/')}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(path)
    return tmp_path / "data"


def test_hidden_folders_are_no_data(spark, tmp_path):
    """Files of unfinished jobs and in hidden folders are not counted."""
    data = folder_of(tmp_path, one=PEOPLE, _temporary__two=PEOPLE)
    assert there(spark, tmp_path, data, policy()).rows == PEOPLE.height


def test_tables_of_a_lakehouse_are_refused(spark, tmp_path):
    """A folder whose log says which files count is to be read by those who can read the log."""
    data = folder_of(tmp_path, one=PEOPLE, _delta_log__two=PEOPLE)
    with pytest.raises(
        mv.DataError, match=r"_delta_log: it is a table of a lakehouse.*publish the dataframe"
    ):
        there(spark, tmp_path, data, policy())


def test_files_have_the_same_columns(spark, tmp_path):
    """A file with other columns or types is not filled up with missing cells."""
    data = folder_of(tmp_path, one=PEOPLE, two=PEOPLE.drop("s"))
    with pytest.raises(mv.DataError, match="1 files with other columns or types than the first"):
        there(spark, tmp_path, data, policy())


def test_text_that_is_not_utf8(spark, tmp_path):
    """Bytes that are no UTF-8 are refused wherever they stand, as locally."""
    lines = ["a,s", *["20,p"] * 3000, "21,\udce4", ""]
    (tmp_path / "people.csv").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    with pytest.raises(mv.DataError, match="s: is not valid UTF-8 everywhere"):
        there(spark, tmp_path, tmp_path / "people.csv", policy())


@pytest.mark.parametrize("marker", ["-9", "-9.0"])
def test_markers_of_missing_numbers(spark, tmp_path, marker):
    """A marker is the number that it spells, whole or not, as locally."""
    frame = PEOPLE.with_columns(b=pl.Series([1.5, -9.0, -0.0, 0.0] * 5), c=pl.Series([1, -9, 3, 4] * 5))
    asked = policy({**ATTRIBUTES, "b": {"role": "quasi"}, "c": {"role": "quasi"}}, missing_markers=[marker])
    found = there(spark, tmp_path, spark.createDataFrame(frame.to_arrow()), asked)
    here = mv.publish(frame, asked, seed=1)
    assert {name: each.to_dicts() for name, each in found.frames.items()} == {
        name: each.to_dicts() for name, each in here.frames.items()
    }


@pytest.mark.parametrize("kind", ["timestamp", "array<int>", "binary"])
def test_types_without_a_published_form(spark, tmp_path, kind):
    """Moments, lists and bytes are refused by column and type."""
    rows = spark.createDataFrame(PEOPLE.to_arrow()).selectExpr("a", f"cast(null as {kind}) as s")
    with pytest.raises(mv.DataError, match=f"s: cells of Spark's type {kind.partition('<')[0]} cannot"):
        there(spark, tmp_path, rows, policy())


def test_names_that_spark_takes_for_one(spark, tmp_path):
    """Columns that differ in case alone are named."""
    asked = policy({**ATTRIBUTES, "A": {"role": "quasi"}})
    with pytest.raises(mv.DataError, match="'A' and another for one"):
        there(spark, tmp_path, spark.createDataFrame(PEOPLE.with_columns(A="a").to_arrow()), asked)


def test_another_master_than_the_session_has(spark, tmp_path):
    """A session that is there is not moved."""
    with pytest.raises(mv.InputError, match="there is a session already, and it runs elsewhere"):
        publish_to(policy(), tmp_path / "out", data=tmp_path, engine="spark", master="local[7]")


def test_no_cell_in_the_log(spark, tmp_path, caplog):
    """What Spark says of a cell that it cannot cast goes nowhere, and its logger is as before."""
    rows = spark.createDataFrame(PEOPLE.to_arrow()).selectExpr("a", "cast(concat(s, 'Zq7') as int) as s")
    with pytest.raises(mv.DataError, match=r"gave up \(CAST_INVALID_INPUT\)") as error:
        there(spark, tmp_path, rows, policy())
    assert "Zq7" not in f"{error.value}{caplog.text}"
    assert not logging.getLogger("DataFrameQueryContextLogger").disabled


def test_tables_outlive_the_release(spark):
    """Dataframes of a release that nobody kept can be read."""
    frame = next(iter(mv.publish(spark.createDataFrame(PEOPLE.to_arrow()), policy(), seed=1).tables.values()))
    assert frame.count() == PEOPLE.height


def test_conditional_slices(spark, tmp_path, monkeypatch):
    """What stands in other columns is not known beside a value, so slices may promise against it."""
    frame = pl.DataFrame({"a": list(range(8)) * 20, "s": list("pqrt") * 40, "u": list("vvww") * 40})
    asked = mv.Policy(
        attributes={"a": {"role": "quasi"}, "s": {"role": "sensitive"}, "u": {"role": "sensitive"}},
        guarantee={"l": 2, "l_kind": "frequency", "conditional": True},
        publish={"method": "slice", "columns": [["a"], ["s"], ["u"]]},
    )
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "40")
    try:
        here = mv.publish(frame, asked, seed=1).rows
    except mv.InfeasibleError:
        here = 0
    rows = spark.createDataFrame(frame.to_arrow())
    if here:
        assert there(spark, tmp_path, rows, asked).rows == here
    else:
        with pytest.raises(mv.InfeasibleError):
            there(spark, tmp_path, rows, asked)
