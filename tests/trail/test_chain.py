"""Publishing again, from the first release to the report: in commands, in Python, and when the process dies."""

import json
import pickle
import subprocess
import sys
import textwrap
import zipfile
from copy import copy

import polars as pl
import pytest

import manyveils as mv
from manyveils.reading.chain import chain_of
from manyveils.release.ledger import read_ledger
from manyveils.release.placements import private_folder
from tests.conftest import MARK

PERSON = {"data": {"source": "people.csv", "person": "name"}, "publish": {"method": "separate"}}


def rows(numbers):
    """A small table of some people."""
    lines = [f"{MARK}name{i},{20 + i % 9},{MARK}city{i % 3},{MARK}ill{i % 4}" for i in numbers]
    return "\n".join(["name,age,city,illness", *lines]) + "\n"


@pytest.fixture
def quarters(desk):
    """A desk with a policy that names persons, and two tables: some people left, and others came."""
    desk.document["attributes"]["illness"]["constant"] = True
    desk.policy(**PERSON)
    desk.data(rows(range(24)), "first.csv")
    desk.data(rows(range(4, 28)), "second.csv")
    return desk


def go(desk, name, table, *words):
    """Publish a table of the desk under some name."""
    policy, data = desk.folder / "policy.toml", desk.folder / table
    return desk.run("publish", policy, "--data", data, "--out", desk.folder / name, "--seed", 1, *words)


def test_first_audit_and_report_in_commands(quarters):
    """One release is published, another after it, and audit, attack and report look at both."""
    desk, first = quarters, quarters.folder / "q1"
    assert go(desk, "q1", "first.csv").status == 0
    done = go(desk, "q2", "second.csv", "--after", first)
    assert done.status == 0, done.said
    assert "together with q1" in done.stdout
    named = ["--policy", desk.folder / "policy.toml", "--data", desk.folder / "second.csv"]
    alone = desk.run("audit", desk.folder / "q2", *named)
    assert alone.status == 0
    assert "It was published after q1." in alone.stdout
    judged = desk.run("audit", desk.folder / "q2", *named, "--after", first, "--json")
    assert judged.status == 0
    assert judged.document["after"] == ["q1"]
    assert "without" not in judged.document
    tried = desk.run("attack", desk.folder / "q2", *named, "--after", first, "--only", "sequential", "--json")
    assert tried.document["attacks"]["sequential"]["applies"]
    shown = desk.run("report", desk.folder / "q2", *named, "--after", first, "--only", "sequential", "--json")
    assert shown.status == 0, shown.said


def test_plan_looks_at_earlier_releases(quarters):
    """A plan refuses what publishing would, and writes nothing."""
    desk = quarters
    assert go(desk, "q1", "first.csv").status == 0
    before = desk.listing()
    words = ["plan", desk.folder / "policy.toml", "--data", desk.folder / "second.csv", "--after"]
    assert desk.run(*words, desk.folder / "q1").status == 0
    assert desk.run(*words, desk.folder / "nowhere").status == 2
    assert desk.listing() == before


