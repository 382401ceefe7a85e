"""Grading: ranks are kept exactly, choices are respected, codes tell nothing, and the key reads everything back."""

import json
import operator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_sections
from manyveils.keys import Grades, Key, interpret_rule, interpret_table, read_key, write_key
from manyveils.methods.grade.pseudonyms import categories_of, grades_of
from manyveils.publishing import publish_to
from manyveils.reading.secrets import as_published
from manyveils.table import hold

TREE = {"lungs": ["flu", "asthma"], "gut": ["ulcer", "colic", "gastritis"]}
ILLS = [leaf for leaves in TREE.values() for leaf in leaves]
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric"},
    "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": TREE}},
    "pay": {"role": "sensitive", "kind": "numeric"},
    "wish": {"role": "choice"},
}


def policy(**publish):
    """A policy that grades."""
    return mv.Policy(attributes=ATTRIBUTES, publish={"method": "grade", **publish})


def people(n, seed):
    """People with an illness, a pay and a wish; some wishes are missing."""
    rng = np.random.default_rng(seed)
    wishes = rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "name": [f"p{place}" for place in range(n)],
            "age": np.arange(n),
            "ill": pl.Series(ILLS).gather(rng.integers(0, len(ILLS), n)),
            "pay": rng.integers(10, 60, n) * 10,
            "wish": pl.Series([None, 1, 2, 3], dtype=pl.Int64).gather(wishes),
        }
    )


def graded(values, categories, spacing="equal-width"):
    """The grades of some numbers, in their order, and the key."""
    asked = mv.Policy(attributes={"pay": {"role": "sensitive", "kind": "numeric"}})
    column = hold(pl.DataFrame({"pay": values}), asked)[0]["pay"]
    grades, key = grades_of(column, categories_of(column, categories, spacing, "here"))
    return grades[column.codes], key


numbers = st.one_of(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=40),
    st.lists(st.integers(0, 50).map(lambda n: 1.0 + n * 1e-9), min_size=1, max_size=40),
)


@pytest.mark.parametrize("spacing", ["equal-width", "quantile"])
@settings(max_examples=150, deadline=None)
@given(values=numbers, n_categories=st.integers(1, 7))
def test_ranks_are_kept_exactly(values, n_categories, spacing):
    """Grades are ordered and tied exactly as the values are, and lie in their categories."""
    grades, key = graded(values, n_categories, spacing)
    for (a, x), (b, y) in pairwise(sorted(zip(values, grades.tolist(), strict=True))):
        assert (a < b) == (x < y)
        assert (a == b) == (x == y)
    assert ((grades >= 1) & (grades < len(key.categories) + 1)).all()


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.integers(0, 1000), min_size=2, max_size=30, unique=True), n=st.integers(1, 5))
def test_grades_follow_the_formula(values, n):
    """Category and share as the paper has them, below 0.998; 0.999 at the end of the last category."""
    grades, key = graded(values, n)
    for value, grade in zip(values, grades.tolist(), strict=True):
        place = max(p for p, (low, _) in enumerate(key.categories) if value >= low)
        low, high = (Fraction(end) for end in key.categories[place])
        share = (value - low) / (high - low)
        if share <= Fraction(998, 1000):
            assert abs(grade - float(place + 1 + share)) <= 0.5e-4 + 1e-9
        else:
            assert place + 1.998 <= grade <= place + 1.999
    assert max(grades) == pytest.approx(len(key.categories) + 0.999)


def test_the_papers_case():
    """One category from 10 to 40: 21 becomes 1.3667 and 22 becomes 1.4."""
    grades, key = graded([21, 22], [[10, 40]])
    assert grades.tolist() == [1.3667, 1.4]
    assert key.meaning("pay", "1.3667").meaning == "21"
    assert Grades(((10, 40),), {}).grade(22) == pytest.approx(1.4)


def test_a_shared_boundary_belongs_to_the_upper_category():
    """Twenty is the least of the second category, not the most of the first."""
    grades, _ = graded([10, 20, 30], [[10, 20], [20, 30]])
    assert grades.tolist() == [1.0, 2.0, 2.999]


