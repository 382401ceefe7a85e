"""Grading: the paper's worked case, and small versions of what docs/reproductions/grading.md does."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from benchmarks.reproductions import grading_adult, occ
from benchmarks.reproductions.grading_adult import BRANCH_OF, MAIN, QUASI, Choosing, Grading, chosen, graded

N_ROWS = 4000
PRUNING = (3e-3,)

needs_adult = pytest.mark.skipif(not occ.is_here(), reason=occ.MISSING)


@pytest.fixture(scope="module")
def accuracy():
    """How well a tree tells an attribute; scikit-learn and matplotlib come with `.[bench]`."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from benchmarks.reproductions import grading_accuracy

    return grading_accuracy


@pytest.fixture(scope="module")
def adult():
    """The 45,222 rows with the paper's seven attributes."""
    return grading_adult.read()


@pytest.fixture(scope="module")
def some(adult):
    """Some of the rows, so that trees are quick, without values that ten folds cannot share."""
    common = [
        pl.len().over(name) > 150 for name in ("workclass", "education", "marital-status", "occupation")
    ]
    return adult.filter(*common).sample(N_ROWS, seed=1)


@pytest.mark.parametrize(("age", "grade"), [(10, 1.0), (21, 1.3667), (22, 1.4), (39, 1.9667), (40, 1.999)])
def test_one_category_from_10_to_40(age, grade):
    """The paper's 21 and 22 become 1.3667 and 1.4 (it has 1.366 and 1.4), and the ends 1 and 1.999."""
    policy = mv.Policy(
        attributes={"sex": {"role": "quasi"}, "age": {"role": "sensitive", "kind": "numeric"}},
        publish={"method": "grade", "categories": [[10, 40]]},
    )
    release = mv.publish(pl.DataFrame({"sex": ["F"], "age": [age]}), policy, seed=1)
    assert release.tables["main"]["age"].to_list() == [grade]
    assert release.key.meaning("age", repr(grade)).meaning == str(age)


@needs_adult
def test_choices_follow_the_rule_but_for_exceptions(adult):
    """About one person in twenty chooses otherwise, the same ones every time, and all others by the rule."""
    choices = chosen(adult, MAIN)
    usual = adult["education"].replace_strict(grading_adult.RULES[MAIN.rule])
    assert (choices != usual).mean() == pytest.approx(0.05, abs=0.005)
    assert set(choices) == {1, 2, 3}
    assert choices.equals(chosen(adult, MAIN))
    assert chosen(adult, Choosing(exceptions=0)).equals(usual.alias("choice"))


@needs_adult
def test_what_is_not_sensitive_stays(adult):
    """Workclass and all other quasi-identifiers are the same in T and T', row by row (figure 3)."""
    hidden = graded(adult).table
    assert hidden.select(QUASI).equals(adult.select(QUASI))
    assert set(hidden["education"]) - set(BRANCH_OF) != set()


@needs_adult
@pytest.mark.parametrize("target", ["workclass", "education", "marital-status", "occupation"])
def test_grades_are_learned_from_as_ages_are(some, accuracy, target):
    """With education in the open only age is recoded, and trees tell everything as well from grades as from ages."""
    hidden = graded(some, Choosing("all 1", 0)).table
    before = accuracy.learn(some, target, some[target], PRUNING)
    after = accuracy.learn(hidden, target, some[target], PRUNING)
    assert after.accuracy == pytest.approx(before.accuracy, abs=0.05)
    assert (before.predicted == after.predicted).mean() > 0.999


@needs_adult
def test_accuracy_with_choices(some, accuracy):
    """Telling workclass hardly changes (paper: not at all); education is told less often, as its labels are more."""
    hidden = graded(some).table
    found = {
        target: [accuracy.learn(frame, target, some[target], PRUNING).accuracy for frame in (some, hidden)]
        for target in ("workclass", "education")
    }
    assert found["workclass"][0] == pytest.approx(74, abs=2)
    assert found["workclass"][1] == pytest.approx(found["workclass"][0], abs=1.5)
    assert found["education"][0] == pytest.approx(39, abs=3)
    assert found["education"][0] - 4 < found["education"][1] < found["education"][0]


@needs_adult
@pytest.mark.parametrize("grading", [Grading(1), Grading(5), Grading(20), Grading(5, "quantile")])
def test_counting_grades_reads_every_age(adult, grading):
    """Every age from 17 to 90 occurs, so the n-th grade is the age 16 + n, whatever the categories."""
    grades = graded(adult, grading=grading).table["age"]
    assert (16 + grades.rank("dense").cast(pl.Int64)).equals(adult["age"])


@needs_adult
def test_two_people_give_equal_widths_away(adult):
    """With categories of equal width grades lie on one line, but for the last: two known people read all others."""
    grades = graded(adult).table["age"].to_numpy()
    ages = adult["age"].to_numpy()
    one, two = np.flatnonzero(ages == 30)[0], np.flatnonzero(ages == 60)[0]
    guess = 30 + (grades - grades[one]) * 30 / (grades[two] - grades[one])
    assert (np.rint(guess) == ages).all()


@needs_adult
def test_frequencies_name_codes(adult):
    """If everybody is hidden, matching ranks names every code; with choices it names a part of the rows."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from benchmarks.reproductions.grading_codes import guessed, shares

    population = shares(adult["education"])
    for choosing, least, most in ((Choosing("all 3", 0), 1, 1), (MAIN, 0.75, 0.9)):
        hidden = graded(adult, choosing)
        read = hidden.table["education"].replace_strict(guessed(hidden, population, None))
        assert least <= (read == adult["education"]).mean() <= most
