"""Data as Spark reads them: what the local engine would read, or a refusal with its reason."""

import logging
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

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


def test_names_of_files_are_no_patterns(spark, tmp_path):
    """A file whose name another reader would take for a pattern is read, and none that the pattern fits."""
    odd = ("x[1]", "p*", "q{1}", "r\\x", "u?v", "%41")
    data = folder_of(tmp_path, x1=PEOPLE, pp=PEOPLE, q1=PEOPLE, rx=PEOPLE, uzv=PEOPLE)
    for place, name in enumerate(odd):
        with (data / f"{name}.parquet").open("wb") as file:
            PEOPLE.with_columns(s=pl.lit(f"only {place}")).write_parquet(file)
    found = there(spark, tmp_path, data, policy())
    assert found.rows == 11 * PEOPLE.height
    values = {value for frame in found.frames.values() for value in frame.get_columns()[0].to_list()}
    assert {f"only {place}" for place in range(len(odd))} <= values


@pytest.mark.parametrize("cells", ["1000", "30"])
@pytest.mark.parametrize("name", ["r[1]", "r{1}*?\\x"])
def test_names_of_releases_are_no_patterns(spark, tmp_path, monkeypatch, name, cells):
    """A release is read from its own folder, and from none beside it, however little fits the driver."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", cells)
    double = mv.publish(pl.concat([PEOPLE, PEOPLE]), policy(), seed=1)
    for each in ("r1", "r1yzx"):
        double.save(tmp_path / each, format="parquet")
    rows = spark.createDataFrame(PEOPLE.to_arrow())
    published = publish_to(policy(), tmp_path / name, data=rows, seed=1)
    assert {frame.count() for frame in published.release.tables.values()} == {PEOPLE.height}
    assert mv.audit(tmp_path / name, rows, policy()).kept


@pytest.mark.parametrize("name", ["_people.csv", ".people.csv", "peo:ple.csv"])
def test_names_that_spark_does_not_read(spark, tmp_path, name):
    """A file that Spark would pass over is refused by its name."""
    PEOPLE.write_csv(tmp_path / name)
    with pytest.raises(mv.DataError, match=r"names begin with \. or _, or have a colon"):
        there(spark, tmp_path, tmp_path / name, policy())


def test_links_to_files(spark, tmp_path):
    """A link to a file is read like the file."""
    data = folder_of(tmp_path, one=PEOPLE)
    PEOPLE.write_parquet(tmp_path / "two.parquet")
    (data / "two.parquet").symlink_to(tmp_path / "two.parquet")
    assert there(spark, tmp_path, data, policy()).rows == 2 * PEOPLE.height


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_links_to_folders(spark, tmp_path, target):
    """A link that is not followed is not passed over in silence."""
    data = folder_of(tmp_path, one=PEOPLE)
    (tmp_path / "elsewhere").mkdir()
    (data / "link").symlink_to(tmp_path / target)
    with pytest.raises(mv.DataError, match="1 links to folders or to nowhere"):
        there(spark, tmp_path, data, policy())


def test_tables_of_a_lakehouse_further_down(spark, tmp_path):
    """A folder that holds a table of a lakehouse is refused like the table."""
    data = folder_of(tmp_path, one=PEOPLE, table__two=PEOPLE, table___delta_log__three=PEOPLE)
    with pytest.raises(mv.DataError, match="_delta_log: it is a table of a lakehouse"):
        there(spark, tmp_path, data, policy())


@pytest.mark.parametrize(("text", "n"), [("a\ts\n1\tp\n\t\n\t\n", 2), ("s\np\n\nq\n", 1)])
def test_lines_of_blanks_that_are_people(spark, tmp_path, text, n):
    """Rows with every cell missing, which Spark would pass over, are refused; written as quotes they count."""
    asked = policy({name: ATTRIBUTES[name] for name in text.split("\n")[0].split("\t")})
    (tmp_path / "people.csv").write_text(text)
    assert mv.publish(tmp_path / "people.csv", asked).rows == 3
    with pytest.raises(mv.DataError, match=f"{n} lines have no cell that is not missing"):
        there(spark, tmp_path, tmp_path / "people.csv", asked)
    quoted = text.replace("\n\t", '\n""\t').replace("\n\n", '\n""\n')
    (tmp_path / "people.csv").write_text(quoted)
    assert there(spark, tmp_path, tmp_path / "people.csv", asked).rows == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a,s\n1,2,p\n", "columns 1 and 2 have the same name"),
        ("a,,s\n1,2,p\n", "1 columns have no name"),
        ("a,A,s\n1,2,p\n", "'A' and another for one"),
        ('a,s\n1,"x" y\n', "quotes that are not doubled or not closed"),
        ("", "is empty"),
    ],
)
def test_csv_that_is_not_in_order(spark, tmp_path, text, message):
    """What is wrong with a csv file is said as the local engine says it."""
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(mv.DataError, match=message):
        there(spark, tmp_path, tmp_path / "people.csv", policy())


def test_empty_files_among_others(spark, tmp_path):
    """A csv file without a byte has nobody in it, wherever it stands."""
    (tmp_path / "data").mkdir()
    for name in ("one", "three"):
        (tmp_path / f"data/{name}.csv").touch()
    PEOPLE.write_csv(tmp_path / "data/two.csv")
    PEOPLE.write_csv(tmp_path / "data/zero.csv")
    assert there(spark, tmp_path, tmp_path / "data", policy()).rows == 2 * PEOPLE.height


def test_bytes_that_are_no_text(spark, tmp_path):
    """Parquet with texts that are not UTF-8 is refused, and no byte of them is told."""
    rows = spark.sql("select cast(id % 3 as int) a, cast(unhex('FF41') as string) s from range(10)")
    with pytest.raises(mv.DataError, match="texts that are not valid UTF-8"):
        there(spark, tmp_path, rows, policy())


def test_bytes_that_are_no_text_in_a_release(spark, tmp_path, monkeypatch):
    """A release with such texts is damaged, however little fits the driver."""
    rows = spark.createDataFrame(PEOPLE.to_arrow())
    publish_to(policy(), tmp_path / "out", data=rows, seed=1)
    [part] = (tmp_path / "out/tables/s.parquet").iterdir()
    garbled = pa.array([b"\xffA"] * PEOPLE.height).view(pa.string())
    parquet.write_table(pa.table({"s": garbled}), part)
    for cells in ("1000", "30"):
        monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", cells)
        with pytest.raises(mv.DataError, match="is damaged"):
            mv.audit(tmp_path / "out", rows, policy())


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_decimals(spark, tmp_path, ansi):
    """Decimals are spelled out, whatever the session makes of them."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rows = spark.sql("select cast(id as int) a, cast(id / 4 as decimal(38, 18)) s from range(3)")
        asked = policy({**ATTRIBUTES, "s": {"role": "sensitive", "kind": "categorical"}})
        found = there(spark, tmp_path, rows, asked)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert found.frames["s"]["s"].to_list() == [f"0.{part}{'0' * 16}" for part in ("00", "25", "50")]


