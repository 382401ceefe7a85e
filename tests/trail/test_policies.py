"""One policy in four guises, and what it says of missing cells and of several values in a cell."""

import json

import polars as pl
import pytest

import manyveils as mv
from manyveils.policy.sections import AttributeSection, GuaranteeKeys

ROWS = [(age, city, illness) for age in (20, 30, 40) for city in ("a", "b") for illness in ("x", "y", "z")]


def frame(**columns):
    """A small table, with some columns replaced."""
    table = pl.DataFrame(ROWS * 2, schema=["age", "city", "illness"], orient="row")
    return table.with_columns(pl.Series(name, values) for name, values in columns.items())


def sections(**changes):
    """The small table's policy, with some sections replaced."""
    return {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
            "city": {"role": "quasi"},
            "illness": {"role": "sensitive"},
        },
        "guarantee": {"k": 3, "l": 2},
    } | changes


def files(release):
    """The tables of a release as text."""
    return {name: table.write_csv() for name, table in release.frames.items()}


def test_four_guises(tmp_path, desk):
    """TOML, JSON, a mapping and a Policy made of keywords or models give the same release."""
    toml, as_json = desk.data("", "p.toml"), tmp_path / "p.json"
    desk.document = sections()
    toml = desk.policy("p.toml")
    as_json.write_text(json.dumps(sections()))
    models = mv.Policy(
        attributes={
            "age": AttributeSection(role="quasi", hierarchy={"widths": [10, 20]}),
            "city": AttributeSection(role="quasi"),
            "illness": AttributeSection(role="sensitive"),
        },
        guarantee=GuaranteeKeys(k=3, l=2),
    )
    guises = [toml, str(toml), as_json, mv.Policy.load(toml), sections(), mv.Policy(**sections()), models]
    releases = [mv.publish(frame(), guise, seed=1) for guise in guises]
    assert all(files(release) == files(releases[0]) for release in releases)
    assert all(release.manifest == releases[0].manifest for release in releases)
    audits = [mv.audit(releases[0], frame(), guise).describe() for guise in guises]
    assert all(audit == audits[0] for audit in audits)


GAPS = [None] * 9 + [20] * 9 + [30] * 9 + [40] * 9


def test_missing_is_a_category():
    """By default a missing cell is a value of its own, published as an empty cell."""
    release = mv.publish(frame(age=GAPS), sections(), seed=1)
    assert release.rows == 36
    assert release.frames["main"]["age"].null_count() == 9
    assert mv.audit(release, frame(age=GAPS), sections()).kept


def test_missing_is_dropped():
    """With "drop" rows with a gap are left out before anything else."""
    rules = sections(data={"missing": "drop"})
    release = mv.publish(frame(age=GAPS), rules, seed=1)
    assert release.rows == 27
    assert release.frames["main"]["age"].null_count() == 0
    assert mv.audit(release, frame(age=GAPS), rules).kept


def test_missing_is_refused():
    """With "error" one gap is enough to refuse, and none is fine."""
    rules = sections(data={"missing": "error"})
    mv.publish(frame(), rules)
    with pytest.raises(mv.DataError, match="data: age: 9 of 36 cells are missing"):
        mv.publish(frame(age=GAPS), rules)


@pytest.mark.parametrize("marker", ["-1", "?"])
def test_missing_markers(tmp_path, marker):
    """Markers stand for missing cells: in text, and where they are numbers in numbers too."""
    rules = sections(data={"missing_markers": ["-1", "?"]})
    path = tmp_path / "p.csv"
    frame(age=[marker if age is None else str(age) for age in GAPS]).write_csv(path)
    expected = files(mv.publish(frame(age=GAPS), rules, seed=1))
    assert files(mv.publish(path, rules, seed=1)) == expected
    if marker == "-1":
        assert files(mv.publish(frame(age=[age or -1 for age in GAPS]), rules, seed=1)) == expected


@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate"])
def test_multivalued(method):
    """Several values in a cell are published as one 0/1 column each, a gap as none of them, and the manifest says so."""
    cells = ["x", "x|y", " y | z ", None, "w", "w|z"] * 6
    rules = sections(publish={"method": method, "suppression": 0})
    rules["attributes"] = rules["attributes"] | {"illness": {"role": "sensitive", "multivalued": "|"}}
    release = mv.publish(frame(illness=cells), rules | {"guarantee": {"k": 3, "l": 2}}, seed=1)
    bits = ("illness=w", "illness=x", "illness=y", "illness=z")
    assert release.manifest.derived == {"illness": bits}
    tables = {
        name: table[name] for table in release.frames.values() for name in table.columns if name in bits
    }
    assert {name: int(column.sum()) for name, column in tables.items()} == dict.fromkeys(bits, 12)
    assert all("illness" not in table.columns for table in release.frames.values())


def test_overrides():
    """An attribute's own guarantee is promised in place of the general one, key by key."""
    rules = sections()
    rules["attributes"] = rules["attributes"] | {"illness": {"role": "sensitive", "guarantee": {"l": 3}}}
    promises = mv.publish(frame(), rules, seed=1).manifest.promises
    assert [promise["parameters"] for promise in promises if promise.get("attribute") == "illness"] == [
        {"l": 3}
    ]


def test_replaced():
    """A policy with another method is the same policy otherwise."""
    policy = mv.Policy(**sections())
    other = policy.replaced(publish={"method": "separate"})
    assert other.publish.method == "separate"
    assert other.attributes == policy.attributes
    assert policy.publish.method == "generalize"


@pytest.mark.parametrize("method", ["generalize", "anatomize", "slice", "separate"])
def test_no_quasi_identifier(method):
    """A policy without quasi-identifiers promises something of the whole table, and can be published if it says so."""
    rules = sections(publish={"method": method}) | {"accept": ["no-quasi: k"]}
    rules["attributes"] = {name: {"role": "neutral"} for name in ("age", "city")} | {
        "illness": {"role": "sensitive"}
    }
    release = mv.publish(frame(), rules, seed=1)
    assert mv.audit(release, frame(), rules).kept
