"""`manyveils init`: from a file to a commented policy, and on to a release."""

import json

import polars as pl
import pytest

from manyveils.policy import Policy

MARK = "Zq7"


@pytest.fixture
def fresh(desk):
    """A desk with a table of marked cells and no policy."""
    (desk.folder / "policy.toml").unlink()
    rows = [
        f"{MARK}n{i},{20 + i % 47},{MARK}{i % 7},{MARK}i{i % 6},{MARK}j{i % 5},2024-0{1 + i % 9}-11"
        for i in range(120)
    ]
    desk.data("\n".join(["name,age,city,illness,religion,admitted", *rows]) + "\n")
    return desk


def test_from_data_to_release(fresh):
    """The policy is written, loads, and publishes as it stands; the next command is said."""
    policy = fresh.folder / "policy.toml"
    made = fresh.run("init", fresh.folder / "people.csv", "-o", policy)
    assert made.status == 0, made.said
    assert f"Next: manyveils plan {policy}" in made.stdout.replace("\n", " ").replace("  ", " ")
    loaded = Policy.load(policy)
    assert loaded.data.source == "people.csv"
    assert loaded.having("identifier") == ("name",)
    assert loaded.sensitive == ("illness", "religion")
    fresh.published()


def test_from_visits_to_release(fresh):
    """Where patients come again, the policy says so with its reason, and publishes as it stands."""
    policy = fresh.folder / "policy.toml"
    rows = [
        f"{MARK}p{i // 3},{20 + i // 3 % 20},{MARK}{i // 3 % 7},{MARK}i{i % 6},{MARK}b{i // 60}"
        for i in range(240)
    ]
    fresh.data("\n".join(["patient,age,city,illness,blood", *rows]) + "\n")
    made = fresh.run("init", fresh.folder / "people.csv", "-o", policy)
    assert made.status == 0, made.said
    assert "Decide: Persons are told apart by patient (80 persons in 240 rows)" in made.stdout.replace(
        "\n", " "
    )
    loaded = Policy.load(policy)
    assert (loaded.person, loaded.constant) == (("patient",), ("blood",))
    fresh.published()


def test_no_cell_is_shown(fresh):
    """Neither the tables, nor the JSON, nor the policy holds a cell."""
    policy = fresh.folder / "policy.toml"
    shown = fresh.run("init", fresh.folder / "people.csv", "-o", policy)
    text = policy.read_text(encoding="utf-8")
    in_json = fresh.run("init", fresh.folder / "people.csv", "-o", policy, "--force", "--json")
    for said in (shown.said, text, in_json.said):
        assert MARK not in said.replace(str(fresh.folder), "")
        assert "2024-0" not in said


def test_json(fresh):
    """With --json there is one document: the profile, and where the policy is."""
    policy = fresh.folder / "policy.toml"
    made = fresh.run("init", fresh.folder / "people.csv", "-o", policy, "--json")
    assert made.document["policy"] == str(policy)
    profile = made.document["profile"]
    assert profile["rows"] == 120
    assert [each["name"] for each in profile["columns"]] == [
        *("name", "age", "city", "illness", "religion", "admitted")
    ]
    assert all(each["reason"] for each in profile["columns"])
    assert profile["uniqueness"]["together"] >= 0
    assert json.dumps(made.document)


def test_source_is_seen_from_the_policy(fresh):
    """The policy finds the data from its own folder."""
    (fresh.folder / "inner").mkdir()
    policy = fresh.folder / "inner" / "policy.toml"
    assert fresh.run("init", fresh.folder / "people.csv", "-o", policy).status == 0
    assert Policy.load(policy).data.source == "../people.csv"
    assert fresh.run("publish", policy, "--out", fresh.out).status == 0


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_other_files(fresh, ending):
    """Parquet and Arrow files with dates, numbers, true and false are profiled and published."""
    frame = pl.read_csv(fresh.folder / "people.csv", try_parse_dates=True)
    frame = frame.with_columns((pl.col("age") > 40).alias("older"))
    data = fresh.folder / f"people.{ending}"
    frame.write_parquet(data) if ending == "parquet" else frame.write_ipc(data)
    assert fresh.run("init", data, "-o", fresh.folder / "policy.toml").status == 0
    fresh.published()


def test_force_replaces(fresh):
    """An existing policy is replaced with --force."""
    policy = fresh.data("old = true\n", "policy.toml")
    assert fresh.run("init", fresh.folder / "people.csv", "-o", policy, "--force").status == 0
    assert Policy.load(policy)


def test_warnings_are_shown(desk):
    """What only the holder of the data can decide is said, on the screen and in the policy."""
    data = desk.data("age,town\n" + "".join(f"{20 + i},{MARK}{i % 3}\n" for i in range(30)))
    made = desk.run("init", data, "-o", desk.folder / "new.toml")
    assert "Decide: No column seems sensitive" in made.stdout
    assert "# Decide: No column seems sensitive" in (desk.folder / "new.toml").read_text(encoding="utf-8")


KEYS = {"encounter", "patient", "person", "visit", "record", "name"}


@pytest.mark.parametrize("name", ["encounters", "visits", "survey"])
def test_from_file_to_release_by_the_edits_it_asks_for(desk, name):
    """Tables of different shape go from file to release by init, the decisions it asks for, and publish; no key is in any."""
    from manyveils import datasets

    (desk.folder / "policy.toml").unlink()
    frame = getattr(datasets, name)(1_500)
    frame.write_csv(desk.folder / "people.csv")
    policy = desk.folder / "policy.toml"
    made = desk.run("init", desk.folder / "people.csv", "-o", policy, "--json")
    assert made.status == 0, made.said
    text = policy.read_text(encoding="utf-8")
    if 'role = "?"' in text:
        assert "is not decided" in desk.refused()
        policy.write_text(text.replace('role = "?"', 'role = "drop"'), encoding="utf-8")
    out = desk.published("--format", "parquet")
    tables = [pl.read_parquet(path, hive_partitioning=False) for path in out.rglob("*.parquet")]
    released = {name for table in tables for name in table.columns}
    assert released
    assert not released & KEYS
    # Short numbers are ages and codes elsewhere.
    keys = {str(cell) for key in KEYS & {*frame.columns} for cell in frame[key] if len(str(cell)) > 4}
    cells = {str(cell) for table in tables for column in table for cell in column}
    assert not keys & cells
