"""The plain adversary of chains is certain only of what is true in every world that agrees with all releases."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.datasets import insured, insured_policy
from manyveils.publishing import publish_to
from tests.kit.chain_adversary import Seen, certain, read

PEOPLE = "abcdef"
VALUES = "uvw"
QUASI = ("age", "sex", "zipcode")
METHODS = {
    "anatomy": {"method": "anatomize", "suppression": 0.02},
    "slices": {
        "method": "slice",
        "columns": [["age", "sex"], ["zipcode"], ["tissue"], ["condition"], ["therapy"]],
    },
    "Mondrian": {"method": "generalize", "recoding": "mondrian"},
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "columns apart": {"method": "separate"},
}


def seen(*groups: tuple[str, str]) -> Seen:
    """A release with these groups: whose they are, and the values in them."""
    return Seen(
        {person: set(values) for persons, values in groups for person in persons},
        {frozenset(persons): Counter(values) for persons, values in groups},
    )


def test_groups_are_intersected() -> None:
    """Somebody whose group had u and v, and then u and w, has u."""
    found = certain([seen(("ab", "uv")), seen(("ac", "uw"))])
    assert found.by_intersecting == {"a": "u"}
    assert found.by_all == {"a": "u", "b": "v", "c": "w"}


def test_who_left_is_subtracted() -> None:
    """What a group lost when one person left, she had; who came in has what it won."""
    found = certain([seen(("abc", "uvw")), seen(("bcd", "uwx"))])
    assert found.by_intersecting == {}
    assert found.by_subtracting == {"a": "v", "d": "x"}


def test_groups_that_went_together_are_subtracted_together() -> None:
    """Two groups that became one tell of the one person who left them."""
    found = certain([seen(("ab", "uv"), ("cd", "uv")), seen(("abc", "uvu"))])
    assert found.by_subtracting["d"] == "v"


def test_who_is_certain_is_ruled_out() -> None:
    """Who is certain is ruled out in her groups, and then whoever is left there."""
    later = [seen(("bef", "vxu"), ("cgh", "wvu")), seen(("bij", "vwu"))]
    found = certain([seen(("bcd", "vwx")), *later])
    assert found.by_subtracting == {"b": "v"}
    assert found.by_all == {"b": "v", "c": "w", "d": "x"}


def test_groups_that_stay_tell_nothing() -> None:
    """Releases with the same groups make nobody certain, however many there are."""
    assert certain([seen(("abc", "uvw"), ("def", "uuv"))] * 4).by_all == {}


@st.composite
def chains(draw: st.DrawFn) -> tuple[dict[str, str], list[Seen]]:
    """Who has which value, and up to three releases in which some of the people are in groups."""
    truth = {person: draw(st.sampled_from(VALUES)) for person in PEOPLE}
    releases = []
    for _ in range(draw(st.integers(1, 3))):
        numbers = {person: draw(st.integers(0, 3)) for person in PEOPLE}
        groups = ["".join(person for person in PEOPLE if numbers[person] == group) for group in (1, 2, 3)]
        releases.append(seen(*((own, "".join(truth[person] for person in own)) for own in groups if own)))
    return truth, releases


@given(chains())
@settings(max_examples=200, deadline=None)
def test_what_is_certain_is_so_in_all_worlds(chain: tuple[dict[str, str], list[Seen]]) -> None:
    """No world that agrees with all releases gives a person another value than the one that is certain."""
    _, releases = chain
    people = sorted({person for release in releases for person in release.possible})
    worlds = [dict(zip(people, values, strict=True)) for values in product(VALUES, repeat=len(people))]
    agreeing = [
        world
        for world in worlds
        if all(
            Counter(world[person] for person in persons) == values
            for release in releases
            for persons, values in release.groups.items()
        )
    ]
    found = certain(releases)
    assert found.by_intersecting.items() <= found.by_subtracting.items() <= found.by_all.items()
    assert all(world[person] == value for world in agreeing for person, value in found.by_all.items())


@pytest.mark.parametrize("name", METHODS)
def test_published_releases_are_read(name: str, tmp_path: Path) -> None:
    """One release makes nobody certain; of two that do not know of each other what is certain is true."""
    policy = insured_policy(publish=METHODS[name])
    frames = [insured(600, quarter) for quarter in (1, 2)]
    for number, frame in enumerate(frames):
        publish_to(policy, tmp_path / f"{number}", data=frame, seed=number)
    people = [
        {row["person"]: {own: str(row[own]) for own in QUASI} for row in frame.to_dicts()} for frame in frames
    ]
    for about in ("tissue", "condition"):
        releases = [read(tmp_path / f"{number}", own, about) for number, own in enumerate(people)]
        assert all(len(release.possible) >= 0.98 * 600 for release in releases)
        assert all(certain([release]).by_all == {} for release in releases)
        truth = {person: value for frame in frames for person, value in frame.select("person", about).rows()}
        assert certain(releases).by_all.items() <= truth.items()


def test_anatomies_undo_each_other(tmp_path: Path) -> None:
    """Two anatomies of a table that changed make dozens of people certain."""
    policy = insured_policy(publish={"method": "anatomize", "suppression": 0.02, "leaving": 0})
    releases = []
    for quarter in (1, 2):
        frame = insured(600, quarter)
        publish_to(policy, tmp_path / f"{quarter}", data=frame, seed=quarter)
        people = {row["person"]: {own: str(row[own]) for own in QUASI} for row in frame.to_dicts()}
        releases.append(read(tmp_path / f"{quarter}", people, "condition"))
    assert len(certain(releases).by_all) > 50


def test_told_places_are_believed(tmp_path: Path) -> None:
    """Whoever knows in which bucket everybody is knows of every bucket who is in it, and nothing false."""
    frame = insured(600)
    published = publish_to(insured_policy(), tmp_path / "release", data=frame, seed=1)
    places = pl.read_parquet(published.private / "placements.parquet")["main"]
    where = dict(zip(frame["person"].to_list(), places.to_list(), strict=True))
    people = {row["person"]: {own: str(row[own]) for own in QUASI} for row in frame.to_dicts()}
    guessed, told = (read(published.folder, people, "tissue", known) for known in (None, where))
    assert told.groups.items() >= guessed.groups.items()
    assert sum(map(len, told.groups)) == published.release.manifest.rows
    truth = dict(frame.select("person", "tissue").rows())
    assert all(truth[person] in values for person, values in told.possible.items())


@pytest.mark.parametrize(("suppressed", "known"), [(0, {"a", "b", "c"}), (1, {"c"})])
def test_who_may_be_held_back_is_not_believed_to_be_in(
    suppressed: int, known: set[str], tmp_path: Path
) -> None:
    """Where fewer lines than people have a label and somebody was held back, nobody knows who of them it is."""
    columns = [{"attributes": [name], "file": f"tables/{name}.csv"} for name in ("age", "tissue")]
    views = [{"name": "main", "bucketed": True, "columns": columns}]
    (tmp_path / "tables").mkdir()
    (tmp_path / "release.json").write_text(json.dumps({"suppressed": suppressed, "views": views}))
    (tmp_path / "tables/age.csv").write_text(
        "bucket,age\n0,30\n0,40\n1,30\n"[: None if not suppressed else -5]
    )
    (tmp_path / "tables/tissue.csv").write_text(
        "bucket,tissue\n0,u\n0,v\n1,w\n"[: None if not suppressed else -4]
    )
    release = read(tmp_path, {"a": {"age": "30"}, "b": {"age": "30"}, "c": {"age": "40"}}, "tissue")
    assert release.possible.keys() == known
    assert release.groups == {}
