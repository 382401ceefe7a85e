"""Hierarchies: what is typed becomes a key of the policy, and every level is previewed as it will be published."""

import tomllib
from collections import Counter

import polars as pl
import pytest

from manyveils.errors import InputError, ManyveilsError
from manyveils.studio import document
from manyveils.studio.hierarchies import Place, form_of, proposed, read_widths, rungs_of
from manyveils.studio.workbench import open_workbench

FRAME = pl.DataFrame(
    {
        "age": [20, 24, 25, 31, 39, None, 20],
        "code": ["4790", "4791", "4800", "1234", "12", "4790", ""],
        "day": [
            "2020-01-05",
            "2020-02-07",
            "2021-01-05",
            "2021-01-06",
            "2020-01-05",
            "2020-01-05",
            "2020-01-09",
        ],
    }
)


def rungs(tmp_path, name, **hierarchy):
    """The levels of a column of the small table."""
    return rungs_of(
        Place(FRAME, None, tmp_path, "policy.toml"), {}, {"role": "quasi", "hierarchy": hierarchy}, name
    )


def test_widths_are_previewed_with_people(tmp_path):
    """Each level counts the people of its intervals, those without a value apart, and loses more than the one below."""
    told = rungs(tmp_path, "age", widths=[5, 10])
    expected = Counter(
        "missing" if age is None else f"[{age // 10 * 10}, {age // 10 * 10 + 9}]" for age in FRAME["age"]
    )
    assert dict(told[2].commonest) == dict(expected)
    assert told[-1].commonest == (("*", 7),)
    losses = [own.loss for own in told]
    assert losses == sorted(losses)


def test_masks_and_dates_are_previewed(tmp_path):
    """A mask hides one character after the other; a date becomes its month and its year."""
    assert dict(rungs(tmp_path, "code", mask="right")[2].commonest)["47**"] == 3
    told = rungs(tmp_path, "day", dates=["month", "year"])
    assert dict(told[1].commonest)["2020-01"] == 4
    assert dict(told[2].commonest) == {"2020": 5, "2021": 2}


def test_a_file_is_previewed(tmp_path):
    """A file beside the policy gives its levels."""
    lines = {value: f"{value};{value[:2] or 'none'};*" for value in FRAME["code"] if value}
    (tmp_path / "code.csv").write_text("\n".join(lines.values()))
    assert dict(rungs(tmp_path, "code", file="code.csv")[1].commonest)["47"] == 3


@pytest.mark.parametrize(
    ("name", "hierarchy"),
    [
        ("age", {"widths": [5, 7]}),
        ("code", {"file": "absent.csv"}),
        ("day", {"widths": [5]}),
        ("age", {"widths": [0]}),
    ],
)
def test_what_is_unsound_is_refused(tmp_path, name, hierarchy):
    """A hierarchy that no policy could have is refused with words, and no cell is quoted."""
    with pytest.raises(ManyveilsError) as refused:
        rungs(tmp_path, name, **hierarchy)
    assert "4790" not in str(refused.value)


@pytest.mark.parametrize("typed", ["", "a", "5, x", "inf"])
def test_widths_that_are_no_numbers_are_refused(typed):
    """Letters in place of widths are refused with an example."""
    with pytest.raises(InputError, match="5, 10, 20"):
        read_widths(typed)


def test_each_form_that_is_proposed_is_one_the_policy_knows(table):
    """A form that is chosen begins with a hierarchy of that form, which the text then has."""
    bench = open_workbench(table)
    for form in ("widths", "mask", "dates", "known", "file", "none"):
        hierarchy = proposed(form, "age", bench.profile)
        text = document.with_hierarchy(bench.text, "age", hierarchy)
        section = tomllib.loads(text)["attributes"]["age"]
        assert form_of(section) == ((form, *hierarchy.values()) if hierarchy else ("none", None))


def test_people_with_several_rows_count_once(tmp_path):
    """Under a label somebody with several rows is one person."""
    place = Place(FRAME, pl.Series([0, 0, 0, 1, 1, 2, 2]).to_numpy(), tmp_path, "policy.toml")
    told = rungs_of(place, {}, {"role": "quasi", "hierarchy": {"dates": ["year"]}}, "day")
    assert dict(told[1].commonest) == {"2020": 3, "2021": 2}
