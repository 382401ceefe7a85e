"""What people get wrong when they publish again, and what they are told."""

import shutil
import zipfile

import pytest

from manyveils.methods import METHODS, load
from manyveils.release.placements import private_folder
from tests.conftest import MARK
from tests.trail.test_chain import PERSON, go, quarters, rows

__all__ = ["quarters"]


@pytest.fixture
def chain(quarters):
    """A desk with three releases, each after those before it."""
    desk = quarters
    for number in range(3):
        after = [word for before in range(number) for word in ("--after", desk.folder / f"q{before}")]
        done = go(desk, f"q{number}", ("first.csv", "second.csv")[number % 2], *after)
        assert done.status == 0, done.said
    return desk


def refused(desk, *after, table="second.csv"):
    """What is said when a release is to be published after some others, which is refused without leaving anything."""
    before = set(desk.listing())
    words = [word for folder in after for word in ("--after", folder)]
    outcome = go(desk, "new", table, *words)
    assert outcome.status == 2, outcome.said
    assert "Traceback" not in outcome.said
    assert MARK not in outcome.said
    assert set(desk.listing()) == before
    return " ".join(outcome.said.split())


def test_a_link_is_missing(chain):
    """Whoever leaves out an earlier release is told which."""
    said = refused(chain, chain.folder / "q2", chain.folder / "q0", table="first.csv")
    assert "q2: was published after q1, which is not named" in said


def test_a_release_was_changed(chain):
    """A release that is not what it was is no link."""
    table = next((chain.folder / "q1" / "tables").iterdir())
    table.write_text(table.read_text() + "\n")
    said = refused(chain, *(chain.folder / f"q{number}" for number in range(3)))
    assert "was changed" in said
    assert "Restore the release" in said


def test_another_chain(chain):
    """Releases of two chains are no chain."""
    assert go(chain, "lone", "first.csv").status == 0
    said = refused(chain, chain.folder / "q0", chain.folder / "lone")
    assert "belongs to another chain" in said


def test_a_ledger_of_another_release(chain):
    """A ledger that was put beside another release does not go with it."""
    shutil.copy(*(private_folder(chain.folder / own) / "ledger.zip" for own in ("q1", "q0")))
    assert "is another one than its ledger was written with" in refused(chain, chain.folder / "q0")


def test_a_branch(chain):
    """Two releases that do not know of each other cannot both be gone on from."""
    done = go(chain, "side", "first.csv", "--after", chain.folder / "q0")
    assert done.status == 0
    said = refused(chain, *(chain.folder / name for name in ("q0", "q1", "side")))
    assert "without regard to" in said


def test_named_twice(chain):
    """A release that is named twice is named once too often."""
    assert "named twice" in refused(chain, chain.folder / "q0", chain.folder / "q0")
    assert "named twice" in refused(chain, chain.folder / "q0", chain.folder / "q1" / ".." / "q0")
    shutil.copytree(chain.folder / "q0", chain.folder / "copy")
    shutil.copytree(private_folder(chain.folder / "q0"), private_folder(chain.folder / "copy"))
    assert "named twice" in refused(chain, chain.folder / "q0", chain.folder / "copy")


@pytest.mark.parametrize("name", ["nowhere", "first.csv", "q0.private"])
def test_no_release(chain, name):
    """A table, a private folder and nothing at all are no earlier release."""
    assert "is no release folder" in refused(chain, chain.folder / name)


def test_no_ledger(chain):
    """A release without a ledger says how to start one."""
    (private_folder(chain.folder / "q0") / "ledger.zip").unlink()
    said = refused(chain, chain.folder / "q0")
    assert "has no ledger" in said
    assert "manyveils ledger start" in said
    shutil.rmtree(private_folder(chain.folder / "q0"))
    assert "has no ledger" in refused(chain, chain.folder / "q0")


