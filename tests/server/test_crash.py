"""Killed in the middle: the database opens again, the log is whole, and no release is half there."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import httpx
import pytest

import manyveils as mv
from manyveils.server import catalogue, jobs
from manyveils.server.accounts import log_in
from manyveils.server.app import create_app
from manyveils.server.chain import entries
from manyveils.server.settings import Settings
from manyveils.server.verifying import verify_log

PASSWORD = "a long enough password"
POLICY = (
    b'[attributes.age]\nrole = "quasi"\n[attributes.illness]\nrole = "sensitive"\n[guarantee]\nk = 2\nl = 2\n'
)
ROWS = ("age,illness\n" + "".join(f"{20 + n % 5},ill{n % 4}\n" for n in range(40))).encode()
SERVER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher
    from manyveils.server import accounts, passwords
    from manyveils.server.app import create_app
    from manyveils.server.listening import listen, serve
    from manyveils.server.settings import Settings

    cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=1024, parallelism=1),))
    passwords.hasher = lambda: cheap
    settings = Settings(Path(sys.argv[1]), sys.argv[2] or None, port=0)
    with listen(settings) as (sockets, url):
        app = create_app(settings)
        accounts.add_owner(app.state.keeper, "owner", "a long enough password")
        print(url, flush=True)
        serve(app, sockets)
""")


def load(url, stop, listed):
    """Publish and list one release after the other, and ask questions, until the server is gone."""
    try:
        with httpx.Client(base_url=f"{url}/api/v1", timeout=10) as client:
            token = client.post("/token", json={"name": "owner", "password": PASSWORD}).json()["token"]
            client.headers["Authorization"] = f"Bearer {token}"
            while not stop.is_set():
                files = {"policy": ("p.toml", POLICY), "data": ("d.csv", ROWS)}
                client.post("/jobs", data={"title": "x"}, files=files)
                for job in client.get("/jobs").json():
                    if job["release"] and job["release"] not in listed:
                        client.patch(f"/releases/{job['release']}", json={"listed": True})
                        listed.add(job["release"])
    except (httpx.HTTPError, json.JSONDecodeError):
        return


def killed(folder, url, delay):
    """Start a server in a process of its own, load it, and kill it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder), url or ""], stdout=subprocess.PIPE, text=True
    )
    address = process.stdout.readline().strip()
    assert address.startswith("http"), "the server did not start"
    stop, listed = threading.Event(), set()
    threads = [threading.Thread(target=load, args=(address, stop, listed)) for _ in range(3)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 30
    while not listed and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    stop.set()
    for thread in threads:
        thread.join(timeout=20)
    return listed


@pytest.mark.parametrize(("kind", "delay"), [("sqlite", 0.1), ("postgresql", 0.3)])
def test_killed_under_load(request, tmp_path, kind, delay):
    """After kill -9 under load everything that was answered is there and whole, and the rest has failed."""
    url = None if kind == "sqlite" else request.getfixturevalue("postgresql")
    listed = killed(tmp_path / "server", url, delay)
    app = create_app(Settings(tmp_path / "server", url))
    keeper = app.state.keeper
    assert verify_log(keeper).whole
    owner = log_in(keeper, "owner", PASSWORD, "here")
    found = jobs.all_jobs(keeper, owner, most=10_000)
    assert {job.state for job in found} <= {"done", "failed"}
    items = {item.id: item for item in catalogue.items(keeper, owner)}
    assert {job.release for job in found if job.release} == set(items)
    assert listed
    assert {number for number in listed if items[number].listed} == listed
    places = {path.name for path in keeper.settings.releases.iterdir()}
    assert places == set(items)
    for number in list(items)[:5]:
        assert mv.Release.load(keeper.settings.releases / number).rows == 40
    said = [(entry.action, entry.subject) for entry in entries(keeper, owner, most=100_000)]
    assert {subject for action, subject in said if action == "list"} == {
        number for number, item in items.items() if item.listed
    }
    assert {path.name for path in keeper.settings.work.iterdir()} == {
        app.state.worker.instance.name,
        f"{app.state.worker.instance.name}.lock",
    }
    app.state.worker.stop()
    keeper.close()
