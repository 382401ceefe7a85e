"""Publishing on the server: uploads that are sound become releases nobody sees until they are listed."""

import io
import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

import manyveils as mv
from manyveils.datasets import write_hospital
from manyveils.errors import InputError, PolicyError
from manyveils.server import catalogue, jobs
from manyveils.server import worker as working
from manyveils.server.refusals import Conflict, Forbidden, Missing, TooLarge
from manyveils.server.uploads import Upload
from manyveils.server.worker import CANCELLED, STOPPED, Worker

POLICY = """
[data]
source = "/etc/passwd"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi"

[attributes.illness]
role = "sensitive"

[guarantee]
k = 2
l = 2
"""
ROWS = "name,age,illness\n" + "".join(f"Zq7name{n},{20 + n % 4},Zq7ill{n % 3}\n" for n in range(24))


@pytest.fixture
def worker(house):
    """A worker of the server."""
    made = Worker(house.keeper)
    yield made
    made.stop()


def submit(worker, house, *, policy=POLICY, data=ROWS, names=("policy.toml", "data.csv"), **more):
    """Upload as the owner."""
    rules, rows = (io.BytesIO(each if isinstance(each, bytes) else each.encode()) for each in (policy, data))
    options = {"title": "People", "policy": Upload(names[0], rules), "data": Upload(names[1], rows)} | more
    return worker.submit(house.owner, **options)


