"""Tables that something else published, judged as they stand."""

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import manyveils as mv
from manyveils.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "judge-any-table.md"
FENCE = {
    name: re.compile(rf"^```{name}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for name in ("csv", "toml", "sh", "python", "text")
}

POLICY = {
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [10]}},
        "illness": {"role": "sensitive"},
        "income": {"role": "sensitive"},
    },
    "guarantee": {"k": 3, "l": 2},
}
TABLE = pl.DataFrame(
    {
        "age": ["[20, 30[", "[20, 30[", "[20, 30[", "*", "*", "*"],
        "illness": ["flu", "cold", "flu", "asthma", "flu", "asthma"],
        "income": ["1", "2", "2", "3", "1", "2"],
    }
)


def finding(audit, promise, attribute="", reading="marginal"):
    """The one finding of a kind."""
    [only] = [
        found
        for found in audit.findings
        if (found.promise, found.attribute, found.reading) == (promise, attribute, reading)
    ]
    return only


def test_labels_are_values():
    """Rows with equal labels are a group, and so are rows in which everything is starred."""
    audit = mv.check(TABLE, POLICY)
    assert audit.kept
    assert finding(audit, "k-anonymity").measured == 3
    assert finding(audit, "distinct-l-diversity", "illness").groups == 2
    assert not finding(audit, "distinct-l-diversity", "income", "conditional").kept


def test_a_published_identifier_is_a_finding():
    """A column of names breaks what holds for every table, and says in how many cells."""
    audit = mv.check(TABLE.with_columns(name=pl.Series(list("abcdef"))), POLICY)
    assert [(found.promise, found.attribute, found.measured) for found in audit.broken] == [
        ("not-exposed", "name", 6)
    ]


def test_without_an_original_gaps_are_listed():
    """What needs the original is listed as not judged, and with the original it is judged."""
    alone = mv.check(TABLE, POLICY)
    assert "nothing-lost" in {gap["promise"] for gap in alone.not_judged}
    original = TABLE.with_columns(name=pl.Series(list("abcdef")), age=pl.Series([20, 21, 29, 31, 40, 50]))
    beside = mv.check(TABLE, POLICY, data=original)
    assert "nothing-lost" not in {gap["promise"] for gap in beside.not_judged}
    assert finding(beside, "nothing-lost", reading="release").promised


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "csv", "parquet", "folder"])
def test_any_kind_of_table_is_judged_alike(kind, tmp_path):
    """Dataframes, files and folders of parts give the same findings."""
    frames = {"pandas": TABLE.to_pandas, "pyarrow": TABLE.to_arrow, "polars": lambda: TABLE}
    if kind == "folder":
        (tmp_path / "_SUCCESS").touch()
        TABLE.head(2).write_parquet(tmp_path / "part-0.parquet")
        TABLE.tail(4).write_parquet(tmp_path / "part-1.parquet")
        given = tmp_path
    elif kind in frames:
        given = frames[kind]()
    else:
        given = tmp_path / f"table.{kind}"
        (TABLE.write_csv if kind == "csv" else TABLE.write_parquet)(given)
    assert mv.check(given, POLICY).findings == mv.check(TABLE, POLICY).findings


def test_a_folder_without_parts_is_no_table(tmp_path):
    """A folder is a release, a table in parts, or neither."""
    with pytest.raises(mv.DataError, match="is a folder"):
        mv.check(tmp_path, POLICY)


@pytest.mark.parametrize("command", ["audit", "measure", "attack", "report"])
def test_a_wrong_path_is_named(command, tmp_path):
    """A path at which there is nothing is what is wrong, and no setting of the policy."""
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    done = CliRunner().invoke(app, [command, str(tmp_path / "nosuch.csv"), "--policy", str(policy)])
    assert done.exit_code == 2
    assert "nosuch.csv: there is no such file or folder." in " ".join(done.output.split())


