"""Spark Connect: the driver is on a server, and nothing of Java is at hand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from socket import socket

import pytest

import manyveils as mv
from manyveils.datasets import hospital
from manyveils.spark.session import refuse_silence
from tests.spark.conftest import IS_THOROUGH
from tests.spark.connect import LIMITS, WAYS, policy_of


@pytest.mark.skipif(not IS_THOROUGH, reason="starts a server, and takes a minute or more: make test-spark")
def test_a_server_publishes(tmp_path):
    """Rows that are brought, counted or judged by a server come out as releases that the local engine finds kept."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MANYVEILS_")}
    script = Path(__file__).with_name("connect.py")
    words = [sys.executable, str(script), str(tmp_path)]
    root = {"PYTHONPATH": str(script.parents[2])}
    done = subprocess.run(words, env=environment | root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    said = [json.loads(line[line.index("{") :]) for line in done.stdout.splitlines() if "{" in line]
    assert len(said) == len(WAYS) * len(LIMITS) - 1
    frame = hospital(n=300)
    for told in said:
        assert told["kept"]
        assert told["audited"]
        assert told["type"] == "pyspark.sql.connect.dataframe"
        release = mv.Release.load(tmp_path / f"{told['way']}-{told['limits']}")
        assert told["rows"] == release.manifest.views[0].rows
        assert mv.audit(release, frame, policy_of(told["way"])).kept


def test_no_server():
    """An address at which no server answers is refused at once."""
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for address in (f"127.0.0.1:{taken.getsockname()[1]}", "127.0.0.1:99999", ""):
            with pytest.raises(mv.InputError, match="no server of Spark Connect that answers"):
                refuse_silence(f"sc://{address}/;use_ssl=true")