def test_times_of_day(spark, tmp_path):
    """Parquet columns that Spark cannot read are named."""
    data = folder_of(tmp_path, one=PEOPLE.with_columns(s=pl.time(1, 2, 3)))
    with pytest.raises(mv.DataError, match="data: s: Spark cannot read times of day"):
        there(spark, tmp_path, data, policy())


@pytest.mark.parametrize("source", ["here", "spark"])
def test_dates_without_a_name(spark, tmp_path, source):
    """Dates beyond what Python has are refused on both engines, without the date."""
    far = PEOPLE.with_columns(s=pl.lit(5_000_000, dtype=pl.Int32).cast(pl.Date))
    data = far if source == "here" else folder_of(tmp_path, one=far)
    with pytest.raises(
        mv.DataError, match=r"data: s: has dates that are not in the years 1 to 9999\. Correct"
    ):
        mv.publish(data, policy()) if source == "here" else there(spark, tmp_path, data, policy())


def test_all_rows_have_a_missing_cell(spark, tmp_path):
    """Rows that were all dropped are not called absent."""
    data = folder_of(tmp_path, one=PEOPLE.with_columns(s=pl.lit(None, dtype=pl.String)))
    with pytest.raises(mv.DataError, match="all rows have a missing cell"):
        there(spark, tmp_path, data, policy(missing="drop"))


