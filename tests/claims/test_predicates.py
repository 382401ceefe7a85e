"""Conditions: how they are written, and which values they hold for."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.reading.domains import Domain
from manyveils.reading.predicates import Condition, masks_of, parse

DOMAINS = {
    "age": Domain("age", ("", "9", "10", "25.5")),
    "first name": Domain("first name", ("O'Neil", "and", "x y")),
    "m=Flu": Domain("m=Flu", ("0", "1")),
}
DERIVED = {"m": ("m=Flu",), "none": ()}


@pytest.mark.parametrize(
    ("text", "name", "held"),
    [
        ("age = 10", "age", ["10"]),
        ("age = 10.0", "age", ["10"]),
        ("age != 10", "age", ["9", "25.5"]),
        ("age <> 10", "age", ["9", "25.5"]),
        ("age < 10", "age", ["9"]),
        ("age >= 10", "age", ["10", "25.5"]),
        ("age between 9 and 10", "age", ["9", "10"]),
        ("age in (9, 25.5, 77)", "age", ["9", "25.5"]),
        ("age is missing", "age", [""]),
        ("age = ''", "age", []),
        ("age == 9", "age", ["9"]),
        ("AGE_missing = 1".replace("AGE_missing", "age"), "age", []),
        ("age is not missing and age<=10", "age", ["9", "10"]),
        ("age > 9 AND age < 25", "age", ["10"]),
        ("\"first name\" = 'O''Neil'", "first name", ["O'Neil"]),
        ("`first name` in ('and', \"x y\")", "first name", ["and", "x y"]),
        ("`first name` >= 'b'", "first name", ["x y"]),
        ("m = 'Flu'", "m=Flu", ["1"]),
        ("m != Flu", "m=Flu", ["0"]),
        ("m = Gout", "m=Flu", []),
        ("m != Gout", "m=Flu", ["0", "1"]),
        ("m contains 'Flu'", "m=Flu", ["1"]),
        ("m CONTAINS Flu", "m=Flu", ["1"]),
        ("m not contains 'Flu'", "m=Flu", ["0"]),
        ("m contains 'Gout'", "m=Flu", []),
        ("m not contains Gout", "m=Flu", ["0", "1"]),
        ('"m=Flu" = 1', "m=Flu", ["1"]),
        ("none contains 'Gout'", "age", []),
    ],
)
def test_conditions(text, name, held):
    """A condition holds for the values that it names, and missing values fit only where they are asked for."""
    masks = masks_of(parse(text), DOMAINS, DERIVED)
    assert list(masks) == [name]
    assert [value for value, holds in zip(DOMAINS[name].texts, masks[name], strict=True) if holds] == held


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("age", "ends too early"),
        ("age =", "ends too early"),
        ("age ~ 3", "where a comparison should be"),
        ("age = 3 or age = 4", "where 'and' should be"),
        ("age in (1, 2", "ends too early"),
        ("age in 3", "where '(' should be"),
        ("age is nice", "after `is`"),
        ("age = 'x", "cannot be read from character 7 on"),
        ("height > 3", "'height' is not published"),
        ("m > 3", "holds several values"),
        ("m in ('Flu')", "Write contains 'value' or not contains 'value', one value at a time."),
        ("m contains", "ends too early"),
        ("m contains (", "where a value should be"),
        ("m not 'Flu'", "where 'contains' should be"),
        ("age contains 9", "asks what 'age' contains, which holds one value in a cell"),
        ('"m=Flu" contains 1', "asks what 'm=Flu' contains, which holds one value in a cell"),
        ("n contains 'Flu'", "'n' is not published"),
        ("age < 5k", "compares 'age', which holds numbers, with something else"),
        ("age > 3;", "compares 'age', which holds numbers, with something else"),
        ("`first name` > 3", "which holds texts that are no numbers"),
        ("Age > 3", "Did you mean 'age'?"),
        ("age between 3 or 4", "where 'and' should be"),
        ("= 3", "where a comparison should be"),
    ],
)
def test_mistakes(text, complaint):
    """A condition that cannot be read is refused with what is wrong and how it is written."""
    with pytest.raises(mv.InputError) as refused:
        masks_of(parse(text), DOMAINS, DERIVED)
    assert complaint in str(refused.value)


def test_parse():
    """Conditions keep their order."""
    assert parse("a = 1 and b in ('x')") == [Condition("a", "=", ("1",)), Condition("b", "in", ("x",))]


def test_counts_of_a_release(tmp_path):
    """A release answers from memory and from its folder alike, and exactly where it can."""
    frame = pl.DataFrame({"age": [20, 20, 30, 30, 40, 40], "ill": ["a", "b", "a", "c", "b", "a"]})
    policy = {
        "attributes": {
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [20]}},
            "ill": {"role": "sensitive"},
        },
        "guarantee": {"k": 2},
        "publish": {"method": "generalize"},
    }
    release = mv.publish(frame, policy, seed=1)
    release.save(tmp_path / "out")
    for held in (release, mv.Release.load(tmp_path / "out")):
        found = held.count("ill = 'a' and age < 35")
        assert (found.low, found.high) == (2, 2)
        assert float(found) == 2
    sampled = release.sample(500, seed=3)
    assert set(sampled.columns) == {"age", "ill"}
    assert np.isclose(sampled.filter(pl.col("ill") == "a").height / 500, 0.5, atol=0.1)


@pytest.mark.parametrize("method", ["generalize", "anatomize", "slice", "separate"])
def test_values_among_several(method):
    """A value among several in a cell is counted by its 0/1 column, beside other conditions, as in the data."""
    codes = ["250|401", "250", "", "401", "v58", "v58|250", "401", "v58"]
    frame = pl.DataFrame({"age": [20, 30, 40, 50] * 4, "codes": codes * 2})
    attributes = {"age": {"role": "quasi"}, "codes": {"role": "sensitive", "multivalued": "|"}}
    release = mv.publish(frame, {"attributes": attributes, "publish": {"method": method}}, seed=1)
    has = frame["codes"].str.contains("250")
    found = release.count("codes contains '250' and age >= 30")
    assert found.low <= int((has & (frame["age"] >= 30)).sum()) <= found.high
    assert release.count("codes contains 250").estimate == pytest.approx(int(has.sum()))
    assert release.count("codes not contains '250'").estimate == pytest.approx(int((~has).sum()))
    assert release.count("`codes=250` = 1").estimate == release.count("codes = '250'").estimate
    both = int((has & frame["codes"].str.contains("401")).sum())
    found = release.count("codes contains '250' and codes contains '401'")
    assert found.low <= both <= found.high
    nobody = release.count("codes contains '999'")
    assert (nobody.estimate, nobody.low, nobody.high) == (0, 0, 0)


def test_wrong_kinds():
    """What is no text, no number of rows or no seed is refused as input, and tables may be given as lists."""
    frame = pl.DataFrame({"age": [20, 30] * 4, "ill": ["a", "b"] * 4})
    roles = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    release = mv.publish(frame, {"attributes": roles, "guarantee": {"k": 2}}, seed=1)
    for wrong in (None, 5, ["age = 1"]):
        with pytest.raises(mv.InputError):
            release.count(wrong)
    for n, seed in ((-1, None), (1.5, None), (True, None), (3, -1), (3, "a")):
        with pytest.raises(mv.InputError):
            release.sample(n, seed=seed)
    assert release.sample(3, seed=1)["age"].dtype == pl.Int64
    [found] = mv.check_gnf([mv.Schema(["a", "b"])], [mv.PrivacyRule(["a"], "b")])
    assert not found.kept
    with pytest.raises(TypeError):
        mv.Schema("ab")