@pytest.mark.parametrize("with_data", [False, True])
def test_what_is_no_part_is_counted(with_data, tmp_path):
    """A folder of parts with something else in it says how much of that there is."""
    original = TABLE.with_columns(name=pl.Series(list("abcdef")), age=pl.Series([20, 21, 29, 31, 40, 50]))
    folder = tmp_path / "parts"
    (folder / "inner").mkdir(parents=True)
    TABLE.head(3).write_csv(folder / "a.csv")
    TABLE.tail(3).write_csv(folder / "b.csv")
    for name in ("readme.txt", "notes.md"):
        (folder / name).touch()
    with pytest.raises(mv.DataError, match="something else than parts of a table: 2 files and 1 folder"):
        mv.audit(folder, original if with_data else None, POLICY)
    (folder / "inner").rmdir()
    (folder / "notes.md").unlink()
    with pytest.raises(mv.DataError, match=r"something else than parts of a table: 1 file\."):
        mv.check(folder, POLICY, data=original if with_data else None)
    (folder / "readme.txt").rename(folder / "_readme.txt")
    assert mv.audit(folder, None, POLICY).kept


def test_what_a_table_does_not_have_is_said():
    """An attribute of the policy that is not in the table is not judged, and listed."""
    audit = mv.check(TABLE.drop("income"), POLICY)
    assert {gap["promise"] for gap in audit.not_judged} >= {"any about income"}
    assert {found.attribute for found in audit.findings} == {"", "illness", "name"}


def test_parts_have_the_same_columns(tmp_path):
    """Parts that differ are refused."""
    TABLE.write_csv(tmp_path / "a.csv")
    TABLE.drop("income").write_csv(tmp_path / "b.csv")
    with pytest.raises(mv.DataError, match="1 of 2 parts do not have the columns of the first"):
        mv.check(tmp_path, POLICY)


def test_a_column_without_a_role_is_refused():
    """What nobody gave a role is not passed over in silence, and no cell is quoted."""
    with pytest.raises(mv.DataError, match="column 'extra' has no role"):
        mv.check(TABLE.with_columns(extra=pl.lit("Zq7")), POLICY)


def test_a_table_that_is_too_small_breaks_its_promise():
    """More rows or values than there are is a broken promise, and no wrong policy."""
    policy = POLICY | {"guarantee": {"k": 7, "l": 4}}
    audit = mv.check(TABLE, policy)
    assert {(found.promise, found.attribute) for found in audit.broken} >= {
        ("k-anonymity", ""),
        ("distinct-l-diversity", "illness"),
    }


def test_persons_are_counted_where_the_table_names_them():
    """With the person in the table a group is of persons; without, rows are counted and it is said."""
    frame = TABLE.with_columns(name=pl.Series(["a", "a", "b", "c", "d", "e"]))
    policy = POLICY | {"data": {"person": "name"}}
    audit = mv.check(frame, policy)
    assert finding(audit, "k-anonymity").measured == 2
    assert not finding(audit, "not-exposed", "name", "release").kept
    unnamed = mv.check(TABLE, policy)
    assert finding(unnamed, "k-anonymity").measured == 3
    assert "name would tell persons apart and is not in the table" in unnamed.persons["note"]


def test_persons_stand_where_their_rows_are():
    """Beside an original with persons, whose a line is follows from the table's own names."""
    names = ["a", "a", "b", "c", "d", "e"]
    ages = pl.Series([20, 21, 29, 31, 40, 50])
    original = TABLE.with_columns(age=ages, name=pl.Series(names))
    policy = POLICY | {"data": {"person": "name"}}
    beside = mv.check(TABLE.with_columns(name=pl.Series(names)).reverse(), policy, data=original)
    assert finding(beside, "k-anonymity").measured == 2
    assert not beside.untold


@pytest.mark.parametrize(
    ("label", "inside"),
    [
        ("[20, 30[", 3),
        ("]20, 30]", 3),
        ("(20,30]", 3),
        ("[20,30)", 3),
        ("[20, 30]", 4),
        ("<30", 3),
        (">=30", 3),
        (">30", 2),
        ("<=20", 1),
        ("{20, 21}", 2),
    ],
)
def test_intervals_of_other_tools_are_read(label, inside):
    """A label accounts for as many rows as the original has between its ends, ends as its brackets say."""
    original = pl.DataFrame(
        {"name": list("abcdef"), "age": [20, 21, 29, 30, 40, 50], "illness": ["x", "y"] * 3}
    )
    policy = {name: POLICY["attributes"][name] for name in ("name", "age", "illness")}
    for n_rows, n_wrong in ((inside, 0), (inside + 1, 1)):
        table = pl.DataFrame({"age": [label] * n_rows, "illness": ["x", "y", "x", "y", "x", "y"][:n_rows]})
        audit = mv.check(table, {"attributes": policy, "publish": {"suppression": 1.0}}, data=original)
        assert finding(audit, "nothing-lost", reading="release").measured == n_wrong