def over(worker, house, job):
    """Wait for a job."""
    end = time.monotonic() + 60
    while (found := jobs.job(house.keeper, house.owner, job.id)).state in ("queued", "running"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def leftovers(house):
    """Files in the server's folder that hold a cell of the data."""
    places = [path for path in house.keeper.settings.work.rglob("*") if path.is_file()]
    return [path for path in places if b"Zq7name" in path.read_bytes()]


def test_publishing(worker, house):
    """A job makes a release with its audit, not listed; listing it is a step of its own, and nothing is left over."""
    done = over(worker, house, submit(worker, house))
    assert (done.state, done.share, done.error) == ("done", 1.0, None)
    assert done.audit["kept"]
    assert catalogue.items(house.keeper) == catalogue.items(house.keeper, house.researcher) == []
    with pytest.raises(Missing):
        catalogue.item(house.keeper, None, done.release)
    assert [item.id for item in catalogue.items(house.keeper, house.owner)] == [done.release]
    catalogue.set_listed(house.keeper, house.owner, done.release, listed=True)
    listed = catalogue.item(house.keeper, None, done.release)
    assert listed.files == ("release.json", "tables/main.csv")
    folder = catalogue.file_of(house.keeper, None, done.release, "release.json").parent
    assert mv.Release.load(folder).rows == 24
    assert leftovers(house) == []
    assert [entry.action for entry in house.log()][-3:] == ["queue job", "publish", "list"]


def test_parquet_and_json(worker, house, tmp_path):
    """Policies may be JSON, tables may come and go as Parquet."""
    import tomllib

    import polars as pl

    pl.read_csv(io.StringIO(ROWS)).write_parquet(tmp_path / "rows.parquet")
    document = json.dumps(tomllib.loads(POLICY))
    data = (tmp_path / "rows.parquet").read_bytes()
    begun = submit(worker, house, policy=document, data=data, names=("p.json", "d.parquet"), format="parquet")
    done = over(worker, house, begun)
    assert done.state == "done", done.error
    files = catalogue.item(house.keeper, house.owner, done.release).files
    assert "tables/main.parquet" in files


def test_roles_that_make_a_promise_void(worker, house):
    """A job under a policy that lint doubts fails with the findings and no cell; what is accepted stands in its audit."""
    neutral = POLICY.replace('role = "identifier"', 'role = "neutral"')
    failed = over(worker, house, submit(worker, house, policy=neutral))
    assert failed.state == "failed"
    assert "attributes.name: it is published as it is, and 24 of 24 persons are the only ones" in failed.error
    assert "Zq7" not in failed.error
    done = over(worker, house, submit(worker, house, policy=f'accept = ["neutral-unique: name"]\n{neutral}'))
    assert done.state == "done", done.error
    assert [doubt["code"] for doubt in done.audit["accepted"]] == ["neutral-unique: name"]


def test_what_was_not_promised_stands_above_the_list(worker, house):
    """The audit of a job says what those who know more learn, before the release is listed."""
    rows = "age,illness,drug\n" + "".join(f"{20 + n % 4},ill{n % 3},drug{n % 3}\n" for n in range(24))
    policy = "".join(
        f'[attributes.{name}]\nrole = "{role}"\n'
        for name, role in (("age", "quasi"), ("illness", "sensitive"), ("drug", "sensitive"))
    )
    done = over(
        worker, house, submit(worker, house, policy=f"{policy}[guarantee]\nk = 2\nl = 2\n", data=rows)
    )
    assert done.state == "done", done.error
    assert {told["about"] for told in done.audit["not_promised"]} == {"illness", "drug"}


def test_a_promise_that_cannot_be_kept(worker, house):
    """A job that cannot keep its promise fails with the reason, which quotes no cell and no path; no release is left."""
    failed = over(
        worker,
        house,
        submit(worker, house, policy=POLICY.replace("l = 2", "l = 4").replace("k = 2", "k = 4")),
    )
    assert failed.state == "failed"
    assert "4" in failed.error
    assert "Zq7" not in failed.error
    assert str(house.keeper.settings.folder) not in failed.error
    assert failed.release is None
    assert list(house.keeper.settings.releases.iterdir()) == []
    assert leftovers(house) == []


def test_data_are_gone_when_a_job_is_over(worker, house, monkeypatch):
    """Before a job is said to be done, or to have failed, no cell of the data is left in the server's folder."""
    seen, fail, enter = [], worker._settle, working.enter

    def watched(ending):
        return lambda *arguments: (seen.append(leftovers(house)), ending(*arguments))[1]

    monkeypatch.setattr(worker, "_settle", watched(fail))
    monkeypatch.setattr(working, "enter", watched(enter))
    assert over(worker, house, submit(worker, house)).state == "done"
    too_much = POLICY.replace("l = 2", "l = 4").replace("k = 2", "k = 4")
    assert over(worker, house, submit(worker, house, policy=too_much)).state == "failed"
    assert seen == [[], []]


def test_data_that_do_not_fit(worker, house):
    """Data that do not fit their policy fail the job, without a cell or a path of the server in the message."""
    failed = over(worker, house, submit(worker, house, data="name,age\nZq7name,3\n"))
    assert failed.state == "failed"
    assert "illness" in failed.error
    assert "Zq7" not in failed.error
    assert str(house.keeper.settings.folder) not in failed.error


def test_a_fault_tells_nothing(worker, house, monkeypatch):
    """Something unforeseen fails the job with its place alone."""

    def fault(*arguments, **options):
        raise RuntimeError("Zq7 cell")

    monkeypatch.setattr(working, "publish_apart", fault)
    failed = over(worker, house, submit(worker, house))
    assert failed.state == "failed"
    assert "RuntimeError" in failed.error
    assert "Zq7" not in failed.error


def test_a_release_that_cannot_be_entered(worker, house, monkeypatch):
    """A release in place that the catalogue does not take is removed, with the data, and the job has failed."""

    def fault(*arguments):
        raise RuntimeError("no room")

    monkeypatch.setattr(working, "enter", fault)
    assert over(worker, house, submit(worker, house)).state == "failed"
    assert list(house.keeper.settings.releases.iterdir()) == []
    assert leftovers(house) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"policy": POLICY + '[attributes.job]\nrole = "quasi"\nhierarchy = { file = "/etc/passwd" }\n'},
            PolicyError,
        ),
        ({"policy": POLICY + '[population]\nsource = "/etc/passwd"\n'}, PolicyError),
        ({"policy": POLICY.replace('role = "quasi"', 'role = "nonsense"')}, PolicyError),
        ({"policy": POLICY + '[publish]\nmethod = "nonsense"\n'}, PolicyError),
        ({"policy": b"\xff\xfe"}, PolicyError),
        ({"policy": ""}, InputError),
        ({"data": ""}, InputError),
        ({"names": ("policy.exe", "data.csv")}, InputError),
        ({"names": ("policy.toml", "../../data.csv/..")}, InputError),
        ({"title": " "}, InputError),
        ({"format": "xlsx"}, InputError),
    ],
)
def test_unfit_uploads(worker, house, change, error):
    """A wrong policy, a policy that names files, and files that are none of ours are refused at once; nothing is kept."""
    with pytest.raises(error) as refusal:
        submit(worker, house, **change)
    assert str(house.keeper.settings.folder) not in str(refusal.value)
    assert "root:" not in str(refusal.value)
    assert list(worker.instance.work.iterdir()) == []
    assert jobs.all_jobs(house.keeper, house.owner) == []