@settings(max_examples=60, deadline=None)
@given(values=numbers, n=st.integers(1, 5))
def test_the_key_reads_grades_back(values, n):
    """Every published grade gives its original, however it is spelled; any other number gives nothing."""
    grades, key = graded(values, n)
    for value, grade in zip(values, grades.tolist(), strict=True):
        assert float(key.meaning("pay", repr(grade)).meaning) == value
        assert key.meaning("pay", f"{grade!r}0") == replace(
            key.meaning("pay", repr(grade)), published=f"{grade!r}0"
        )
    for other in ("0.5", "99", "nan", "inf", "lots", ""):
        assert key.meaning("pay", other) is None


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(0, 100), min_size=1, max_size=12), bound=st.floats(0, 6, allow_nan=False))
def test_rules_hold_for_the_same_rows(sign, values, bound):
    """A comparison of grades, interpreted, holds for exactly the people whose grades it holds for."""
    grades, key = graded(values, 4)
    text, _ = interpret_rule(Key({}, {"pay": key}), f"pay {sign} {bound}")
    _, read, original = text.split(" ")
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    held = [compare[sign](grade, bound) for grade in grades.tolist()]
    assert held == [compare[read](value, float(original)) for value in values]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), default=st.sampled_from([1, 2, 3]))
def test_every_choice_is_respected(seed, default):
    """Person by person, by their age: the value, the group's code, or a code of the value; and the key reads all."""
    frame = people(80, seed)
    release = mv.publish(frame, policy(default_choice=default), seed=seed)
    group = {leaf: parent for parent, leaves in TREE.items() for leaf in leaves}
    codes = {}
    table = release.tables["main"].sort("age")
    for row, cell in zip(frame.iter_rows(named=True), table["ill"].to_list(), strict=True):
        choice = row["wish"] or default
        meaning = release.key.meaning("ill", cell)
        if choice == 1:
            assert cell == row["ill"] == meaning.meaning
        else:
            assert cell not in ILLS
            wanted = group[row["ill"]] if choice == 2 else row["ill"]
            assert codes.setdefault((choice, wanted), cell) == cell
            assert meaning.kind == ("group" if choice == 2 else "value")
            assert meaning.meaning.split(":")[0] == wanted
    assert len(set(codes.values())) == len(codes)
    assert mv.audit(release, frame, policy(default_choice=default)).kept


def test_codes_are_fresh_and_tell_nothing():
    """Codes differ from release to release, hold no part of a value, and without a seed cannot be repeated."""
    frame = people(200, 1)
    made = [set(mv.publish(frame, policy()).tables["main"]["ill"]) - set(ILLS) for _ in range(3)]
    assert all(one.isdisjoint(two) for one, two in pairwise(made))
    for code in set().union(*made):
        assert len(code) == 10
        assert not any(value in code.lower() for value in ILLS)


def test_the_key_is_private(tmp_path):
    """The key is in the private folder only, for its owner alone, and what it says is nowhere in the release."""
    frame = people(120, 3)
    published = publish_to(policy(categories=[[0, 1234.5]]), tmp_path / "out", data=frame, seed=1)
    key = published.private / "key.json"
    assert key.stat().st_mode & 0o777 == 0o600
    assert read_key(key).describe() == published.release.key.describe()
    for file in (tmp_path / "out").rglob("*"):
        text = file.read_text() if file.is_file() else ""
        assert "1234.5" not in text
        assert "lungs" not in text
    manifest = json.loads((tmp_path / "out/release.json").read_text())
    assert manifest["secret"] == ["ill", "pay"]
    assert mv.audit(tmp_path / "out", frame, policy(categories=[[0, 1234.5]])).kept


@pytest.mark.parametrize("secret", ["correct horse battery", bytes(range(32))])
def test_a_locked_key(tmp_path, secret):
    """An encrypted key shows nothing, opens with its secret only, and says so."""
    release = mv.publish(people(50, 2), policy(), seed=1)
    write_key(release.key, tmp_path / "key.json", secret)
    text = (tmp_path / "key.json").read_text()
    # What is encrypted is written in letters too, which may spell anything, but never quotes.
    assert '"flu"' in json.dumps(release.key.describe())
    assert '"flu"' not in text
    assert read_key(tmp_path / "key.json", secret).describe() == release.key.describe()
    with pytest.raises(mv.DataError, match="is encrypted"):
        read_key(tmp_path / "key.json")
    with pytest.raises(mv.DataError, match="cannot be opened"):
        read_key(tmp_path / "key.json", "another" if isinstance(secret, str) else bytes(32))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"format": "manyveils-key/1"}', '{"format": "x"}', "nope"]
)
def test_what_is_no_key(tmp_path, text):
    """Other files are refused without a word of what is in them."""
    (tmp_path / "key.json").write_text(text)
    with pytest.raises(mv.DataError, match="is not a key file"):
        read_key(tmp_path / "key.json")


