"""Interrupted, or left by Java: one message, no trace, no half release, no process that stays."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import pytest

from manyveils.errors import DataError, InputError
from manyveils.spark import session as sessions
from manyveils.spark import watching
from manyveils.spark.failures import told_plainly


class Speechless(Exception):
    """An error that asks Java for its words, as those of py4j do, when Java is gone."""

    def __str__(self):
        raise ConnectionRefusedError


@pytest.fixture
def java_error(monkeypatch):
    """An error of Java's that can no longer be read."""
    from py4j import protocol

    return type("Gone", (Speechless, protocol.Py4JError), {"__init__": lambda self: None})()


def test_java_is_gone(java_error):
    """A bridge that leads nowhere is told as such, and not as a folder that cannot be written."""
    for error in (ConnectionRefusedError(), ConnectionResetError(), java_error):
        with pytest.raises(DataError, match="its Java process is gone"), told_plainly():
            raise error


def test_complaints_that_follow_an_interrupt(java_error):
    """What fails because of Ctrl-C is Ctrl-C, even if cleaning up fails too."""

    def interrupted():
        try:
            raise KeyboardInterrupt
        finally:
            raise java_error

    with pytest.raises(KeyboardInterrupt), told_plainly():
        interrupted()


def test_the_bridge_says_nothing(caplog):
    """The bridge to Java writes no traces of its own while we work, and what others log is logged."""
    trace, yours = (
        logging.LogRecord("root", logging.ERROR, path, 1, "said", None, None)
        for path in ("/x/py4j/java_gateway.py", "/x/yours.py")
    )
    with told_plainly():
        logging.root.handle(trace)
        logging.root.handle(yours)
    logging.root.handle(trace)
    assert caplog.records == [yours, trace]


def test_progress_without_java(java_error, monkeypatch):
    """Whoever looks for progress when Java is gone says nothing of it."""
    said = []
    monkeypatch.setattr(watching, "SECONDS", 0.01)
    monkeypatch.setattr(watching, "_stages", Mock(side_effect=java_error))
    monkeypatch.setattr(threading, "excepthook", said.append)
    with watching.watched(Mock(), "reading", lambda *told: None):
        time.sleep(0.1)
    watching._stages.assert_called_once()
    assert said == []


def test_no_such_log_level(monkeypatch):
    """A log level that Spark does not know is refused by the variable's name, before Java starts."""
    monkeypatch.setenv(sessions.LOG, "loud")
    with pytest.raises(InputError, match=f"{sessions.LOG}: is no log level of Spark's. Set it to one of OFF"):
        sessions.log_level()


def test_a_stopped_session(spark, tmp_path, monkeypatch):
    """Data of a session that was stopped are refused with what to do."""
    from manyveils.spark.engine import _refuse_session

    monkeypatch.setattr(spark.sparkContext, "_jsc", None)
    with pytest.raises(InputError, match=r"their Spark session is stopped\. Read them again"):
        _refuse_session(spark)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_java_starts(desk, number):
    """A request to end that comes while Java starts is heeded when it runs, and leaves nothing."""
    words = ("publish", desk.folder / "policy.toml", "--out", desk.out, "--engine", "spark")
    process = subprocess.Popen(
        [sys.executable, "-c", "from manyveils.cli import main; main()", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not members(process.pid, "java") and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=100)
    assert (process.returncode, said) == (130, "Interrupted.\n  Nothing was left behind.\n")
    while members(process.pid, "java") and time.monotonic() < end:
        time.sleep(0.05)
    assert not members(process.pid, "java")
    assert not desk.out.exists()


def members(group, name):
    """The processes of a group that have a name."""
    listed = subprocess.run(["ps", "-eo", "pgid,comm"], capture_output=True, text=True).stdout.splitlines()
    return [line for line in listed if line.split() == [str(group), name]]