def test_names_of_uploads_are_not_used(worker, house):
    """Of an upload's name only its ending counts."""
    begun = submit(worker, house, names=("../../../evil.toml", "/tmp/evil\x00.csv"))
    assert over(worker, house, begun).state == "done"


def test_uploads_have_a_limit(house, worker):
    """Data above the limit are refused, and nothing of them is kept."""
    object.__setattr__(house.keeper.settings, "upload_limit", 100)
    with pytest.raises(TooLarge):
        submit(worker, house)
    assert list(worker.instance.work.iterdir()) == []


def test_only_owners_publish(worker, house):
    """Researchers and auditors neither publish nor see jobs nor list releases."""
    done = over(worker, house, submit(worker, house))
    for person in (house.researcher, house.auditor):
        for call in (
            lambda who: worker.submit(who, title="x", policy=None, data=None),
            lambda who: jobs.all_jobs(house.keeper, who),
            lambda who: jobs.job(house.keeper, who, done.id),
            lambda who: catalogue.set_listed(house.keeper, who, done.release, listed=True),
        ):
            with pytest.raises(Forbidden):
                call(person)


def test_progress_is_noted(worker, house, monkeypatch):
    """A running job tells its stage and share."""
    seen = []

    def slow(*arguments, progress, **options):
        progress("search", 0.25)
        seen.append(jobs.all_jobs(house.keeper, house.owner)[0])
        raise InputError("enough")

    monkeypatch.setattr(working, "publish_apart", slow)
    over(worker, house, submit(worker, house))
    assert (seen[0].state, seen[0].stage, seen[0].share) == ("running", "search", 0.25)


def test_a_job_is_cancelled(worker, house, monkeypatch):
    """A job that is cancelled ends at once, and one that is over cannot be."""

    def endless(*arguments, progress, **options):
        while True:
            progress("search", 0.5)
            time.sleep(0.01)

    monkeypatch.setattr(working, "publish_apart", endless)
    begun = submit(worker, house)
    jobs.cancel(house.keeper, house.owner, begun.id)
    assert over(worker, house, begun).error == CANCELLED
    with pytest.raises(Conflict):
        jobs.cancel(house.keeper, house.owner, begun.id)


def test_panics(worker, house, monkeypatch):
    """A job that a library's panic ends has failed, its upload is gone, and the next one is done."""
    import polars as pl

    def panic(*arguments, **options):
        raise pl.exceptions.PanicException("Zq7name in a message")

    with monkeypatch.context() as patched:
        patched.setattr(working, "publish_apart", panic)
        failed = over(worker, house, submit(worker, house))
    assert failed.state == "failed"
    assert "PanicException" in failed.error
    assert "Zq7name" not in failed.error
    assert list(worker.instance.work.iterdir()) == []
    assert over(worker, house, submit(worker, house)).state == "done"


def test_servers_that_begin_at_once_do_not_bury_each_other(house):
    """Of many servers that begin on one folder at once each keeps its lock and its folder for work."""
    with ThreadPoolExecutor(8) as pool:
        workers = list(pool.map(lambda _: Worker(house.keeper), range(8)))
    assert all(worker.instance.work.is_dir() for worker in workers)
    assert len(list(house.keeper.settings.work.glob("*.lock"))) == 8
    for worker in workers:
        worker.stop()
    assert list(house.keeper.settings.work.iterdir()) == []