def test_rules_are_read_with_the_key():
    """A rule of published values comes back with their meanings; thresholds between grades become numbers."""
    release = mv.publish(people(60, 4), policy(categories=[[0, 1000]], default_choice=3), seed=1)
    hidden = next(code for code, value in release.key.pseudonyms["ill"].values.items() if value == "colic")
    text, used = interpret_rule(release.key, f"age >= 30 and ill = '{hidden}' -> pay > 1.25")
    pays = sorted(float(original) for original in release.key.grades["pay"].originals.values())
    bound = max(pay for pay in pays if pay <= 250)
    assert text == f"age >= 30 and ill = 'colic' -> pay > {bound:.0f}"
    assert [meaning.kind for meaning in used] == ["public", "value", "number"]
    text, _ = interpret_rule(release.key, f"`ill` in ('{hidden}', 'a -> b') and pay between 1.1 and 1.4")
    inside = [pay for pay in pays if 100 <= pay <= 400]
    assert text == f"ill in ('colic', 'a -> b') and pay between {inside[0]:.0f} and {inside[-1]:.0f}"
    for wrong in ("ill -> pay -> age", "pay = 'lots'", "pay = 1.23456", "", "ill =", "pay between 8 and 9"):
        with pytest.raises(mv.InputError):
            interpret_rule(release.key, wrong)
    # Attributes with several values in a cell have neither codes nor grades.
    text, used = interpret_rule(release.key, "`sick with` not contains 'b' and codes contains '250'")
    assert (text, [meaning.kind for meaning in used]) == (
        "`sick with` not contains 'b' and codes contains 250",
        ["public"] * 2,
    )
    with pytest.raises(mv.InputError, match="contains none"):
        interpret_rule(release.key, "pay contains 1.25")


def test_small_tables_are_read_with_the_key():
    """A table comes back cell by cell; a large or ragged one is refused."""
    release = mv.publish(people(60, 4), policy(), seed=1)
    shown = release.tables["main"].head(3).select("ill", "pay").cast(pl.String)
    read, used = interpret_table(release.key, shown.columns, shown.rows())
    assert len(used) == 6
    assert all(float(row[1]) % 10 == 0 for row in read)
    with pytest.raises(mv.InputError, match="1000 cells"):
        interpret_table(release.key, ["ill"], [["x"]] * 1001)
    with pytest.raises(mv.InputError, match="different lengths"):
        interpret_table(release.key, ["ill", "pay"], [["x"]])


def test_nothing_secret_is_shown():
    """Keys and meanings do not print what they know."""
    release = mv.publish(people(60, 4), policy(), seed=1)
    meaning = release.key.meaning("ill", "flu")
    for thing in (release.key, meaning, release.key.pseudonyms["ill"], release.key.grades["pay"], release):
        assert "flu" not in repr(thing)
    assert isinstance(release.key, Key)


def test_another_method_may_follow():
    """The following method keeps the promises on what is published; neither ranks nor choices suffer."""
    sections = hospital_sections(whole_cells=True) | {"guarantee": {"k": 5, "l": 2}}
    frame = hospital(300)
    for then in ("generalize", "anatomize", {"method": "slice", "columns": 3}, "codip", "separate"):
        asked = mv.Policy(**(sections | {"publish": {"method": "grade", "then": then}}))
        release = mv.publish(frame, asked, seed=1)
        verdict = mv.audit(release, frame, asked)
        assert verdict.kept
        kinds = {finding.promise for finding in verdict.findings}
        assert {"ranks-kept", "choices-respected", "k-anonymity"} <= kinds
        assert "loss" in mv.measure(release, frame, asked)


