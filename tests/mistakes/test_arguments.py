"""Commands that are called wrongly, and what one is told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [str(Path(sys.executable).with_name("manyveils"))]


def test_unknown_command(desk):
    """A command that does not exist is answered with the nearest."""
    assert "publish" in desk.refused("publsh")


@pytest.mark.parametrize(
    "words",
    [
        ("publish",),
        ("publish", "policy.toml"),
        ("publish", "policy.toml", "--out", "out", "--nonsense"),
        ("publish", "policy.toml", "--out", "out", "--format", "xlsx"),
        ("publish", "policy.toml", "--out", "out", "--seed", "-1"),
        ("publish", "policy.toml", "--out", "out", "--seed", "many"),
        ("plan", "policy.toml", "--seed", "-1"),
        ("audit", "out"),
        ("measure",),
        ("demo", "--rows", "3"),
    ],
)
def test_wrong_arguments(desk, words):
    """Arguments that are missing, unknown or out of range are exit status 2, and JSON where it was asked for."""
    assert "Error" in desk.refused(*words)


@pytest.mark.parametrize(
    "level", ["k", "k=", "k=many", "k=nan", "k=inf", "=3", "k=0", "k=2.5", "t=2", "zebra=1"]
)
def test_levels(desk, level):
    """A level is a parameter and a number that it can have."""
    desk.published()
    message = desk.refused("audit", desk.out, "--policy", desk.folder / "policy.toml", "--level", level)
    assert "level" in message


def test_unforeseen(desk, monkeypatch):
    """A fault of our own says where it happened and quotes nothing; its status is neither a promise nor bad input."""

    def fault(*arguments, **options):
        raise RuntimeError("Zq7")

    monkeypatch.setattr("manyveils.publishing.publish_to", fault)
    message = desk.refused("publish", desk.folder / "policy.toml", "--out", desk.out, status=70)
    assert "RuntimeError" in message


def run(*words):
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=60)


def test_true_process(desk):
    """A real process leaves with the same statuses, and with messages on stderr only."""
    desk.policy(guarantee={"k": 13})
    refused = run("publish", desk.folder / "policy.toml", "--out", desk.out)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "k = 13 but there are 12 rows" in refused.stderr
    desk.policy(guarantee={"k": 2, "l": 2, "alpha": 0.1})
    infeasible = run("publish", desk.folder / "policy.toml", "--out", desk.out, "--json")
    assert (infeasible.returncode, infeasible.stderr) == (1, "")
    assert json.loads(infeasible.stdout)["error"] == "InfeasibleError"
    assert not desk.out.exists()


def test_true_process_misused(desk):
    """A real process that is misused in JSON answers in JSON."""
    misused = run("publish", "--json")
    assert misused.returncode == 2
    assert json.loads(misused.stdout)["exit_status"] == 2
    assert misused.stderr == ""
