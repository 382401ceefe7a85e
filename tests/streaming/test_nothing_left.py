"""Interrupted, killed, on a full disk or with a torn file: nothing is left, and what cannot be done is said."""

import errno
import signal
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.streaming.engine import Job
from manyveils.streaming.room import Room, read_size
from manyveils.streaming.rows import Writing

SLOW = textwrap.dedent("""
    import sys, time
    from manyveils.cli.app import app
    from manyveils.streaming.rows import Writing

    add = Writing.add

    def slow(writing, batch, n_rows):
        add(writing, batch, n_rows)
        print("reading", flush=True)
        time.sleep(2)

    Writing.add = slow
    app(sys.argv[1:])
""")


def started(desk):
    """Start publishing in so much memory in a slow process, and wait until rows are on the disk."""
    words = ["publish", str(desk.folder / "policy.toml"), "--out", str(desk.out), "--memory", "1GB"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n", process.communicate()[1]
    return process


def test_interrupted(desk):
    """Ctrl-C while rows are on the disk leaves nothing."""
    before = set(desk.listing())
    process = started(desk)
    assert list(desk.folder.glob(".out.private.*/rows/codes/*"))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert set(desk.listing()) == before


def test_killed(desk):
    """What a killed process left is hidden, and cleared by the next run to the same place."""
    process = started(desk)
    process.kill()
    process.communicate(timeout=60)
    assert {path.name for path in desk.folder.iterdir() if not path.name.startswith(".")} == {
        "people.csv",
        "policy.toml",
    }
    assert desk.publish("--memory", "1GB").status == 0
    assert not [path.name for path in desk.folder.iterdir() if path.name.startswith(".")]


def test_full_disk(desk, monkeypatch):
    """Where the disk is full, that is said, and nothing is left."""
    before = set(desk.listing())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Writing, "add", full)
    result = desk.publish("--memory", "1GB")
    assert result.status == 2
    assert "No space left on device" in result.stderr
    assert set(desk.listing()) == before


def test_torn_in_the_middle(tmp_path):
    """A file whose later batches are damaged is refused without a cell, and nothing is left."""
    numbers = np.random.default_rng(1).integers(0, 5000, 60_000)
    frame = pl.DataFrame({"town": ["secret town"] * 60_000, "ill": [f"ill {number}" for number in numbers]})
    frame.write_parquet(tmp_path / "table.parquet", row_group_size=20_000)
    content = bytearray((tmp_path / "table.parquet").read_bytes())
    third = len(content) // 3
    content[third : 2 * third] = b"\xff" * third
    (tmp_path / "table.parquet").write_bytes(content)
    policy = {
        "attributes": {"town": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "guarantee": {"k": 2},
    }
    with pytest.raises(mv.DataError, match="is damaged") as caught:
        mv.publish(tmp_path / "table.parquet", policy, memory=Room(10**9, batch_rows=9_000))
    assert "secret" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("8 cows", "is not a size"), ("-1GB", "is not a size"), ("5MB", "Give 600 MB or more")],
)
def test_sizes(desk, asked, said):
    """What is no size, and what is too small for anything, is refused before the data are read."""
    result = desk.publish(f"--memory={asked}")
    assert result.status == 2
    assert said in result.stderr


def test_sizes_are_read():
    """Sizes are written as usual."""
    assert [read_size(size).n_bytes for size in ("8GB", "8 gb", "1.5G", "2GiB", 700_000_000)] == [
        8 * 10**9,
        8 * 10**9,
        15 * 10**8,
        2**31,
        7 * 10**8,
    ]


def test_too_many_combinations(tmp_path):
    """Counts that do not fit are refused, with how many there may be and what to do."""
    data = pl.DataFrame({"a": np.arange(400), "b": np.arange(400) % 7, "ill": ["flu", "cold"] * 200})
    policy = {
        "attributes": {
            "a": {"role": "quasi", "hierarchy": {"widths": [100]}},
            "b": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "guarantee": {"k": 2},
    }
    fitting = Room.most_cells
    Room.most_cells = property(lambda _: 900)
    try:
        with pytest.raises(mv.InfeasibleError, match=r"more than 300 combinations of a, b.*Give more memory"):
            mv.publish(data, policy, memory="1GB")
    finally:
        Room.most_cells = fitting


def test_methods_that_need_rows(desk, monkeypatch):
    """A method that needs all rows says how much memory they would take."""
    monkeypatch.setattr(Job, "_fits", lambda _: False)
    desk.policy(publish={"method": "multi-sa"})
    result = desk.publish("--memory", "1GB")
    assert result.status == 1
    assert "needs all rows in memory, some 0.4 GB" in result.stderr
    assert not desk.out.exists()


def test_what_does_not_go_together(desk):
    """Earlier releases and Spark have no such limit."""
    assert "is for the local engine" in desk.publish("--memory", "1GB", "--engine", "spark").stderr
