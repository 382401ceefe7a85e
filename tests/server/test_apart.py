"""What is made to end its reader ends only the process that reads it, and every job is over some time."""

import io
import json
import threading
import time

import httpx
import polars as pl
import pytest
from sqlalchemy import update

from manyveils.errors import ManyveilsError
from manyveils.server import apart, instances, jobs, worker
from manyveils.server.refusals import Unavailable
from manyveils.server.schema import jobs as job_table
from manyveils.server.uploads import Upload
from manyveils.server.worker import STOPPED, Worker

POLICY = (
    '[attributes.age]\nrole = "quasi"\n[attributes.illness]\nrole = "sensitive"\n[guarantee]\nk = 2\nl = 2\n'
)
ROWS = "age,illness\n" + "".join(f"{20 + n % 4},ill{n % 3}\n" for n in range(24))


@pytest.fixture
def working(house):
    """A worker whose jobs may take 400 megabytes and twenty seconds."""
    object.__setattr__(house.keeper.settings, "job_memory", 400_000_000)
    object.__setattr__(house.keeper.settings, "job_seconds", 20.0)
    made = Worker(house.keeper)
    yield made
    made.stop()


def submit(made, house, *, policy=POLICY, data=ROWS, names=("policy.toml", "data.csv")):
    """Upload as the owner."""
    rules, rows = (io.BytesIO(text if isinstance(text, bytes) else text.encode()) for text in (policy, data))
    uploads = {"policy": Upload(names[0], rules), "data": Upload(names[1], rows)}
    return made.submit(house.owner, title="People", **uploads)


