"""Columns that are left out, and what one is told of those that nothing is said of."""

import json

import polars as pl
import pytest

import manyveils as mv


def wide(n=40):
    """A table with so many columns beside an age and an illness."""
    columns = {f"extra{i}": [f"Zq7{i}"] * 12 for i in range(n)}
    return pl.DataFrame({"age": [20, 21] * 6, **columns, "illness": [f"Zq7ill{i % 4}" for i in range(12)]})


SECTIONS = {
    "attributes": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
    "guarantee": {"k": 2, "l": 2},
}


def test_many_columns_without_a_role():
    """Forty columns that nothing is said of are told in one sentence, which does not advise to publish them."""
    with pytest.raises(mv.DataError) as caught:
        mv.publish(wide(), SECTIONS)
    [problem] = caught.value.problems
    assert "40 columns have no role: 'extra0', 'extra1'" in problem.what
    assert problem.what.endswith("and 28 more.")
    assert "neutral" not in str(caught.value)
    assert 'columns = ["…"] in [data] leaves out all others' in problem.remedy


def test_columns_that_are_read():
    """With `columns` the others are left out, as if the data had none of them."""
    named = SECTIONS | {"data": {"columns": ["age", "illness"]}}
    release, same = mv.publish(wide(), named, seed=1), mv.publish(wide(0), SECTIONS, seed=1)
    assert release.tables["main"].equals(same.tables["main"])
    assert mv.audit(release, wide(), named).kept


def test_columns_and_roles_disagree():
    """A column that has a role and is not read, and one that is read and not there, are told together."""
    with pytest.raises(mv.DataError) as caught:
        mv.publish(wide(1), SECTIONS | {"data": {"columns": ["age", "extra", "extra0"]}})
    said = str(caught.value)
    assert "data.columns: leaves 'illness' out, which has a role." in said
    assert "data.columns: the data have no column 'extra'." in said
    assert "column 'extra0' has no role." in said


def test_a_column_that_is_dropped(desk):
    """What is dropped is in no file of the release, repeats without a word, and its empty cells drop no row."""
    rows = [f"Zq7name,{20 + i % 4},Zq7city{i % 3},Zq7ill{i % 4}" for i in range(12)]
    desk.data("\n".join(["name,age,city,illness", *rows, ",20,Zq7city1,Zq7ill1"]) + "\n")
    desk.policy(attributes={"name": {"role": "drop"}}, data={"missing": "drop"})
    out = desk.published()
    assert not any(b"Zq7name" in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert json.loads((out / "release.json").read_text(encoding="utf-8"))["rows"] == 13


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"rules": [{"given": ["age"], "protect": "name"}]}, "rules[1]: 'name' is never published."),
        ({"data": {"person": "name"}}, "data.person: 'name' has the role 'drop'"),
        ({"attributes": {"name": {"role": "drop", "constant": True}}}, "the role 'drop' is never published"),
    ],
)
def test_what_is_dropped_is_not_there(desk, section, words):
    """Nothing can be said of a column that is dropped."""
    desk.document["attributes"]["name"] = {"role": "drop"}
    desk.policy(**section)
    assert words in desk.refused()