def test_in_python(tmp_path):
    """The same in Python: a release in memory keeps its ledger to itself, and saving puts it beside the folder."""
    policy = mv.Policy(
        data={"person": "name"},
        attributes={
            "name": {"role": "identifier"},
            "age": {"role": "quasi"},
            "ill": {"role": "sensitive", "constant": True},
        },
        guarantee={"k": 2, "l": 2},
        publish={"method": "anatomize"},
    )

    def frame(numbers):
        cells = {"name": [f"n{i}" for i in numbers], "age": [20 + i % 5 for i in numbers]}
        return pl.DataFrame({**cells, "ill": [f"i{i % 4}" for i in numbers]})

    first = mv.publish(frame(range(16)), policy, seed=1)
    assert first.ledger is not None
    assert copy(first).ledger is None
    assert pickle.loads(pickle.dumps(first)).ledger is None
    assert "ledger" not in repr(first)
    first.save(tmp_path / "q1")
    assert not list((tmp_path / "q1").rglob("*ledger*"))
    second = mv.publish(frame(range(16)), policy, seed=1, after=tmp_path / "q1")
    second.save(tmp_path / "q2", format="parquet")
    chain = chain_of([tmp_path / "q2", tmp_path / "q1"])
    assert [link.name for link in chain.links] == ["q1", "q2"]
    assert {ledger.key for ledger in chain.ledgers} == {first.ledger.key}
    assert mv.audit(tmp_path / "q2", frame(range(16)), policy, after=[tmp_path / "q1"]).kept
    with pytest.raises(mv.DataError, match="earlier release, too"):
        mv.audit(tmp_path / "q2", frame(range(16)), policy, after=[tmp_path / "q1", tmp_path / "q2"])


def test_a_ledger_holds_no_name(quarters):
    """Neither names nor what is known of people stand in a ledger, and nobody else may read the folder it is in."""
    desk = quarters
    assert go(desk, "q1", "first.csv").status == 0
    private = private_folder(desk.folder / "q1")
    assert private.stat().st_mode & 0o777 == 0o700
    with zipfile.ZipFile(private / "ledger.zip") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert not any(b"name" + str(i).encode() in part for part in content.values() for i in range(24))
    assert not any(b"city" in part for part in content.values())
    ledger, _ = read_ledger(desk.folder / "q1", private)
    assert ledger.sightings["person"].n_unique() == 24
    document = json.loads(content["ledger.json"])
    assert document["after"] == []


@pytest.mark.parametrize("person", ["row", None])
def test_without_persons_there_is_no_ledger(desk, person):
    """Where nobody is told apart, a release has no ledger."""
    desk.policy(data={"person": person} if person else {}, publish={"method": "separate"})
    assert desk.publish().status == 0
    names = {path.name for path in private_folder(desk.out).iterdir()}
    assert names == {"audit.json", "plan.json", "seed.json", "release.sha256"}


SLOW = textwrap.dedent("""
    import os, sys, time
    from pathlib import Path
    import polars as pl
    from manyveils.cli.app import app
    from manyveils.release import folder

    rename, replace, write = Path.rename, Path.replace, pl.DataFrame.write_csv

    def slowly(act):
        def acting(*arguments, **options):
            print("acting", flush=True)
            time.sleep(0.1)
            done = act(*arguments, **options)
            time.sleep(0.1)
            return done
        return acting

    Path.rename, Path.replace, pl.DataFrame.write_csv = map(slowly, (rename, replace, write))
    os.fsync, folder._exchanged = slowly(os.fsync), slowly(folder._exchanged)
    app(sys.argv[1:])
""")


@pytest.mark.parametrize("n_acts", [1, 5, 10, 11, 12, 13, 14, 16, 18, 30])
@pytest.mark.parametrize("force", [False, True])
def test_killed(quarters, n_acts, force):
    """Killed at any moment, the chain is the old one or the new one, and publishing again works."""
    desk, first, second = quarters, quarters.folder / "q1", quarters.folder / "q2"
    assert go(desk, "q1", "first.csv").status == 0
    words = ["publish", desk.folder / "policy.toml", "--data", desk.folder / "second.csv", "--out", second]
    words += ["--after", first]
    if force:
        assert go(desk, "q2", "second.csv", "--after", first).status == 0
        words += ["--force"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        n_acts -= line == "acting\n"
        if not n_acts:
            process.kill()
            break
    process.communicate(timeout=60)
    chain_of([first])
    if second.exists():
        assert [link.name for link in chain_of([second, first]).links] == ["q1", "q2"]
    assert go(desk, "q2", "second.csv", "--after", first, "--force").status == 0
    chain_of([first, second])
    assert not (private_folder(second) / "ledger.replaced.zip").exists()