def over(house, job, seconds=40):
    """Wait for a job."""
    end = time.monotonic() + seconds
    while (state := jobs.job(house.keeper, house.owner, job.id)).state in ("queued", "running"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return state


def huge_parquet():
    """A small file that is 25 million rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    part = pa.table(
        {"age": pa.array([20] * 1_000_000), "illness": pa.array(["ill"] * 1_000_000).dictionary_encode()}
    )
    with pq.ParquetWriter(file, part.schema) as writer:
        for _ in range(25):
            writer.write_table(part)
    return file.getvalue()


def test_a_table_that_fills_the_memory(working, house):
    """A small file of very many rows fails its job with the limit, and the next job is done."""
    failed = over(house, submit(working, house, data=huge_parquet(), names=("p.toml", "d.parquet")))
    assert failed.state == "failed"
    assert "400 MB of memory" in failed.error
    assert over(house, submit(working, house)).state == "done"


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("p.toml", ".".join(["a"] * 20_000) + " = 1\n"),
        ("p.toml", "a = " + "[" * 100_000 + "]" * 100_000),
        ("p.json", "[" * 200_000 + "]" * 200_000),
        ("p.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    ],
)
def test_a_policy_that_fills_the_memory(working, house, monkeypatch, name, policy):
    """A policy that is nested without end is refused, and the server goes on."""
    monkeypatch.setattr(apart, "POLICY_MEMORY", 300_000_000)
    with pytest.raises(ManyveilsError):
        submit(working, house, policy=policy, names=(name, "data.csv"))
    assert list(working.instance.work.iterdir()) == []
    assert over(house, submit(working, house)).state == "done"


def test_the_rest_of_the_server_does_not_notice(door, house_of):
    """While a job fills its memory and while one is killed, pages and logins are served as ever."""
    object.__setattr__(door.house.keeper.settings, "job_memory", 400_000_000)
    slowest = 0.0
    with door.as_("owner") as client:
        files = {"policy": ("p.toml", POLICY.encode()), "data": ("d.parquet", huge_parquet())}
        job = client.post("/jobs", data={"title": "x"}, files=files).json()["id"]
        while client.get(f"/jobs/{job}").json()["state"] in ("queued", "running"):
            begun = time.monotonic()
            assert httpx.get(f"{door.url}/").status_code == 200
            slowest = max(slowest, time.monotonic() - begun)
        login = {"name": "owner", "password": "a long enough password"}
        assert client.post("/token", json=login).status_code == 201
    assert slowest < 5


def test_a_job_that_takes_too_long(working, house, monkeypatch):
    """A job is ended when its time is over."""
    object.__setattr__(house.keeper.settings, "job_seconds", 0.0)
    failed = over(house, submit(working, house))
    assert "took more than 0 seconds" in failed.error


def test_the_queue_is_bounded(working, house, monkeypatch):
    """When as many jobs wait as may, another upload is refused, and nothing of it is kept."""
    object.__setattr__(house.keeper.settings, "queue", 2)
    done = threading.Event()

    def slow(*arguments, progress, **options):
        while not done.wait(0.02):
            progress("search", 0.5)
        raise ManyveilsError("enough")

    monkeypatch.setattr(worker, "publish_apart", slow)
    begun = [submit(working, house) for _ in range(2)]
    with pytest.raises(Unavailable):
        submit(working, house)
    assert len(list(working.instance.work.iterdir())) == 2
    done.set()
    assert {over(house, job).error for job in begun} == {"enough"}


def test_a_name_that_no_database_takes(working, house):
    """A lone surrogate in a name of a JSON policy is refused, or fails the job; it never runs for ever."""
    document = json.dumps({"attributes": {"a\ud800": {"role": "quasi"}}, "guarantee": {"k": 2}})
    try:
        begun = submit(working, house, policy=document, names=("p.json", "d.csv"))
    except ManyveilsError:
        return
    assert over(house, begun).state == "failed"


def test_an_error_that_no_database_takes(working, house, monkeypatch):
    """An error whose words hold a lone surrogate or NUL fails its job all the same."""

    def fault(*arguments, **options):
        raise ManyveilsError("a name: \ud800 \x00")

    monkeypatch.setattr(worker, "publish_apart", fault)
    assert over(house, submit(working, house)).error == "a name: ? ?"


def test_a_database_that_was_away(working, house, monkeypatch):
    """A job that ends while the database is away is settled when it is back."""
    real, away = house.keeper.database.writing, threading.Event()

    def writing(*arguments, **options):
        if away.is_set():
            raise Unavailable.at("database", "is away.")
        return real(*arguments, **options)

    def fault(*arguments, **options):
        away.set()
        raise ManyveilsError("enough")

    monkeypatch.setattr(worker, "publish_apart", fault)
    monkeypatch.setattr(worker, "AGAIN", 0.05)
    monkeypatch.setattr(house.keeper.database, "writing", writing)
    begun = submit(working, house)
    time.sleep(0.3)
    assert jobs.job(house.keeper, house.owner, begun.id).state == "running"
    away.clear()
    assert over(house, begun, seconds=5).error == "enough"


def test_a_server_that_never_comes_back(working, house, monkeypatch):
    """A job of a server elsewhere that is silent is settled by any other; one whose server lives is left alone."""
    done = over(house, submit(working, house))
    now = house.keeper.now()
    silent = {
        "state": "running",
        "instance": "elsewhere",
        "beat": now - instances.SILENT + 30,
        "release_id": None,
    }
    with house.keeper.database.writing() as connection:
        connection.execute(update(job_table).values(silent))
    working._settle_dead()
    assert jobs.job(house.keeper, house.owner, done.id).state == "running"
    with house.keeper.database.writing() as connection:
        connection.execute(update(job_table).values(beat=now - instances.SILENT - 1))
    working._settle_dead()
    assert jobs.job(house.keeper, house.owner, done.id).error == STOPPED


def test_a_job_that_was_given_up(working, house, monkeypatch):
    """A job that others took for dead does not come back to life: its release is not entered."""
    real = worker.publish_apart

    def slow(*arguments, **options):
        made = real(*arguments, **options)
        with house.keeper.database.writing() as connection:
            connection.execute(update(job_table).values(state="failed", error=STOPPED))
        return made

    monkeypatch.setattr(worker, "publish_apart", slow)
    begun = submit(working, house)
    end = time.monotonic() + 20
    while list(working.instance.work.iterdir()) and time.monotonic() < end:
        time.sleep(0.02)
    assert over(house, begun).release is None
    working._pool.submit(lambda: None).result()
    assert list(house.keeper.settings.releases.iterdir()) == []


def test_a_heart_that_stumbles(working, house, monkeypatch):
    """A heartbeat that fails beats again, and says when a job's server was last alive."""
    monkeypatch.setattr(worker, "BEAT", 0.02)
    beats = []

    def beat():
        beats.append(1)
        if len(beats) == 1:
            raise Unavailable.at("database", "is away.")

    second = Worker(house.keeper)
    monkeypatch.setattr(second, "_beat", beat)
    end = time.monotonic() + 15
    while len(beats) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    second.stop()
    assert len(beats) >= 3


def test_tables_are_read_there(working, house, tmp_path):
    """Parquet is read in the process apart too."""
    pl.read_csv(io.StringIO(ROWS)).write_parquet(tmp_path / "rows.parquet")
    data = (tmp_path / "rows.parquet").read_bytes()
    assert over(house, submit(working, house, data=data, names=("p.toml", "d.parquet"))).state == "done"
