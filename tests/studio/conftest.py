"""A studio in a process of its own, as somebody starts it, and tables to open in it."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from manyveils.datasets import write_hospital


@pytest.fixture
def table(tmp_path):
    """A csv by itself, in a folder where nothing else is."""
    write_hospital(tmp_path / "data", n=200)
    (tmp_path / "data" / "policy.toml").unlink()
    return tmp_path / "data" / "hospital.csv"


@contextmanager
def studio(*words):
    """A running studio: its process, and the address that it printed."""
    command = [sys.executable, "-c", "from manyveils.cli import main; main()", "studio", "--no-browser"]
    process = subprocess.Popen(
        [*command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield process, found.group()
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=40)
        finally:
            process.kill()
        assert "Traceback" not in said
