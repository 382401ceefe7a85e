"""A plan or a comparison that is damaged or another's is refused before any work is done, with where it is wrong."""

import json

import pytest

import manyveils as mv

PLANS = {
    '{"levels": 3}': "plan.levels",
    '{"levels": {"age": "x"}, "heights": {"age": 2}}': "plan.levels.age",
    '{"levels": {"age": 3}, "heights": {"age": 2}}': "plan: is not what it should be",
    '{"levels": {"age": 1}, "heights": {"age": 100000000}}': "plan.heights.age",
    '{"merges": [1], "plan": [["age"]]}': "plan.merges.0",
    '{"merges": [{"tables": 1}], "plan": 7}': "plan.plan",
    '{"then": "generalize"}': "plan.then",
    "[1]": "must be a JSON object",
    "{": "cannot be read as JSON",
}
COMPARISONS = {
    "{}": "must be a JSON object",
    '{"results": 3}': "comparison.results",
    '{"results": [{"name": 1}], "measure": "x"}': "comparison.results.0.name",
}


def report(desk, *words):
    """Words that ask for a report with one attack."""
    known = ("--policy", desk.folder / "policy.toml", "--only", "homogeneity")
    return ("report", desk.out, *known, *words)


@pytest.mark.parametrize("text", PLANS)
def test_a_damaged_plan_is_told(desk, text):
    """The message says what in plan.json is wrong, and nothing is written."""
    desk.published()
    (desk.folder / "out.private" / "plan.json").write_text(text)
    assert PLANS[text] in desk.refused(*report(desk))


@pytest.mark.parametrize("text", COMPARISONS)
def test_a_damaged_comparison_is_told(desk, text):
    """The message says what in comparison.json is wrong, and nothing is written."""
    desk.published()
    (desk.folder / "compared").mkdir()
    (desk.folder / "compared" / "comparison.json").write_text(text)
    assert COMPARISONS[text] in desk.refused(*report(desk, "--comparison", desk.folder / "compared"))


def test_the_plan_of_another_release_is_told(desk):
    """A plan with attributes that the release does not have is another's, and is not drawn."""
    desk.published()
    plan = {"levels": {"elsewhere": 1}, "heights": {"elsewhere": 2}}
    (desk.folder / "out.private" / "plan.json").write_text(json.dumps(plan))
    assert "of another release" in desk.refused(*report(desk))


def test_damage_is_told_in_python_too(desk):
    """`mv.report` refuses a damaged plan with the same words."""
    desk.published()
    with pytest.raises(mv.InputError, match=r"plan\.levels"):
        mv.report(desk.out, None, desk.folder / "policy.toml", plan={"levels": 3})


def test_an_unknown_attack_is_told_first(desk, monkeypatch):
    """A name that is no attack's is refused before the release is measured."""
    desk.published()

    def never(*_):
        raise AssertionError("measured in vain")

    monkeypatch.setattr("manyveils.run.measure", never)
    words = ("report", desk.out, "--policy", desk.folder / "policy.toml", "--only", "nonsense")
    assert "there is no attack 'nonsense'" in desk.refused(*words)
