"""Two publishers onto one folder, and clocks that jump: what is there belongs together, and nothing is left behind."""

import os
import time
from pathlib import Path
from threading import Barrier, Thread

import pytest

from manyveils.errors import InputError
from manyveils.release import folder as folders
from manyveils.release.ledger import appearing
from manyveils.release.preparing import prepared


def put(folder: Path, private: Path, mark: str) -> None:
    """Write something that is told from the others'."""
    (folder / "release.json").write_text(mark)
    (private / "audit.json").write_text(mark)


@pytest.mark.parametrize("force", [False, True])
def test_two_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool) -> None:
    """Both are ready at the same time; the release and the private folder that stay are of one of them."""
    out, private, ready, said = tmp_path / "out", tmp_path / "out.private", Barrier(2), list[str]()
    move, delays = folders._move, iter((0.6, 0.0))

    def slowly(folder: Path, target: Path, *, force: bool) -> None:
        # Whoever comes first waits long enough for the other one to slip in between the two moves.
        if target == out:
            time.sleep(next(delays))
        move(folder, target, force=force)

    monkeypatch.setattr(folders, "_move", slowly)

    def publish(mark: str) -> None:
        try:
            with appearing(out, private, force=force) as (folder, aside):
                assert aside is not None
                put(folder, aside, mark)
                ready.wait(10)
        except InputError as error:
            said.append(str(error))

    publishers = [Thread(target=publish, args=(mark,)) for mark in ("one", "two")]
    for publisher in publishers:
        publisher.start()
    for publisher in publishers:
        publisher.join()
    assert (out / "release.json").read_text() == (private / "audit.json").read_text()
    assert not list(tmp_path.glob(".*"))
    assert len(said) == (0 if force else 1)
    assert all("is there already" in one for one in said)


@pytest.mark.parametrize("jump", [-(10**9), 10**9])
def test_clocks_that_jump(tmp_path: Path, jump: int) -> None:
    """What a dead process left goes and what a living one prepares stays, however old both look."""
    out, moment = tmp_path / "out", time.time() + jump
    dead, lock = prepared(out)
    assert lock is not None
    os.close(lock)
    living, held = prepared(out)
    for folder in (dead, living):
        os.utime(folder, (moment, moment))
    with folders.staged(out) as folder:
        (folder / "release.json").write_text("one")
    assert {path.name for path in tmp_path.iterdir()} == {"out", living.name}
    assert held is not None
    os.close(held)
