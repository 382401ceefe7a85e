"""Killed before any act on files or after any time, by each writer: the release is the old one, the new one, or not there."""

import os
import shutil
import time
from pathlib import Path
from random import Random

import pytest

import manyveils as mv
from manyveils.ledgers import chain_of
from tests.faults.publishing import WRITERS, Acts, Scene

# `make kills` asks for more.
N_MOMENTS, SEED = int(os.environ.get("KILLS", "7")), int(os.environ.get("SEED", "1"))
USUAL = {"audit.json", "plan.json", "seed.json", "release.sha256", "placements.parquet", "ledger.zip"}


@pytest.mark.parametrize("writer", WRITERS)
def test_killed_at_any_moment(writer: str, tmp_path: Path) -> None:
    """What is there is whole, and the same run again clears everything and publishes what it would have."""
    rng, n_killed = Random(f"{SEED}/{writer}"), 0
    whole = Scene(tmp_path, writer)
    whole.set_up()
    before = whole.contents() if whole.out.exists() else None
    shutil.copytree(tmp_path, held_before := tmp_path.parent / f"{tmp_path.name}-before")
    started, acts = time.monotonic(), Acts(tmp_path)
    whole.publish()
    n_acts, seconds, after = acts.n_acts, time.monotonic() - started, whole.contents()
    for number in range(-(-N_MOMENTS // len(WRITERS))):
        scene = Scene(tmp_path / str(number), writer)
        shutil.copytree(held_before, scene.folder)
        n_killed += scene.killed(rng, n_acts, seconds)
        held = scene.contents() if scene.out.exists() else None
        assert held in (before, after)
        earlier = [scene.folder / name for name in scene.order["after"]]
        if held is not None and scene.order["policy"]["data"]:
            chain_of([*earlier, scene.out])
        if held is None and not (scene.folder / "out.private").exists():
            scene.publish()
        else:
            scene.publish(force=True)
        assert not scene.hidden()
        assert scene.contents() == after
        assert {path.name for path in (scene.folder / "out.private").iterdir()} <= USUAL
        data = scene.folder / "data.csv"
        assert mv.audit(scene.out, data, mv.Policy(**scene.order["policy"]), after=earlier).kept
    assert n_killed or N_MOMENTS < 50
