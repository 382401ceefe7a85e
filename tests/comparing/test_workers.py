"""Parallel processes: one that dies is told of, an interruption leaves none."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import manyveils as mv
from manyveils.comparing.configurations import Configuration, configurations
from manyveils.comparing.trial import Task
from manyveils.comparing.workers import THREADS, try_all


class Bomb:
    """Ends the process that receives it."""

    def __reduce__(self):
        return os._exit, (3,)


def silent(stage, share):
    """Report nothing."""


def test_a_dead_worker_takes_one_configuration():
    """A process that dies is told of its own configuration only; the others come out, in order."""
    policy = mv.datasets.hospital_policy(publish={"method": "separate"})
    good = configurations(policy, ["separate", "anatomize"], ())
    bomb = Configuration("bomb", {"method": Bomb()}, {})
    seen = []
    found = try_all(
        Task(policy, mv.datasets.hospital(200), seed=1),
        [bomb, *good, bomb],
        workers=2,
        progress=lambda stage, share: seen.append(share),
    )
    assert [each.name for each in found] == ["bomb", "separate", "anatomize", "bomb"]
    assert [each.published for each in found] == [False, True, True, False]
    assert "exit code 3" in found[0].refusal
    assert seen == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert not [name for name in THREADS if name in os.environ]


def test_processes_that_never_begin():
    """If processes cannot even start there is an error that says what to do, and no waiting."""
    policy = mv.datasets.hospital_policy(publish={"method": "separate"})
    ways = configurations(policy, ["separate", "anatomize"], ())
    with pytest.raises(mv.InputError, match="__main__"):
        try_all(Task(policy, Bomb()), ways, workers=2, progress=silent)


def children(pid):
    """The processes that the threads of a process have started."""
    try:
        listed = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except FileNotFoundError:
        return []
    return [int(child) for text in listed for child in text.split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc to see processes in")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing(hospital, sign):
    """Ctrl-C, or a request to end, ends all processes with status 130, and nothing is written."""
    before = set(hospital.listing())
    words = ["compare", "policy.toml", "--out", "cmp", "--workers", "2", "--attacks", "all"]
    command = [sys.executable, "-c", "from manyveils.cli import main; main()", *words]
    process = subprocess.Popen(
        command, cwd=hospital.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while len(workers := children(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    # Two processes and, on some systems, one that tracks what they share.
    assert len(workers) >= 2
    time.sleep(1)
    process.send_signal(sign)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Nothing was left behind." in said
    assert "Traceback" not in said
    assert set(hospital.listing()) == before
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
