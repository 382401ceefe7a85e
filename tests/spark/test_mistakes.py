"""Mistakes with Spark: what is wrong, where, and what to do, without a cell of the data and without a trace."""

import subprocess
import sys

import polars as pl
import pytest

from manyveils.spark import limits
from manyveils.spark import session as sessions

MARK = "Zq7"
HEADER = "name,age,city,illness"


@pytest.fixture
def refused(spark, desk, capfd):
    """Refuse to publish on Spark, and say what was said; nothing that Java or a worker says quotes a cell."""

    def refused(*words, status=2):
        publish = ("publish", desk.folder / "policy.toml", "--out", desk.out, "--engine", "spark")
        said = desk.refused(*publish, *words, status=status)
        assert MARK not in "".join(capfd.readouterr()).replace(str(desk.folder), "")
        return said

    return refused


def rows(n=12):
    """Lines of the small table."""
    return [f"{MARK}name{i},{20 + i},{MARK}city{i % 3},{MARK}ill{i % 4}" for i in range(n)]


def folder_of(desk, **files):
    """A folder with some files of lines."""
    (desk.folder / "folder").mkdir()
    for name, lines in files.items():
        desk.data("\n".join(lines) + "\n", f"folder/{name}.csv")
    return desk.folder / "folder"


def test_it_publishes(spark, desk):
    """Without a mistake there is a release, which the command audits on either engine; csv files may be several."""
    folder = folder_of(desk, one=[HEADER, *rows()[:5]], two=[HEADER, *rows()[5:]])
    desk.published("--engine", "spark", "--data", folder)
    for engine in ("local", "spark"):
        data = desk.folder / "people.csv" if engine == "local" else folder
        words = (
            "audit",
            desk.out,
            "--policy",
            desk.folder / "policy.toml",
            "--data",
            data,
            "--engine",
            engine,
        )
        assert desk.run(*words).status == 0


def test_other_formats(refused):
    """Spark writes parquet only."""
    assert "format: Spark writes parquet only. Leave it out" in refused("--format", "csv")


def test_no_such_data(refused, desk):
    """A path that leads nowhere, and a folder with nothing in it, are named."""
    assert "there are no such data. Name a csv or parquet file" in refused(
        "--data", desk.folder / "nowhere.csv"
    )
    (desk.folder / "nothing").mkdir()
    assert f"{desk.folder / 'nothing'}: there are no such data." in refused("--data", desk.folder / "nothing")


def test_a_column_that_is_not_there(refused, desk):
    """Columns of the policy and of the data that do not match are all named, as the local engine names them."""
    desk.policy(attributes={"town": {"role": "quasi"}, "city": None})
    said = refused()
    assert "town" in said
    assert "city" in said
    assert said == desk.refused()


def test_nobody(refused, desk):
    """A header without rows is refused."""
    desk.data(HEADER + "\n")
    assert "there is a header but no row." in refused()


@pytest.mark.parametrize("line", [f"{MARK}a,1,{MARK}b,{MARK}c,{MARK}d", f"{MARK}a,1"])
def test_rows_of_another_width(refused, desk, line):
    """A row with more or fewer cells than the header is refused, and not quoted."""
    desk.data("\n".join([HEADER, *rows(), line]) + "\n")
    assert "more or fewer cells than the header" in refused()


def test_files_whose_headers_differ(refused, desk):
    """Columns that stand in another order in a second file are never taken for each other."""
    folder = folder_of(desk, one=[HEADER, *rows()], two=["name,age,illness,city", *rows()])
    assert "data: the csv files of a folder have different headers." in refused("--data", folder)


def test_files_of_two_kinds(refused, desk):
    """A folder with csv and parquet files is refused."""
    folder = folder_of(desk, one=[HEADER, *rows()])
    pl.DataFrame({"name": [MARK], "age": [1], "city": [MARK], "illness": [MARK]}).write_parquet(
        folder / "two.parquet"
    )
    assert "csv and parquet" in refused("--data", folder)


def test_files_that_are_not_text(refused, desk):
    """A csv file in another encoding is refused."""
    desk.data("\n".join(["näme,age,city,illness", *rows()]).encode("latin-1"))
    assert "UTF-8" in refused()


def test_damaged_parquet(refused, desk):
    """A parquet file that is none is refused."""
    desk.data(f"{MARK} is no parquet", "people.parquet")
    assert "cannot be read as parquet" in refused("--data", desk.folder / "people.parquet")


LIMITS = {
    "MANYVEILS_DRIVER_CELLS": limits.driver_cells,
    "MANYVEILS_PART_ROWS": limits.part_rows,
    "MANYVEILS_WHOLE_CELLS": limits.whole_cells,
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", ["many", "0", "-5", "1e6", "²"])
def test_garbage_in_the_environment(monkeypatch, name, value):
    """A limit that is no whole number above 0 is refused by name."""
    from manyveils.errors import InputError

    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name}: must be a whole number above 0. Leave it out for"):
        LIMITS[name]()


def test_counts_that_do_not_fit(refused, monkeypatch):
    """It is said which counts do not fit, and what can be done."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "10")
    said = refused(status=1)
    assert "combinations of" in said
    assert "their counts do not fit the driver" in said
    assert "raise MANYVEILS_DRIVER_CELLS" in said


def test_a_master_without_spark(desk):
    """Where to run is Spark's business."""
    words = ("publish", desk.folder / "policy.toml", "--out", desk.out, "--master", "local[2]")
    assert "master: is for Spark alone. Give --engine spark too" in desk.refused(*words)


def test_spark_is_not_installed(refused, monkeypatch):
    """Without the extra, it is said how to install it."""
    monkeypatch.setattr(sessions, "find_spec", lambda name: None)
    assert "Spark is not installed. Install it with: pip install 'manyveils[spark]'" in refused()


def test_a_master_that_is_none(desk):
    """A master that Spark does not know is refused in one line, by a process of its own."""
    words = [
        "publish",
        desk.folder / "policy.toml",
        "--out",
        desk.out,
        "--engine",
        "spark",
        "--master",
        "moon",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from manyveils.cli import main; main()", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 2
    assert not desk.out.exists()
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert MARK not in done.stderr.replace(str(desk.folder), "")
    assert len(done.stderr.splitlines()) <= 3


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3a://bucket/people", "this session of Spark has no file system for that address"),
        ("gs://bucket/people", "this session of Spark has no file system for that address"),
        ("s3a://bucket/people.csv", "parquet alone from a store"),
        ("ftp://host/people", "Spark reads parquet from s3a, gs, abfss, hdfs, and not from ftp"),
    ],
)
def test_stores_that_spark_cannot_read(spark, tmp_path, address, said):
    """The address of a store is refused where Spark has no file system for it, and where it has no parquet."""
    from manyveils.datasets import hospital_policy
    from manyveils.errors import DataError
    from manyveils.publishing import publish_to

    with pytest.raises(DataError, match=said):
        publish_to(hospital_policy(), tmp_path / "out", data=address, engine="spark")
    assert not (tmp_path / "out").exists()
