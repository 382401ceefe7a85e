"""Tries: what came of them beside their release, and the picture they appear on."""

import pytest

from manyveils.errors import InputError
from manyveils.studio import methods, picture
from manyveils.studio.trying import ROWS_SHOWN, Wish, attack_rows
from manyveils.studio.workbench import open_workbench
from tests.studio.test_workbench import ended

LOSS, BELIEF = picture.axis_of("loss"), picture.axis_of("worst_belief")


def result(loss, belief):
    """What a picture needs of a try."""
    return {"utility": {"loss": loss, "worst_belief": belief}}


def test_a_try_is_measured_and_attacked(table):
    """A try has rows of each view, groups, pairs, attacks and the numbers of every axis but learning."""
    bench = open_workbench(table)
    told = ended(bench.try_method(seed=1).job, within=180).result
    for axis in (*picture.UTILITY, *picture.PRIVACY):
        assert (told["utility"].get(axis.key) is None) == (axis.key == "learning"), axis.key
    assert all(0 < len(view["rows"]) <= ROWS_SHOWN for view in told["views"])
    assert told["groups"]
    assert {row[0] for row in attack_rows(told["attacks"])} == {"linkage", "homogeneity", "background-join"}
    assert all(0 <= share <= 1 for _, *shares in told["associations"] for share in shares)


def test_without_attacks_there_is_no_belief_and_learning_is_asked_for(table):
    """A try that is not attacked has no numbers of attacks; models learn what is named."""
    bench = open_workbench(table)
    bench.choose(wish=Wish("none", "insurance"))
    told = ended(bench.try_method(seed=1).job, within=180).result
    assert "worst_belief" not in told["utility"]
    assert "learning" in told["utility"] or told["notes"]


def test_tries_wait_for_each_other_and_can_be_cancelled(table):
    """Of many ways only as many run as there are cores; those that wait are cancelled without a process."""
    bench = open_workbench(table)
    tries = bench.try_ways(methods.usual(bench.sections))
    assert len({methods.chosen_in(tried.text) for tried in tries}) == len(tries) > 4
    for tried in tries:
        tried.job.cancel()
    assert all(tried.job.is_cancelled and not tried.job.is_running for tried in tries)
    bench.stop()


def test_points_that_none_beats_are_marked():
    """A point is best where no other is as good in both and better in one; ties are all best."""
    results = [(1, "a", result(0.1, 0.9)), (2, "b", result(0.2, 0.5)), (3, "c", result(0.3, 0.5))]
    results += [(4, "d", result(0.1, 0.9)), (5, "e", result(None, 0.1))]
    points = picture.points_of(results, LOSS, BELIEF)
    assert [(own.number, own.is_best) for own in points] == [(1, True), (2, True), (3, False), (4, True)]
    assert "try 3, c: detail lost 0.3, worst belief 0.5;" in picture.in_words(points, LOSS, BELIEF)
    assert [own["value"] for own in picture.options(points, LOSS, BELIEF)["series"][0]["data"]][1] == [
        0.2,
        0.5,
    ]


def test_more_learning_is_better():
    """On an axis on which more is better, more is better."""
    learning = picture.axis_of("learning")
    results = [
        (1, "a", {"utility": {"learning": 0.9, "loss": 0.2}}),
        (2, "b", {"utility": {"learning": 0.5, "loss": 0.2}}),
    ]
    assert [own.is_best for own in picture.points_of(results, learning, LOSS)] == [True, False]


def test_without_points_it_says_so():
    """A picture without points says which numbers are missing."""
    assert picture.in_words((), LOSS, BELIEF) == "No try has both detail lost and worst belief yet."


def test_unknown_attacks_are_refused():
    """What is no attack is refused by name."""
    from manyveils.comparing.ask import read_attacks

    with pytest.raises(InputError, match="no attack"):
        read_attacks("ussual")