def test_the_audit_sees_a_wish_overruled():
    """A value in the open that should be hidden, a code that is none, or a number out of place breaks the audit."""
    frame = people(90, 6).with_columns(wish=pl.lit(3))
    asked = policy()
    release = mv.publish(frame, asked, seed=1)
    table = release.frames["main"]
    plain = table.with_columns(pay=pl.Series(frame.sort("age")["pay"]).cast(pl.Float64))
    shuffled = table.with_columns(pay=pl.col("pay").reverse())
    spelled = table.with_columns(
        ill=pl.when(pl.col("age") == 7).then(pl.lit("FLU (secret)")).otherwise("ill")
    )
    opened = table.with_columns(
        ill=pl.when(pl.col("age") == 7).then(pl.lit(frame["ill"][7])).otherwise("ill")
    )
    swapped = table.with_columns(
        pay=pl.when(pl.col("age") == 7).then(pl.col("pay") + 0.0001).otherwise("pay")
    )
    cases = [(opened, "choices-respected"), (spelled, "choices-respected")]
    cases += [(each, "ranks-kept") for each in (swapped, plain, shuffled)]
    for changed, promise in cases:
        release.frames["main"] = changed
        broken = {finding.promise for finding in mv.audit(release, frame, asked).broken}
        assert promise in broken


def test_promises_are_judged_on_what_is_published():
    """A code is a value: with everybody's wish hidden, diversity of codes is diversity of values."""
    frame = people(200, 8).with_columns(wish=pl.lit(3), age=pl.col("age") % 4)
    asked = mv.Policy(attributes=ATTRIBUTES, guarantee={"k": 5, "l": 5}, publish={"method": "grade"})
    release = mv.publish(frame, asked, seed=1)
    table = as_published(release, hold(frame, asked)[0])
    assert table["ill"].counts.tolist() != []
    assert sorted(table["ill"].counts) == sorted(frame["ill"].value_counts()["count"])


@pytest.mark.parametrize(
    ("publish", "message"),
    [
        ({"categories": [[0, 100]]}, "cells lie outside all categories"),
        ({"categories": [[0, 300], [200, 900]]}, "overlap or are out of order"),
        ({"categories": [[900, 0]]}, "ends before it begins"),
        ({"categories": {"ill": 3}}, "'ill' is not a numeric sensitive attribute"),
        ({"categories": 0}, "categories"),
        ({"default_choice": 4}, "default_choice"),
        ({"then": "grade"}, "'grade' cannot follow"),
        ({"then": {"method": "slice", "colums": 3}}, "unknown key. Did you mean 'columns'?"),
    ],
)
def test_mistakes(publish, message):
    """Wrong keys are refused with what is wrong."""
    with pytest.raises(mv.PolicyError, match="(?s)" + message.replace("?", r"\?")):
        mv.publish(people(50, 1), policy(**publish), seed=1)


def test_several_values_in_a_cell_are_refused():
    """The names of 0/1 columns are the values, so nothing could be hidden."""
    sections = hospital_sections() | {"guarantee": {}, "publish": {"method": "grade"}}
    with pytest.raises(mv.PolicyError, match=r"attributes.diagnosis: .* Leave multivalued out"):
        mv.publish(hospital(50), sections, seed=1)


def test_queries_do_not_speak_of_what_is_secret():
    """An original that is published as codes cannot be counted; codes and grades can, and are called so."""
    release = mv.publish(people(90, 6).with_columns(wish=pl.lit(3)), policy(), seed=1)
    code = release.tables["main"]["ill"][0]
    assert release.count(f"ill = '{code}'").compares_codes
    assert release.count("pay > 2.5").compares_codes
    assert not release.count("age > 20").compares_codes
    for wrong in ("ill = 'flu'", "ill != 'flu'", "ill in ('flu')", "pay = 250"):
        with pytest.raises(mv.InputError, match="is published in secret"):
            release.count(wrong)


def test_a_choice_that_is_none():
    """Cells of the choice column that are no choice are counted, not shown."""
    frame = people(50, 1).with_columns(wish=pl.lit("Zq7"))
    with pytest.raises(mv.DataError, match="50 cells hold something other than a choice") as error:
        mv.publish(frame, policy(), seed=1)
    assert "Zq7" not in str(error.value)


def test_promises_that_grading_cannot_keep():
    """Quasi-identifiers stay, so k is refused, and the message says what may follow."""
    asked = mv.Policy(attributes=ATTRIBUTES, guarantee={"k": 2}, publish={"method": "grade"})
    with pytest.raises(mv.InfeasibleError, match="50 of 50 groups") as error:
        mv.publish(people(50, 1), asked, seed=1)
    assert "then =" in str(error.value)