def damaged(path):
    """Ways to damage a ledger: a text, half of the file, a part that is missing, a part that is none."""
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    yield b"not a ledger"
    yield b""
    yield whole[: len(whole) // 2]
    for name in parts:
        for content in (None, b"", b"[]", b'{"format": 3}'):
            with zipfile.ZipFile(path, "w") as archive:
                for other, own in parts.items():
                    told = content if other == name else own
                    if told is not None:
                        archive.writestr(other, told)
            yield path.read_bytes()


def test_a_damaged_ledger(quarters):
    """Whatever is wrong with a ledger, it is said to be damaged."""
    assert go(quarters, "q0", "first.csv").status == 0
    path = private_folder(quarters.folder / "q0") / "ledger.zip"
    for content in list(damaged(path)):
        path.write_bytes(content)
        assert "cannot be read as a ledger" in refused(quarters, quarters.folder / "q0")


@pytest.mark.parametrize("person", ["row", None])
def test_nobody_is_told_apart(chain, person):
    """A policy that names no person cannot go on."""
    chain.policy(
        data={"person": person}, attributes={"illness": {"constant": None}}, publish={"method": "separate"}
    )
    assert "data.person" in refused(chain, chain.folder / "q0")


@pytest.mark.parametrize("method", [name for name in METHODS if not load(name).continues])
def test_methods_that_cannot(chain, method):
    """A method that cannot go on says why, before anything is read."""
    chain.policy(data=PERSON["data"], publish={"method": method, **load(method).promising})
    (chain.folder / "second.csv").unlink()
    said = refused(chain, chain.folder / "q0")
    assert load(method).why_not
    assert load(method).why_not in said
    assert '"generalize", "anatomize", "slice" or "separate"' in said


def test_methods_give_a_reason():
    """A method either goes on from earlier releases or says why it does not."""
    assert all(bool(load(name).why_not) != load(name).continues for name in METHODS)


def test_people_without_a_name(quarters):
    """Whose identifier is missing may have been here before, and is held back if that is allowed."""
    desk = quarters
    nameless = [f",25,{MARK}city1,{MARK}ill{number}\n" for number in range(2)]
    desk.data(rows(range(24)) + "".join(nameless), "first.csv")
    assert go(desk, "q1", "first.csv").status == 0
    done = go(desk, "q2", "first.csv", "--after", desk.folder / "q1")
    assert done.status == 1
    assert "2 persons have no identity" in done.said
    assert MARK not in done.said


def test_an_empty_table(chain):
    """A table without a row is refused as ever."""
    chain.data("name,age,city,illness\n", "empty.csv")
    assert "no row" in refused(chain, chain.folder / "q0", table="empty.csv")


def test_nobody_comes_back(chain):
    """Where nobody was seen before, the identifiers are not those of the chain."""
    chain.data(rows(range(100, 124)), "others.csv")
    said = refused(chain, chain.folder / "q0", table="others.csv")
    assert "nobody in it was seen in q0" in said
    assert "data.person" in said


def test_an_attribute_was_not_sensitive(quarters):
    """What an earlier release shows of everybody cannot be protected from now on."""
    desk = quarters
    desk.policy(**PERSON, attributes={"city": {"role": "quasi"}})
    assert go(desk, "q1", "first.csv").status == 0
    desk.policy(**PERSON, attributes={"city": {"role": "sensitive", "constant": True}})
    assert "city: was not sensitive when q1 was published" in refused(desk, desk.folder / "q1")


def test_after_what_it_would_replace(chain):
    """A release does not take the place of one that it comes after."""
    done = go(chain, "q0", "second.csv", "--after", chain.folder / "q0", "--force")
    assert done.status == 2
    assert "would be replaced" in done.said
    assert go(chain, "q3", "first.csv", "--after", chain.folder / "q0").status == 0


def test_a_bare_table_comes_after_nothing(chain):
    """A table that is no release cannot be audited beside earlier releases."""
    words = ["--policy", chain.folder / "policy.toml", "--after", chain.folder / "q0"]
    outcome = chain.run("audit", chain.folder / "first.csv", *words)
    assert outcome.status == 2
    assert MARK not in outcome.said


def test_a_release_in_memory(chain):
    """A release that is in no folder is to be saved first."""
    import manyveils as mv

    policy, data = chain.folder / "policy.toml", chain.folder / "first.csv"
    release = mv.publish(data, policy)
    with pytest.raises(mv.InputError, match="Save the release"):
        mv.publish(data, policy, after=release)
    with pytest.raises(mv.InputError, match="Save the release"):
        mv.audit(release, data, policy, after=[release])


def test_spark_does_not(chain):
    """Spark says that it does not look at earlier releases, before it starts."""
    for words in (
        ["publish", chain.folder / "policy.toml", "--out", chain.folder / "new", "--engine", "spark"],
        ["audit", chain.folder / "q1", "--policy", chain.folder / "policy.toml", "--engine", "spark"],
    ):
        done = chain.run(*words, "--data", chain.folder / "first.csv", "--after", chain.folder / "q0")
        assert done.status == 2
        assert "Use the local engine." in done.said


def test_all_methods_after(chain):
    """Releases of all methods come after nothing."""
    outcome = chain.run("attack", "--all-methods", "--after", chain.folder / "q0")
    assert outcome.status == 2
    assert "--after belongs to one release" in outcome.said
