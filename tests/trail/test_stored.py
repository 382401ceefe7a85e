"""Tables in object storage are read from there, at once and batch by batch.

The store is a server of moto, in an environment of its own: `make test-storage`.
"""

import os
import socket
import subprocess
import time
from urllib.error import URLError
from urllib.request import Request, urlopen

import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy

KEY, SECONDS = "of-the-test", 60
MOTO = os.environ.get("MANYVEILS_TEST_STORAGE", "")
pytestmark = pytest.mark.skipif(not MOTO, reason="needs a store: make test-storage")


@pytest.fixture(scope="module")
def bucket():
    """The address of a bucket of a store on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
    words = [MOTO, "-m", "moto.server", "-H", "127.0.0.1", "-p", endpoint.rpartition(":")[2]]
    with (
        pytest.MonkeyPatch.context() as patched,
        subprocess.Popen(words, stderr=subprocess.DEVNULL) as server,
    ):
        patched.setenv("AWS_ENDPOINT_URL", endpoint)
        patched.setenv("AWS_ALLOW_HTTP", "true")
        patched.setenv("AWS_REGION", "us-east-1")
        patched.setenv("AWS_ACCESS_KEY_ID", KEY)
        patched.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        try:
            made(f"{endpoint}/people", server)
            yield "s3://people"
        finally:
            server.terminate()


def made(address, server):
    """Make a bucket, once the server answers."""
    begun = time.monotonic()
    while True:
        try:
            urlopen(Request(address, method="PUT")).close()
            return
        except URLError:
            assert server.poll() is None
            assert time.monotonic() - begun < SECONDS
            time.sleep(0.2)


def contents(folder):
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_the_same_release(bucket, tmp_path, memory, ending):
    """What is published of a table there is what is published of the same table here, and it is judged beside it."""
    people, policy = hospital(n=300), hospital_policy()
    address = f"{bucket}/hospital.{ending}"
    people.write_parquet(address) if ending == "parquet" else people.lazy().sink_ipc(address)
    folders = [tmp_path / "there", tmp_path / "here"]
    for data, folder in zip((address, people), folders, strict=True):
        mv.publish(data, policy, seed=1, memory=memory).save(folder)
    assert contents(folders[0]) == contents(folders[1])
    assert mv.audit(folders[0], address, policy, memory=memory).kept


def test_in_the_policy(bucket, desk):
    """The policy may name the address, and the command line too."""
    people = pl.read_csv(desk.folder / "people.csv", infer_schema=False)
    people.write_parquet(f"{bucket}/desk.parquet")
    desk.policy(data={"source": f"{bucket}/desk.parquet"})
    assert desk.publish().status == 0
    assert desk.run("audit", desk.out, "--policy", desk.folder / "policy.toml").status == 0


@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
def test_what_is_not_there(bucket, desk, memory):
    """An object that is missing, or damaged, is refused with what to look at, and nothing is left."""
    before = set(desk.listing())
    missing = desk.publish("--data", f"{bucket}/nobody.parquet", *memory)
    assert (missing.status, "AWS_ENDPOINT_URL" in missing.stderr) == (2, True)
    assert KEY not in missing.stderr
    endpoint = f"{bucket}/people.csv"
    told = desk.publish("--data", endpoint, *memory)
    assert (told.status, "only parquet and arrow files" in told.stderr) == (2, True)
    assert set(desk.listing()) == before