def test_missing_as_any_is_for_judging_alone():
    """Nothing is published with it, and persons with several rows are not counted by it."""
    policy = POLICY | {"data": {"missing": "any"}}
    with pytest.raises(mv.PolicyError, match="any is for judging"):
        mv.publish(TABLE.with_columns(name=pl.Series(list("abcdef"))), policy)
    frame = TABLE.with_columns(name=pl.Series(["a", "a", "b", "c", "d", "e"]))
    with pytest.raises(mv.PolicyError, match="any counts rows"):
        mv.check(frame, policy | {"data": {"missing": "any", "person": "name"}})


def test_attacks_and_measures_take_a_table():
    """What needs no release of ours runs on a table beside its original; what does, says why not."""
    original = TABLE.with_columns(name=pl.Series(list("abcdef")), age=pl.Series([20, 21, 29, 31, 40, 50]))
    attacks = mv.attack(TABLE, original, POLICY, only=["homogeneity", "minimality"], seed=1)
    assert attacks["homogeneity"].success is not None
    assert "made by another tool" in attacks["minimality"].reason
    assert mv.measure(TABLE, original, POLICY)["average_class_size"] == 3
    assert "another tool" in mv.report(TABLE, original, POLICY, only=["linkage"], seed=1).html


def test_the_page_shows_what_happens(tmp_path, monkeypatch, capsys):
    """The table, the policy, the command and the program of the page do what it says."""
    text = PAGE.read_text(encoding="utf-8")
    block = {name: FENCE[name].search(text).group(1) for name in FENCE}
    (tmp_path / "published.csv").write_text(block["csv"], encoding="utf-8")
    (tmp_path / "policy.toml").write_text(block["toml"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(block["sh"])[1:])
    assert done.exit_code == 1
    rows = pl.read_csv("rows.csv")
    assert rows.filter(pl.col("distinct-l-diversity of illness"))["row"].to_list() == [4, 5, 6]
    capsys.readouterr()
    exec(block["python"], {})
    assert capsys.readouterr().out == block["text"]


def test_rows_are_for_tables_alone(tmp_path):
    """A release has no rows to tell of, and a table is not overwritten by its own rows."""
    table, policy = tmp_path / "table.csv", tmp_path / "policy.json"
    TABLE.write_csv(table)
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    same = CliRunner().invoke(app, ["audit", str(table), "--policy", str(policy), "--rows", str(table)])
    assert (same.exit_code, "is the table itself" in same.output) == (2, True)
    original = TABLE.with_columns(name=pl.Series(list("abcdef")), age=pl.Series([20, 21, 29, 31, 40, 50]))
    release = mv.publish(original, POLICY, seed=1)
    with pytest.raises(mv.InputError, match="this is a release"):
        mv.audit(release, original, POLICY, rows=True)


def test_json_has_gaps_and_what_init_found(tmp_path):
    """Both are one JSON document on stdout."""
    table, policy = tmp_path / "table.csv", tmp_path / "policy.json"
    TABLE.write_csv(table)
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    done = CliRunner().invoke(app, ["audit", str(table), "--policy", str(policy), "--json"])
    assert {gap["promise"] for gap in json.loads(done.stdout)["not_judged"]} >= {
        "nothing-lost",
        "suppression",
    }
    made = CliRunner().invoke(app, ["init", str(table), "-o", str(tmp_path / "new.toml"), "--json"])
    kept = json.loads(made.stdout)["keeps"]
    assert kept["k"] == 3
    assert {(of["attribute"], of["reading"]) for of in kept["attributes"]} >= {("income", "marginal")}


def test_rows_that_are_nobodys_are_found():
    """Cells that are all in the original, in rows that are not, are told beside the original."""
    original = TABLE.with_columns(name=pl.Series(list("abcdef")), age=pl.Series([20, 21, 29, 31, 40, 50]))
    table = original.drop("name").with_columns(illness=original["illness"].reverse())
    told = {found.promise: found.kept for found in mv.check(table, POLICY, data=original).findings}
    assert (told["nothing-lost"], told["rows-true"]) == (True, False)
