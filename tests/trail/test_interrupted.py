"""Interrupted in the middle: a release is there whole or not at all."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import manyveils as mv
from manyveils.release.preparing import MACHINE, clear_leftovers

SLOW = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    import polars as pl
    from manyveils.cli.app import app

    write, text = pl.DataFrame.write_csv, Path.write_text

    def slow(frame, path, **options):
        write(frame, path, **options)
        print("writing", flush=True)
        time.sleep(0.15)

    def slow_text(path, *arguments, **options):
        text(path, *arguments, **options)
        time.sleep(0.15)

    pl.DataFrame.write_csv, Path.write_text = slow, slow_text
    app(sys.argv[1:])
""")


def started(desk):
    """Start publishing in a slow process, and wait until it writes."""
    desk.policy(publish={"method": "separate"})
    words = ["publish", str(desk.folder / "policy.toml"), "--out", str(desk.out)]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n", process.communicate()[1]
    return process


def test_keyboard_interrupt(desk):
    """Ctrl-C while writing leaves nothing behind, says so, and is exit status 130."""
    before = desk.listing() | {"policy.toml": 0}
    process = started(desk)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Nothing was left behind." in said
    assert "Traceback" not in said
    assert set(desk.listing()) == set(before)


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6])
def test_killed(desk, delay):
    """Killed at any moment, the release folder is complete or is not there; what is left is hidden and another run works."""
    process = started(desk)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)
    left = {path for path in desk.folder.iterdir() if path.name.startswith(".")}
    visible = {path.name for path in desk.folder.iterdir() if not path.name.startswith(".")}
    assert visible <= {"people.csv", "policy.toml", "out", "out.private"}
    if desk.out.exists():
        assert mv.audit(desk.out, None, desk.folder / "policy.toml").kept
    assert desk.publish("--force").status == 0
    assert not any(path.name.startswith(".") for path in desk.folder.iterdir()), left


def test_living_run_keeps_its_folder(desk):
    """Another run to the same place clears nothing that a living process prepares; once that is killed, it does."""
    process = started(desk)
    hidden = {path.name for path in desk.folder.iterdir() if path.name.startswith(".out.")}
    assert hidden
    process.send_signal(signal.SIGSTOP)
    clear_leftovers(desk.out)
    clear_leftovers(desk.folder / "out.private")
    assert {path.name for path in desk.folder.iterdir() if path.name.startswith(".out.")} == hidden
    process.kill()
    process.communicate(timeout=60)
    clear_leftovers(desk.out)
    clear_leftovers(desk.folder / "out.private")
    assert not any(path.name.startswith(".out.") for path in desk.folder.iterdir())


def test_only_folders_of_that_name_are_cleared(desk):
    """Hidden folders of other names, of other machines and links stay as they are."""
    kept = [".out", ".out.old.abcdefgh", ".out.0.abcdefgh", f".other.{MACHINE}.abcdefgh", f".out.{MACHINE}.x"]
    for name in kept:
        (desk.folder / name).mkdir()
    (desk.folder / f".out.{MACHINE}.linked00").symlink_to(desk.folder / ".out")
    dead = desk.folder / f".out.{MACHINE}.abcdefgh"
    dead.mkdir()
    clear_leftovers(desk.out)
    assert not dead.exists()
    assert all((desk.folder / name).is_dir() for name in [*kept, f".out.{MACHINE}.linked00"])


def test_terminated(desk):
    """A polite request to end leaves nothing behind either."""
    before = set(desk.listing())
    process = started(desk)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert set(desk.listing()) == before


def test_interrupt_in_json(desk, monkeypatch):
    """With --json an interruption is told in JSON."""

    def interrupt(*arguments, **options):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    monkeypatch.setattr("manyveils.publishing.publish_to", interrupt)
    outcome = desk.publish("--json")
    assert outcome.status == 130
    assert outcome.document["error"] == "Interrupted"
