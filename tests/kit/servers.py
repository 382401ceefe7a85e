"""What tests of the upkeep of a server ask of it, before and after."""

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import create_engine

from manyveils.server.database import sqlite_url
from manyveils.server.interpretation import read_value
from manyveils.server.settings import Settings
from manyveils.server.verifying import check_at_start, verify_log

VERSIONS = Path(__file__).parents[1] / "server" / "versions"


def ask(keeper, person, release, code="CODE001"):
    """What a code means."""
    return read_value(keeper, person, release, "insurance", code).read


def settled(keeper):
    """Whether the log is whole, and nothing is to be told at a start."""
    verdict = verify_log(keeper)
    assert verdict.whole, verdict.reason
    assert check_at_start(keeper) is None
    return True


def killed(monkeypatch, place, call):
    """Do something in a process that is killed when it comes to a place of it."""
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(place, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        with suppress(BaseException):
            call()
        os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def killed_after(seconds, call):
    """Do something in a process that is killed after a while, if ever; gives whether it was killed."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            call()
            os._exit(0)
        os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), "it failed by itself"
    return status == signal.SIGKILL


def killed_at_random(seed, times, call, check):
    """Do something that is killed at a random moment, and check what is left; several times, with a new thing each.

    `call` gives what is to be done, and is done whole once, to see how long that takes.
    """
    began = time.monotonic()
    assert not killed_after(None, call())
    lasts = time.monotonic() - began
    check()
    moments = random.Random(seed)
    for _ in range(times):
        killed_after(moments.uniform(0, 1.2 * lasts), call())
        check()


def server_of_version_2(folder, url):
    """The settings of a server that version 2 made, with its key."""
    for name in ("", "releases", "work"):
        (folder / name).mkdir(mode=0o700)
    settings = Settings(folder, url)
    engine = create_engine(url or sqlite_url(settings.sqlite))
    kind = "postgresql" if url else "sqlite"
    with engine.begin() as connection:
        for statement in (VERSIONS / f"v2.{kind}.sql").read_text().split("\n;;\n"):
            connection.exec_driver_sql(statement)
    engine.dispose()
    shutil.copy(VERSIONS / "v2.key", folder / "server.key")
    (folder / "server.key").chmod(0o600)
    return settings
