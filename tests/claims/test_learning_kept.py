"""What models learn from a release: classes and baselines by their definitions, and releases that keep all or nothing."""

from collections import Counter
from math import sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.table import Streams, hold
from manyveils.utility.examples import MOST_CLASSES, classes_of, matrices

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

N = 600
ATTRIBUTES = {
    "age": {"role": "quasi", "kind": "numeric"},
    "town": {"role": "quasi"},
    "job": {"role": "sensitive"},
}


def people(seed, n=N):
    """A table in which the town tells the job nine times out of ten, and the age tells nothing."""
    rng = np.random.default_rng(seed)
    towns = rng.choice(3, size=n, p=[0.6, 0.25, 0.15])
    jobs = np.where(rng.random(n) < 0.9, towns, rng.choice(3, size=n))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, size=n),
            "town": [f"town {number}" for number in towns],
            "job": [f"job {number}" for number in jobs],
        }
    )


def measured(publish, *, learn="job", guarantee=None, held_out=None, **attributes):
    """Publish one half of the people, and learn with the other half to test on."""
    policy = mv.Policy(
        attributes=ATTRIBUTES | attributes, guarantee=guarantee or {"k": 1}, publish={"method": publish}
    )
    taught, tested = people(1), people(2) if held_out is None else held_out
    release = mv.publish(taught, policy, seed=1)
    return mv.measure(release, taught, policy, learn=learn, held_out=tested)


def test_the_table_itself_keeps_all():
    """A release that is the table keeps nearly all learning."""
    found = measured("generalize")
    assert found["learning"] == pytest.approx(1, abs=0.05)
    assert set(found["learning_release"]) == {"logistic", "tree", "bayes"}


@pytest.mark.parametrize("stream", range(1, 7))
def test_parted_attributes_keep_nothing(monkeypatch, stream):
    """If every attribute stands in a table of its own nothing is kept, whichever rows are drawn from it.

    Taking the best model on the people it is tested on would show 0.2 here for the first stream.
    """
    monkeypatch.setattr("manyveils.utility.learning.STREAMS", Streams(stream))
    assert measured("separate")["learning"] == pytest.approx(0, abs=0.05)


def test_stars_keep_nothing():
    """If all rows share one group, the town tells nothing of the job any more."""
    assert measured("generalize", guarantee={"k": N})["learning"] == pytest.approx(0, abs=0.1)


def test_the_share_by_its_definition():
    """The share kept is computed from the accuracies and the baseline that are told beside it."""
    found = measured("generalize", guarantee={"k": 40})
    original, baseline = found["learning_original"], found["learning_baseline"]
    best = max(original, key=lambda name: original[name])
    kept = (found["learning_release"][best] - baseline) / (original[best] - baseline)
    assert found["learning"] == pytest.approx(kept)
    commonest = Counter(people(1)["job"].to_list()).most_common(1)[0][0]
    assert baseline == pytest.approx(Counter(people(2)["job"].to_list())[commonest] / N)


def test_nothing_to_learn():
    """Where models of the original do not beat the commonest value by two standard errors, no share is told."""
    found = measured("generalize", learn="age", age={"role": "quasi", "kind": "categorical"})
    assert "learning" not in found
    baseline = found["learning_baseline"]
    assert max(found["learning_original"].values()) - baseline <= 2 * sqrt(baseline * (1 - baseline) / N)


def test_the_same_again():
    """Learning has no chance of its own: the same release gives the same numbers."""
    assert dict(measured("separate")) == dict(measured("separate"))


@given(st.lists(st.integers(0, 99), min_size=25, max_size=200))
def test_fifths_by_definition(values):
    """A number with many values is told apart by fifths: its class is how many quantiles lie below it."""
    column = hold(
        pl.DataFrame({"x": values}), mv.Policy(attributes={"x": {"role": "neutral", "kind": "numeric"}})
    )[0]["x"]
    classes = classes_of(column)
    found = classes.of(pl.Series([str(value) for value in values]))
    if len(set(values)) <= MOST_CLASSES:
        assert [classes.values[number] for number in found] == [str(value) for value in values]
        return
    cuts = sorted({float(np.quantile(values, share)) for share in (0.2, 0.4, 0.6, 0.8)})
    assert found.tolist() == [sum(cut < value for cut in cuts) for value in values]


@given(st.lists(st.sampled_from([0, 1, 2.5, 3]), min_size=1, max_size=30))
def test_numbers_are_one_class_however_they_are_written(values):
    """A number is in the same class whether a table writes it as 2 or, beside a decimal, as 2.0."""
    policy = mv.Policy(attributes={"x": {"role": "neutral", "kind": "numeric"}})
    classes = classes_of(hold(pl.DataFrame({"x": [str(value) for value in values]}), policy)[0]["x"])
    texts = [str(value) for value in values], [repr(float(value)) for value in values]
    one, other = (classes.of(pl.Series(each, dtype=pl.String)).tolist() for each in texts)
    assert one == other
    assert len(set(one)) == len(set(values))


def test_a_decimal_among_whole_numbers_of_the_original():
    """One decimal in the original changes nothing about held-out people whose targets are whole numbers."""
    policy = mv.Policy(
        attributes={"town": {"role": "quasi"}, "grade": {"role": "sensitive"}}, guarantee={"k": 1}
    )
    towns = [f"town {number % 3}" for number in range(300)]
    grades = ["2.5", *(town[-1] for town in towns[1:])]
    taught = pl.DataFrame({"town": towns, "grade": grades})
    tested = pl.DataFrame({"town": towns, "grade": [town[-1] for town in towns]})
    release = mv.publish(taught, policy, seed=1)
    assert (
        mv.measure(release, taught, policy, learn="grade", held_out=tested)["learning_original"]["tree"] == 1
    )


