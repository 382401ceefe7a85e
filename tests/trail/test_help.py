"""Help: every command explains itself with an example."""

import subprocess
import sys
from pathlib import Path

import pytest

from manyveils import __version__
from manyveils.cli.app import COMMANDS


def test_help(desk):
    """The help lists every command."""
    outcome = desk.run("--help")
    assert outcome.status == 0
    assert all(name in outcome.stdout for name in COMMANDS)


def test_no_arguments(desk):
    """Without arguments there is help, and no traceback."""
    outcome = desk.run()
    assert "Usage" in outcome.said
    assert "Traceback" not in outcome.said


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_commands(desk, name):
    """Each command's help shows an example of its use, and --json."""
    outcome = desk.run(name, "--help")
    assert outcome.status == 0
    assert f"Example: manyveils {name}" in " ".join(outcome.stdout.split())
    assert "--json" in outcome.stdout


def test_version(desk):
    """The version is the package's."""
    assert desk.run("--version").stdout.strip() == f"manyveils {__version__}"


def test_as_a_module(tmp_path):
    """The installed command runs in a process of its own."""
    command = Path(sys.executable).with_name("manyveils")
    done = subprocess.run([command, "--help"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0
    assert "Usage" in done.stdout