def test_stopping(house, monkeypatch):
    """A server that stops ends its job at the next step and marks it failed, and those that wait."""
    worker = Worker(house.keeper)

    def endless(*arguments, progress, **options):
        while True:
            progress("search", 0.5)
            time.sleep(0.01)

    monkeypatch.setattr(working, "publish_apart", endless)
    begun = [submit(worker, house) for _ in range(3)]
    worker.stop()
    found = [jobs.job(house.keeper, house.owner, job.id) for job in begun]
    assert [(job.state, job.error) for job in found] == [("failed", STOPPED)] * 3
    assert list(house.keeper.settings.work.iterdir()) == []


@pytest.mark.parametrize("uploads", [True, False])
def test_what_a_dead_server_left(house, worker, hand_made, uploads):
    """At the next start a dead server's jobs have failed, its uploads are gone, and so are releases no row names.

    Uploads are removed before a release is entered, so that a server may die with neither.
    """
    done = over(worker, house, submit(worker, house))
    settings = house.keeper.settings
    dead = settings.work / "dead"
    dead.mkdir()
    for number in ("0" * 16, done.id) if uploads else ():
        (dead / number).mkdir()
        (dead / number / "data.csv").write_text(ROWS)
    (settings.work / "dead.lock").touch()
    shutil.copytree(hand_made, settings.releases / ("0" * 16))
    with house.keeper.database.writing() as connection:
        copied = (
            "title, format, 'dead', asked_by, 'running', stage, share, created, beat, cancelled FROM jobs"
        )
        columns = "id, title, format, instance, asked_by, state, stage, share, created, beat, cancelled"
        connection.execute(text(f"INSERT INTO jobs ({columns}) SELECT '{'0' * 16}', {copied}"))
    second = Worker(house.keeper)
    assert jobs.job(house.keeper, house.owner, "0" * 16).error == STOPPED
    assert not dead.exists()
    assert [path.name for path in settings.releases.iterdir()] == [done.release]
    assert worker.instance.work.exists()
    second.stop()


def test_a_living_server_is_left_alone(house, worker, monkeypatch):
    """Another server that starts on the same folder does not touch the jobs of one that lives."""
    waiting = []

    def slow(*arguments, progress, **options):
        while not waiting:
            progress("search", 0.5)
            time.sleep(0.01)
        raise InputError("enough")

    monkeypatch.setattr(working, "publish_apart", slow)
    begun = submit(worker, house)
    second = Worker(house.keeper)
    assert jobs.job(house.keeper, house.owner, begun.id).state in ("queued", "running")
    waiting.append(True)
    assert over(worker, house, begun).error == "enough"
    second.stop()


def test_the_hospital_with_secret_codes(worker, house, tmp_path):
    """A release whose method makes a key can be interpreted as soon as it is granted; its key is on no disk in the clear."""
    from manyveils.server.demo import _graded
    from manyveils.server.interpretation import read_value

    rows = (write_hospital(tmp_path / "hospital", n=200).parent / "hospital.csv").read_bytes()
    begun = submit(worker, house, policy=json.dumps(_graded()), data=rows, names=("policy.json", "data.csv"))
    done = over(worker, house, begun)
    assert done.state == "done", done.error
    item = catalogue.item(house.keeper, house.owner, done.release)
    assert item.has_key
    frame = next(iter(mv.Release.load(house.keeper.settings.releases / done.release).frames.values()))
    codes = frame["insurance"].drop_nulls().unique().to_list()
    read = {read_value(house.keeper, house.owner, done.release, "insurance", code).read for code in codes}
    assert "Public basic" in " ".join(read)
    places = [path for path in house.keeper.settings.folder.rglob("*") if path.is_file()]
    assert [path for path in places if b'"originals"' in path.read_bytes()] == []
    assert b'"originals"' in json.dumps(catalogue.key_of(house.keeper, done.release).describe()).encode()
