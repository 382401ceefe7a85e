"""Ledgers by themselves: a chain is shown, started from a release that is there, and persons are forgotten in it."""

import json
import re
import shutil

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.publishing import publish_to
from manyveils.reading.chain import chain_of
from manyveils.release.ledger import read_ledger
from manyveils.release.placements import private_folder
from manyveils.table import hold
from tests.conftest import MARK

ATTRIBUTES = {
    "house": {"role": "identifier"},
    "member": {"role": "identifier"},
    "age": {"role": "quasi"},
    "ill": {"role": "sensitive", "constant": True},
}


def policy(**changes):
    """A policy in which two identifiers tell persons apart."""
    sections = {
        "data": {"person": ["house", "member"]},
        "attributes": ATTRIBUTES,
        "guarantee": {"k": 2, "l": 2},
        "publish": {"method": "anatomize"},
    }
    return mv.Policy(**sections | changes)


def people(numbers):
    """Some people: houses are numbers, members are names."""
    cells = {"house": [i // 2 for i in numbers], "member": [f"{MARK}member, {i % 2}" for i in numbers]}
    more = {"age": [20 + i % 5 for i in numbers], "ill": [f"{MARK}ill{i % 4}" for i in numbers]}
    return pl.DataFrame({**cells, **more})


@pytest.fixture
def chain(tmp_path):
    """Three releases: four persons are away from the second one, and four others come."""
    tables = [people(range(16)), people(range(4, 20)), people(range(20))]
    for number, table in enumerate(tables):
        after = [tmp_path / f"q{before}" for before in range(number)]
        publish_to(policy(publish={"method": "separate"}), tmp_path / f"q{number}", data=table, after=after)
    return [tmp_path / f"q{number}" for number in range(3)]


def test_a_chain_is_shown(desk, chain):
    """Who joined, left and returned is counted, release by release, in whatever order they are named."""
    told = desk.run("ledger", "show", chain[2], chain[0], chain[1], "--json").document
    assert told["whole"] is True
    assert [own["release"] for own in told["releases"]] == ["q0", "q1", "q2"]
    moves = [[own[key] for key in ("persons", "joined", "returned", "left")] for own in told["releases"]]
    assert moves == [[16, 16, 0, 0], [16, 4, 0, 4], [20, 0, 4, 0]]
    assert {own["method"] for own in told["releases"]} == {"separate"}
    shown = desk.run("ledger", "show", *chain)
    assert shown.status == 0
    assert "The chain is whole" in shown.stdout


def test_a_chain_that_is_not_whole_is_shown_too(desk, chain):
    """What can be read is shown, with what is wrong, and exit status 2."""
    outcome = desk.run("ledger", "show", chain[0], chain[2])
    assert outcome.status == 2
    assert "NOT whole" in outcome.stdout
    assert "q1" in outcome.stdout
    (private_folder(chain[1]) / "ledger.zip").write_text("nothing")
    told = desk.run("ledger", "show", *chain, "--json")
    assert told.status == 2
    assert [own["release"] for own in told.document["releases"]] == ["q0", "q2"]
    assert any("damaged" in problem for problem in told.document["problems"])


def started(desk, folder, *words):
    """Start the ledger of a release by the policy on the desk."""
    named = ["--policy", desk.folder / "policy.toml", "--data", desk.folder / "data.parquet"]
    return desk.run("ledger", "start", folder, *named, *words)


@pytest.fixture
def unchained(desk):
    """A desk with a release of an older make: no ledger, and no placements."""
    document = {
        "data": {"person": ["house", "member"]},
        "attributes": ATTRIBUTES,
        "guarantee": {"k": 2, "l": 2},
    }
    desk.document = {**document, "publish": {"method": "separate"}}
    desk.policy()
    people(range(16)).write_parquet(desk.folder / "data.parquet")
    publish_to(desk.folder / "policy.toml", desk.folder / "old", data=people(range(16)))
    shutil.rmtree(private_folder(desk.folder / "old"))
    return desk


def test_a_chain_is_started_from_a_release_and_its_original(unchained):
    """A release without a private folder gets a ledger, and the next one goes on from it."""
    desk, old = unchained, unchained.folder / "old"
    outcome = started(desk, old, "--json")
    assert outcome.status == 0, outcome.said
    assert outcome.document["releases"][0]["joined"] == 16
    assert private_folder(old).stat().st_mode & 0o777 == 0o700
    assert mv.publish(people(range(16)), desk.folder / "policy.toml", after=[old]).ledger.after


def test_a_ledger_is_not_started_twice(unchained):
    """A ledger that is there is kept unless somebody insists; a new one begins another chain."""
    desk, old = unchained, unchained.folder / "old"
    assert started(desk, old).status == 0
    key = read_ledger(old, private_folder(old))[0].key
    refused = started(desk, old)
    assert refused.status == 2
    assert "has a ledger already" in refused.said
    assert started(desk, old, "--force").status == 0
    assert read_ledger(old, private_folder(old))[0].key != key


def test_another_original_starts_nothing(unchained):
    """A ledger is made only of the data that a release was made from."""
    desk, old = unchained, unchained.folder / "old"
    people(range(2, 18)).with_columns(ill=pl.col("ill") + "x").write_parquet(desk.folder / "data.parquet")
    outcome = started(desk, old)
    assert outcome.status == 1
    assert MARK not in outcome.said
    assert not private_folder(old).exists()


def test_another_method_or_no_person_starts_nothing(unchained):
    """The policy must be the one of the release, with persons and a method that goes on."""
    desk, old = unchained, unchained.folder / "old"
    for changes, said in (
        ({"publish": {"method": "anatomize"}}, "was made with method"),
        ({"publish": {"method": "codip"}}, "cannot publish after"),
        ({"data": {"person": "row"}, "attributes": {"ill": {"constant": None}}}, "names no identifiers"),
    ):
        desk.policy(**changes)
        outcome = started(desk, old)
        assert outcome.status == 2
        assert said in " ".join(outcome.said.split())
    assert not private_folder(old).exists()


def test_a_second_release_is_put_behind_a_first(unchained):
    """Two releases that were published apart are made a chain if the second keeps its promises beside the first."""
    desk = unchained
    publish_to(desk.folder / "policy.toml", desk.folder / "new", data=people(range(16)))
    assert started(desk, desk.folder / "old").status == 0
    outcome = started(desk, desk.folder / "new", "--after", desk.folder / "old", "--force")
    assert outcome.status == 0, outcome.said
    assert [link.name for link in chain_of([desk.folder / "new", desk.folder / "old"]).links] == [
        "old",
        "new",
    ]


def test_persons_are_forgotten(desk, chain):
    """Whoever is forgotten, by an argument or in a file, is new the next time, and nobody is named."""
    names = desk.folder / "names.txt"
    names.write_text(f'7,"{MARK}member, 1"\n\n99,nobody\n', encoding="utf-8")
    person = f'0,"{MARK}member, 0"'
    before = [read_ledger(folder, private_folder(folder))[0] for folder in chain]
    outcome = desk.run("ledger", "forget", *chain, "--person", person, "--persons", names, "--json")
    assert outcome.status == 0, outcome.said
    assert outcome.document == {"asked": 3, "found": 2, "releases": ["q0", "q1", "q2"]}
    after = [read_ledger(folder, private_folder(folder))[0] for folder in chain]
    gone = [
        own.sightings["person"].n_unique() - left.sightings["person"].n_unique()
        for own, left in zip(before, after, strict=True)
    ]
    # In the second release one of them is known to have left.
    assert gone == [2, 2, 2]
    assert chain_of(chain).links
    again = desk.run("ledger", "forget", *chain, "--person", person)
    assert again.status == 2
    assert MARK not in outcome.said + again.said
    told = desk.run("ledger", "forget", *chain)
    assert told.status == 2


def test_a_name_with_a_comma_is_one_name(tmp_path, desk):
    """With one identifier, commas belong to it."""
    attributes = {key: value for key, value in ATTRIBUTES.items() if key != "house"}
    own = policy(data={"person": "member"}, attributes=attributes, publish={"method": "separate"})
    table = (
        people(range(16)).with_columns(member=pl.Series([f"{MARK}x, {i}" for i in range(16)])).drop("house")
    )
    publish_to(own, tmp_path / "q", data=table)
    outcome = desk.run("ledger", "forget", tmp_path / "q", "--person", f"{MARK}x, 3", "--json")
    assert outcome.document["found"] == 1


def test_who_is_held_back_is_kept_in_mind(tmp_path):
    """Whoever is left out of a release stands in its ledger as held back, and is counted."""
    table = people(range(17)).with_columns(
        ill=pl.Series([*(f"i{i % 4}" for i in range(16)), "i0"], dtype=pl.String)
    )
    rare = table.with_columns(ill=pl.when(pl.int_range(17) < 9).then(pl.lit("i0")).otherwise("ill"))
    own = policy(
        publish={"method": "anatomize", "suppression": 0.3}, guarantee={"k": 2, "l": 2, "l_kind": "frequency"}
    )
    done = publish_to(own, tmp_path / "q", data=rare, seed=1)
    assert done.release.suppressed > 0
    ledger, _ = read_ledger(tmp_path / "q", private_folder(tmp_path / "q"))
    assert ledger.held_back.height == done.release.suppressed
    assert done.describe()["chain"]["held_back"] == done.release.suppressed
    assert ledger.held_back.join(ledger.sightings, on="person", how="semi").height == 0
    later, _ = hold(rare.reverse(), own)
    told = chain_of([tmp_path / "q"]).beside(later, own).earlier
    left_out = np.flatnonzero(done.release.placements["main"] < 0)
    assert told.held_back.tolist() == sorted(16 - left_out)


def test_the_report_tells_the_chain(chain):
    """A report after earlier releases has a picture and a table of them; one without has neither."""
    own = policy(publish={"method": "separate"})
    page = mv.report(chain[2], people(range(20)), own, after=chain[:2], only=["homogeneity"], seed=1)
    assert [known["release"] for known in page.document["chain"]["releases"]] == ["q0", "q1", "q2"]
    assert all(known["known"][0]["attribute"] == "ill" for known in page.document["chain"]["releases"])
    assert page.document["audit"]["after"] == ["q0", "q1"]
    assert "Who came and went" in page.html
    assert "What may be known" in page.html
    numbers = re.findall(r'value="([^"]*)" data-from="/chain/releases/1/left"', page.html)
    assert [json.loads(number) for number in numbers] == [4]
    alone = mv.report(chain[2], people(range(20)), own, only=["homogeneity"], seed=1)
    assert "chain" not in alone.document
    assert "Who came and went" not in alone.html
    assert "It was published after q0, q1" in alone.html


def test_what_may_be_known_counts_what_remains(tmp_path):
    """The fewest values that remain, and the strongest belief, are those of the worst person of all releases."""
    own = policy(guarantee={"k": 2}, publish={"method": "separate"})
    table = pl.DataFrame(
        {"house": range(4), "member": list("abcd"), "age": [1, 1, 1, 1], "ill": ["u", "u", "v", "w"]}
    )
    publish_to(own, tmp_path / "q", data=table)
    page = mv.report(tmp_path / "q", table, own, only=["homogeneity"])
    assert "chain" not in page.document
    publish_to(own, tmp_path / "p", data=table, after=tmp_path / "q")
    page = mv.report(tmp_path / "p", table, own, after=tmp_path / "q", only=["homogeneity"])
    known = [own["known"][0] for own in page.document["chain"]["releases"]]
    assert [own["values"] for own in known] == [3, 3]
    assert [own["belief"] for own in known] == pytest.approx([0.5, 0.5])