@given(st.lists(st.sampled_from([f"v{n}" for n in range(30)]), min_size=1, max_size=200))
def test_rare_values_share_a_class(values):
    """The commonest values have a class each, and all others, unknown ones too, share the last."""
    column = hold(pl.DataFrame({"x": values}), mv.Policy(attributes={"x": {"role": "neutral"}}))[0]["x"]
    classes = classes_of(column)
    found = classes.of(pl.Series([*values, "unknown"])).tolist()
    counts = Counter(values)
    common = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_CLASSES]
    wanted = [common.index(value) if value in common else len(common) for value in [*values, "unknown"]]
    assert found == wanted


@given(st.lists(st.text("abc", max_size=2), min_size=2, max_size=20))
def test_equal_cells_have_equal_codes(cells):
    """Cells of two tables have the same code if and only if they are the same text."""
    one, two = cells[: len(cells) // 2], cells[len(cells) // 2 :]
    first, second = matrices({"x": pl.Series(one)}, {"x": pl.Series(two)}, numeric=())
    codes = [*first[:, 0], *second[:, 0]]
    for place, cell in enumerate(cells):
        assert [codes[place] == code for code in codes] == [cell == other for other in cells]


def halves(**sections):
    frame = mv.datasets.hospital(500)
    policy = mv.datasets.hospital_policy(**sections)
    return frame[:400], frame[400:], policy


def test_one_of_several_values():
    """A value of a multi-valued attribute can be learnt; the attribute's other values are no hint."""
    taught, tested, policy = halves()
    release = mv.publish(taught, policy, seed=1)
    found = mv.measure(release, taught, policy, learn="diagnosis=Flu", held_out=tested)
    shares = [cell is not None and "Flu" in cell.split("|") for cell in tested["diagnosis"].to_list()]
    assert found["learning_baseline"] == pytest.approx(1 - sum(shares) / len(shares))


def test_what_is_secret_is_no_hint():
    """Codes and grades cannot be learnt, and other attributes are learnt without them."""
    taught, tested, policy = halves(publish={"method": "grade", "then": "generalize"})
    body = policy.model_dump(exclude_unset=True)["attributes"]
    body["diagnosis"] = {"role": "sensitive"}
    policy = policy.replaced(attributes=body)
    release = mv.publish(taught, policy, seed=1)
    with pytest.raises(mv.InputError, match="does not show it in the open"):
        mv.measure(release, taught, policy, learn="income", held_out=tested)
    assert "learning_release" in mv.measure(release, taught, policy, learn="age", held_out=tested)


@pytest.mark.parametrize(
    ("learn", "said"),
    [
        ("diagnosis", 'has several values in one cell. Name one of its values: "diagnosis=VALUE".'),
        ("name", "is never published"),
        ("incme", "Did you mean 'income'?"),
    ],
)
def test_targets_that_cannot_be(learn, said):
    """A target that cannot be learnt is refused with what could."""
    taught, tested, policy = halves()
    release = mv.publish(taught, policy, seed=1)
    with pytest.raises(mv.InputError) as error:
        mv.measure(release, taught, policy, learn=learn, held_out=tested)
    assert said in str(error.value)


def test_held_out_people_are_needed():
    """Without held-out people, with the published ones again, or with other columns, the way to hold out is told."""
    taught, tested, policy = halves()
    release = mv.publish(taught, policy, seed=1)
    for wrong, said in (
        (None, "Split the data before you publish"),
        (taught.reverse(), "these are the 400 rows that were published"),
        (tested.drop("age"), "held-out: policy: attributes.age: the data have no such column"),
    ):
        with pytest.raises(mv.InputError) as error:
            mv.measure(release, taught, policy, learn="income", held_out=wrong)
        assert said in str(error.value)
    with pytest.raises(mv.InputError, match="no attribute is to be learnt"):
        mv.measure(release, taught, policy, held_out=tested)


def test_some_of_the_published_people_again():
    """A part of the published rows is no test either; rows that are common may well come again."""
    taught, _, policy = halves()
    release = mv.publish(taught, policy, seed=1)
    with pytest.raises(mv.InputError, match="all 100 rows are among those that were published"):
        mv.measure(release, taught, policy, learn="income", held_out=taught[:100])
    common = mv.Policy(
        attributes={"sex": {"role": "quasi"}, "job": {"role": "sensitive"}}, guarantee={"k": 1}
    )
    some = pl.DataFrame({"sex": ["f", "m"] * 50, "job": ["a", "b", "b", "a"] * 25})
    found = mv.measure(mv.publish(some, common, seed=1), some, common, learn="job", held_out=some[:20])
    assert "learning_release" in found


def test_strange_values_among_the_held_out():
    """Held-out people may have values that the original and its hierarchies do not know."""
    taught, tested, policy = halves()
    tested = tested.with_columns(job=pl.lit("Astronaut"), diagnosis=pl.lit("Space sickness"))
    release = mv.publish(taught, policy, seed=1)
    assert "learning_release" in mv.measure(release, taught, policy, learn="insurance", held_out=tested)


def test_learning_from_the_command_line(hospital, tmp_path):
    """`measure --learn` tells accuracies; without --held-out it says how to hold out."""
    del tmp_path
    hospital.published()
    words = ("measure", hospital.out, "--policy", hospital.folder / "policy.toml", "--learn", "insurance")
    assert "manyveils compare --learn" in hospital.refused(*words)
    mv.datasets.hospital(90, seed=5).write_csv(hospital.folder / "others.csv")
    outcome = hospital.run(*words, "--held-out", hospital.folder / "others.csv", "--json")
    assert outcome.status == 0, outcome.said
    assert set(outcome.document["learning_original"]) == {"logistic", "tree", "bayes"}
