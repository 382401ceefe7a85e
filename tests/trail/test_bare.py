"""Tables that something else published, judged as they stand."""

import polars as pl
import pytest

import manyveils as mv

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
