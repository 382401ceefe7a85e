"""A cluster of processes, and executors that are killed: releases are those of one process, or absent."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import manyveils as mv
from manyveils.datasets import hospital

SCRIPT = Path(__file__).with_name("cluster.py")
STAGES = {
    "full-domain": ("reading", "deciding", "writing", "written"),
    "anatomize": ("reading", "deciding", "writing", "written", "auditing"),
    "slice": ("reading", "deciding", "making", "writing", "written", "auditing"),
}
EVERYWHERE = [f"{way}:{stage}" for way, stages in STAGES.items() for stage in stages]
QUICK = ["slice:written"]
every_stage = pytest.mark.skipif(
    not os.environ.get("MANYVEILS_TEST_CLUSTER"), reason="takes minutes: make test-spark-cluster"
)


@pytest.fixture(scope="module")
def cluster():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("manyveils_cluster", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables_of(release):
    """All cells of a release, in order, with the types of its columns."""
    return {name: (frame.schema, frame.rows()) for name, frame in release.frames.items()}


def check(asked, cluster, publish, folder, monkeypatch):
    """Publish on a cluster as asked; what appears is what one process makes, and keeps its promises."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *asked], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    for each, told in zip(asked, said, strict=True):
        way, _, stage = each.partition(":")
        assert told["killed"] == bool(stage), each
        out = folder / each.replace(":", "-")
        if told["refused"]:
            assert not out.exists()
            pytest.fail(f"{each}: {told['refused']}")
        with monkeypatch.context() as patched:
            for name, value in cluster.limits_of(way).items():
                patched.setenv(name, value)
            there = publish(
                hospital(n=cluster.N_ROWS), cluster.policy_of(way), 2, shuffled=5, seed=cluster.SEED
            )
        found = mv.Release.load(out)
        assert tables_of(found) == there.tables
        assert found.manifest == there.release.manifest
        assert mv.audit(found, hospital(n=cluster.N_ROWS), cluster.policy_of(way)).kept


def test_a_cluster_that_loses_an_executor(cluster, publish, tmp_path, monkeypatch):
    """An executor is lost that holds parts and has written some: the release is that of one process."""
    check(QUICK, cluster, publish, tmp_path, monkeypatch)


@every_stage
def test_every_stage_loses_an_executor(cluster, publish, tmp_path, monkeypatch):
    """Whatever is being done when an executor dies, and if none does, the release is that of one process."""
    check([*STAGES, *EVERYWHERE], cluster, publish, tmp_path, monkeypatch)
