"""`manyveils attack` and `mv.attack`: tables, JSON, private results, and no cell of the data anywhere."""

import json

import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks import ATTACKS
from manyveils.methods import METHODS

MARK = "Zq7"


def test_attack_prints_a_table(desk):
    """The command prints outcomes, a verdict for every attack, and writes nothing."""
    desk.published()
    before = desk.listing()
    outcome = desk.run("attack", desk.out, "--policy", desk.folder / "policy.toml", "--seed", 1)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert all(name in outcome.stdout for name in ATTACKS)
    assert "does not protect against" in outcome.stdout or "Nothing is learnt by" in outcome.stdout
    assert desk.listing() == before


def test_attack_in_json(desk):
    """With --json there is one document; numbers are where attacks apply and reasons where they do not."""
    desk.published()
    words = ("attack", desk.out, "--policy", desk.folder / "policy.toml", "--json")
    found = desk.run(*words, "--only", "homogeneity", "--only", "linkage").document
    assert list(found["attacks"]) == ["linkage", "homogeneity"]
    each = found["attacks"]["homogeneity"]
    assert each["interval"][0] <= each["success"] <= each["interval"][1]
    assert each["targets"] == 12
    skipped = desk.run(*words, "--only", "dependency").document["attacks"]["dependency"]
    assert (skipped["applies"], skipped["success"]) == (False, None)
    assert skipped["reason"]


def test_no_cell_is_quoted(desk):
    """Neither the table nor JSON nor a repr has a cell of the data; what a bound comes from is told by kind."""
    desk.published()
    words = ("attack", desk.out, "--policy", desk.folder / "policy.toml")
    for more in ((), ("--json",)):
        assert MARK not in desk.run(*words, *more).said.replace(str(desk.folder), "")
    found = mv.attack(desk.out, None, desk.folder / "policy.toml", seed=1)
    assert MARK not in repr(found) + "".join(map(repr, found.values()))


def test_multivalued_attributes_are_named_whole(hospital):
    """The values of a multi-valued attribute are names of its columns, and stand nowhere in the outcome."""
    hospital.published()
    outcome = hospital.run("attack", hospital.out, "--policy", hospital.folder / "policy.toml", "--json")
    assert "diagnosis" in outcome.stdout
    assert not any(value in outcome.stdout for value in ("Bronchitis", "Gastritis", "diagnosis="))


def test_all_methods(hospital):
    """--all-methods publishes with every method and lays the outcomes side by side; refusals are told."""
    policy = hospital.folder / "policy.toml"
    before = hospital.listing()
    words = ("attack", "--all-methods", "--policy", policy, "--seed", 1, "--only", "homogeneity")
    outcome = hospital.run(*words)
    assert outcome.status == 0
    assert all(name in outcome.stdout for name in ("generalize", "anatomize", "slice", "codip", "separate"))
    assert "grade takes a cell of several values as one value" in outcome.stdout
    assert "no promise caps this" in outcome.stdout
    found = hospital.run(*words, "--json").document
    assert set(found["methods"]) | set(found["refused"]) >= set(METHODS)
    assert "grade" in found["methods"]
    assert found["whole_cells"] == ["grade"]
    assert hospital.listing() == before


def test_mistakes(desk):
    """An unknown attack, no release, and a release that is not there are refused with what would be right."""
    desk.published()
    policy = desk.folder / "policy.toml"
    assert "There are linkage" in desk.refused("attack", desk.out, "--policy", policy, "--only", "magic")
    assert "--all-methods" in desk.refused("attack", "--policy", policy)
    both = desk.refused("attack", desk.out, "--policy", policy, "--all-methods", "--other", desk.out)
    assert "makes its own releases" in both
    assert "--other belongs to one release" in both
    assert "the folder holds something else than parts of a table" in desk.refused(
        "attack", desk.folder, "--policy", policy
    )


def test_other_people(desk):
    """A release of other people is refused, and not found to be safe; the message has attributes and no cell."""
    desk.published()
    other = mv.datasets.hospital(50).rename({"zipcode": "q"}).select("q")
    policy = mv.Policy(attributes={"q": {"role": "quasi"}}, publish={"method": "separate"})
    release = mv.publish(other, policy, seed=1)
    strange = pl.DataFrame({"q": ["Zq7-1", "Zq7-2"]})
    with pytest.raises(mv.InputError, match="no value of the data stands in it") as caught:
        mv.attack(release, strange, policy)
    assert MARK not in str(caught.value)
    with pytest.raises(mv.InputError, match="other 1: it has no attribute in common"):
        mv.attack(desk.out, None, desk.folder / "policy.toml", others=[release])
    with pytest.raises(mv.DataError, match="control"):
        mv.attack(desk.out, None, desk.folder / "policy.toml", control=strange[:0])


def test_success_says_what_it_is(desk):
    """Where success is not the share of targets guessed right, the table, the verdict and JSON say what it is."""
    desk.published()
    words = ("attack", desk.out, "--policy", desk.folder / "policy.toml", "--seed", 1)
    said = desk.run(*words).stdout
    assert "for membership, area under the curve" in said
    assert "ranks above a non-member" in said
    found = desk.run(*words, "--json").document["attacks"]
    assert found["skewness"]["measures"] == "mean belief in the true value"


def test_progress_names_attacks(desk):
    """Progress is told attack by attack."""
    desk.published()
    told = []
    mv.attack(
        desk.out, None, desk.folder / "policy.toml", progress=lambda stage, share: told.append((stage, share))
    )
    assert [stage for stage, share in told if share == 0.0][1:] == list(ATTACKS)
    assert told[-1] == ("attacks", 1.0)


def test_the_same_seed_the_same_numbers(desk):
    """With a seed outcomes are the same again, to the last digit."""
    desk.published()
    one, two = (mv.attack(desk.out, None, desk.folder / "policy.toml", seed=5).describe() for _ in range(2))
    assert json.dumps(one) == json.dumps(two)
    with pytest.raises(mv.InputError, match="seed"):
        mv.attack(desk.out, None, desk.folder / "policy.toml", seed=-1)


def test_outcomes_are_a_mapping(desk):
    """Attacks are found by name, and those that do not apply are among them."""
    desk.published()
    found = mv.attack(desk.out, None, desk.folder / "policy.toml", seed=1)
    assert list(found) == list(ATTACKS)
    assert isinstance(found["homogeneity"], mv.Outcome)
    assert len(found) == len(ATTACKS)


def test_every_attack_says_what_it_is():
    """Every attack says what the adversary knows, how it works and where it comes from: itself, or its file."""
    import inspect

    for name, attack in ATTACKS.items():
        docs = inspect.getdoc(attack if attack.__name__ != "attack" else inspect.getmodule(attack))
        assert all(f"\n{word}: " in docs for word in ("Knows", "How", "Paper")), name