def test_files_have_the_same_columns(spark, tmp_path):
    """A file with other columns or types is not filled up with missing cells."""
    data = folder_of(tmp_path, one=PEOPLE, two=PEOPLE.drop("s"))
    with pytest.raises(mv.DataError, match="1 files with other columns or types than the first"):
        there(spark, tmp_path, data, policy())


def test_text_that_is_not_utf8(spark, tmp_path):
    """Bytes that are no UTF-8 are refused wherever they stand, as locally."""
    lines = ["a,s", *["20,p"] * 300_000, "21,\udce4", ""]
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


def test_published_names_that_spark_takes_for_one(spark, tmp_path):
    """Values whose columns differ in case alone are refused, untold, and so is a name like that of buckets."""
    several = policy({"a": ATTRIBUTES["a"], "s": {"role": "sensitive", "multivalued": ";"}})
    rows = spark.createDataFrame(PEOPLE.with_columns(s=pl.Series(["Zq7", "zq7", "q", "r"] * 5)).to_arrow())
    with pytest.raises(mv.DataError, match="data: s: has values that differ in case alone") as error:
        there(spark, tmp_path, rows, several)
    assert "zq7" not in str(error.value).lower()
    asked = policy({"a": ATTRIBUTES["a"], "Bucket": ATTRIBUTES["s"]})
    rows = spark.createDataFrame(PEOPLE.rename({"s": "Bucket"}).to_arrow())
    with pytest.raises(mv.DataError, match="'Bucket' and 'bucket' for one"):
        there(spark, tmp_path, rows, asked)


def test_a_session_of_another_thread(spark, tmp_path):
    """A session that was started elsewhere in the process is found, and stays as it is."""
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    before, data = spark.conf.getAll, folder_of(tmp_path, one=PEOPLE)
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(there, spark, tmp_path, data, policy()).result().rows == PEOPLE.height
        assert spark.conf.getAll == before
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_sessions_that_cannot_be_used(spark, tmp_path):
    """A session with another type of text is refused with the setting."""
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        with pytest.raises(mv.InputError, match=f"the session has {setting}. Set it to false"):
            there(spark, tmp_path, spark.createDataFrame([(1, "p")], "a int, s string"), policy())
    finally:
        spark.conf.set(setting, "false")


def test_few_rows_of_many_tasks(spark, tmp_path):
    """Rows that were left of many tasks are found by as many, and give the same release."""
    rows = spark.createDataFrame(PEOPLE.to_arrow())
    spread = rows.repartition(9).where("a > 20")
    here = mv.publish(PEOPLE.filter(pl.col("a") > 20), policy(), seed=1)
    found = there(spark, tmp_path, spread, policy())
    assert all(found.frames[name].equals(frame) for name, frame in here.frames.items())


def test_line_breaks_in_a_published_csv(spark, tmp_path, monkeypatch):
    """A csv release with line breaks in cells is judged as it is locally, however little fits the driver."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2] * 5, "s": ["p", "q\nr", None, "p\r\nq"] * 5})
    mv.publish(frame, policy()).save(tmp_path / "out")
    for cells in ("1000", "30"):
        monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", cells)
        assert mv.audit(tmp_path / "out", spark.createDataFrame(frame.to_arrow()), policy()).kept


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
