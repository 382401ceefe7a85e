"""What tests of the upkeep of a server ask of it, before and after."""

import os
import signal
from contextlib import suppress

from manyveils.server.interpretation import read_value
from manyveils.server.verifying import check_at_start, verify_log


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
