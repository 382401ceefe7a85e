"""Attacks on codes and grades: frequencies and a few known people open them, unless there is nothing to tell them by."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks.secrets import in_order


def graded(counts, **publish):
    """People who are alone with their quasi-identifier, with a categorical value and a number."""
    values = [name for name, count in counts.items() for _ in range(count)]
    n = len(values)
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"q": np.arange(n), "s": values, "x": rng.integers(0, 1000, n)})
    attributes = {
        "q": {"role": "quasi", "kind": "numeric"},
        "s": {"role": "sensitive"},
        "x": {"role": "sensitive", "kind": "numeric"},
    }
    policy = mv.Policy(attributes=attributes, publish={"method": "grade", **publish})
    return frame, policy, mv.publish(frame, policy, seed=1)


def attacked(name, release, frame, policy):
    return mv.attack(release, frame, policy, only=[name], seed=1)[name]


def test_alias_frequency():
    """Codes that differ in how common they are, are read; codes that are equally common are guessed."""
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20})
    found = attacked("alias-frequency", release, frame, policy)
    assert found.success == 1.0
    assert found.worst > 0.98
    assert found.broken == 300
    frame, policy, release = graded({"u": 75, "v": 75, "w": 75, "x": 75})
    found = attacked("alias-frequency", release, frame, policy)
    assert found.success == pytest.approx(found.baseline) == 0.25
    assert found.broken == 0


def test_known_pairs():
    """Ten known people open codes and bracket grades of everybody who can be found."""
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20})
    found = attacked("known-pairs", release, frame, policy)
    assert found.by_attribute["s"]["success"] > 0.9
    assert found.by_attribute["x"]["success"] > found.by_attribute["x"]["baseline"] + 0.3
    assert found.certain > 300


def test_known_pairs_need_the_row():
    """Where the target's row cannot be found, knowing what cells mean tells nothing of her."""
    frame, policy, release = graded({"u": 75, "v": 75, "w": 75, "x": 75}, then="separate")
    found = attacked("known-pairs", release, frame, policy)
    assert found.success <= found.baseline + 0.02
    assert (found.certain, found.broken) == (0, 0)


def test_nothing_secret(released):
    """Without secret attributes there are no codes to read, and the outcome says so."""
    frame = pl.DataFrame({"q": ["a"] * 40, "s": list("uvwx") * 10})
    policy = mv.Policy(attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}})
    release = released(frame, policy, [("q", "s")])
    for name in ("alias-frequency", "known-pairs"):
        found = attacked(name, release, frame, policy)
        assert not found.applies
        assert found.success is None


def test_known_people_are_no_targets():
    """Whom she knows already counts for nothing: where everybody has a value of her own, no code is ever read."""
    frame, policy, release = graded({f"v{place}": 1 for place in range(24)})
    found = attacked("known-pairs", release, frame, policy)
    assert found.by_attribute["s"]["success"] == 0.0


def test_codes_with_rows_left_out():
    """Codes are read also where some people are left out, so that each is published a little less often."""
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20})
    late = pl.DataFrame({"q": [900, 901, 902], "s": ["u", "u", "v"], "x": [1001, 1002, 1003]})
    whole = pl.concat([frame, late], how="vertical_relaxed")
    assert attacked("alias-frequency", release, whole, policy).success == 1.0
    assert attacked("known-pairs", release, whole, policy).by_attribute["x"]["targets"] >= 290


@pytest.mark.parametrize(
    ("few", "many", "places"),
    [([1, 1], [1, 1], [0, 1]), ([2], [1, 2, 1], [1]), ([1], [1, 1, 1], [1]), ([3], [1, 2], None)],
)
def test_in_order(few, many, places):
    """Counts find their places in order among more and greater ones; the middle of several, nothing if there is none."""
    found = in_order(np.array(few), np.array(many))
    assert (None if found is None else found.tolist()) == places


@pytest.mark.parametrize("name", ["counting-grades", "quantile-matching"])
def test_numbers_are_read_from_the_order_of_grades(name):
    """Where numbers fill their range evenly, ranks alone tell nearly everybody's, unless the cell cannot be found."""
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20})
    found = attacked(name, release, frame, policy)
    assert found.success > 0.95
    assert found.baseline < 0.2
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20}, then="separate")
    found = attacked(name, release, frame, policy)
    assert found.success <= found.baseline + 0.02


def test_skew_hides_numbers_from_counting_only():
    """Where numbers crowd at one end, counting goes wrong, and somebody who knows other people's numbers reads on."""
    frame = pl.DataFrame({"q": np.arange(400), "x": np.arange(400) ** 4})
    attributes = {"q": {"role": "quasi", "kind": "numeric"}, "x": {"role": "sensitive", "kind": "numeric"}}
    policy = mv.Policy(attributes=attributes, publish={"method": "grade"})
    release = mv.publish(frame, policy, seed=1)
    counted, matched = (
        attacked(name, release, frame, policy).success for name in ("counting-grades", "quantile-matching")
    )
    assert counted < 0.3
    assert matched > 0.9


def test_attacks_on_what_is_open_say_what_they_leave_unread():
    """Homogeneity, divergence and proximity of a graded release say that codes and grades are read by others."""
    frame, policy, release = graded({"u": 150, "v": 90, "w": 40, "x": 20})
    for name in ("homogeneity", "proximity", "divergence"):
        found = attacked(name, release, frame, policy)
        assert found.unread == ("s", "x")
        assert "Codes and grades of s and x are not opened here" in found.verdict
    assert attacked("known-pairs", release, frame, policy).unread == ()
