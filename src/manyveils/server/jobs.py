"""Publishing on the server: a job at a time, in the background, with its progress and its audit in the database."""

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from secrets import token_bytes, token_hex
from threading import Event
from time import monotonic
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, insert, select, update

from manyveils.errors import InputError, ManyveilsError, Problem, fault
from manyveils.plain import plain
from manyveils.policy import Policy
from manyveils.publishing import publish_to
from manyveils.server import instances
from manyveils.server.catalogue import enter, move_in
from manyveils.server.chain import append
from manyveils.server.database import Moment, jobs, moment, releases
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Person, no_such, require
from manyveils.server.uploads import DATA, MOST_POLICY, POLICY, Upload, store, uploaded_policy

State = Literal["queued", "running", "done", "failed"]
BETWEEN = 0.3
MOST_TITLE = 200
STOPPED = "The server stopped before the job was done. Upload again."


@dataclass(frozen=True)
class Job:
    """A publication in the background; once it is done there is a release, not listed yet, and its audit."""

    id: str
    title: str
    state: State
    stage: str
    share: float
    error: str | None
    audit: dict[str, Any] | None
    release: str | None
    created: Moment


class Stopping(Exception):
    """The server is about to end."""


class Worker:
    """Does jobs one after the other; at its start it settles those that a dead server left."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._stopping = Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="publish")
        with instances.alone(keeper.settings):
            self.instance = instances.arrive(keeper.settings)
            dead = instances.dead_instances(keeper.settings)
            _settle(keeper, dead)
            instances.bury(keeper.settings, dead)

    def submit(
        self,
        actor: Person,
        *,
        title: str,
        policy: Upload,
        data: Upload,
        format: str = "csv",  # noqa: A002
    ) -> Job:
        """Store an upload and queue its publication; for owners. A wrong policy is refused immediately."""
        require(actor, "owner")
        InputError.refuse(_problems(title, format))
        number = token_hex(8)
        folder = self.instance.work / number
        folder.mkdir(mode=0o700)
        try:
            read = uploaded_policy(store(policy, folder, "policy", POLICY, MOST_POLICY))
            path = store(data, folder, "data", DATA, self.keeper.settings.upload_limit)
            self._queue(actor, number, title, format)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise _without(folder, error) from None
        self._pool.submit(self._run, number, actor.name, read, path, folder)
        return job(self.keeper, actor, number)

    def stop(self) -> None:
        """Stop before the next step of the job that is running; jobs that wait have failed."""
        self._stopping.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        _settle(self.keeper, [self.instance.name])
        self.instance.leave()

    def _queue(self, actor: Person, number: str, title: str, form: str) -> None:
        origin = {"instance": self.instance.name, "asked_by": actor.id, "created": self.keeper.now()}
        start = {"state": "queued", "stage": "", "share": 0.0}
        with self.keeper.database.writing() as connection:
            connection.execute(insert(jobs).values(id=number, title=title, format=form, **origin, **start))
            append(self.keeper, connection, actor.name, "queue job", number, {"title": title})

    def _run(self, number: str, actor: str, policy: Policy, data: Path, folder: Path) -> None:
        try:
            self._note(number, state="running")
            self._publish(number, actor, policy, data, folder)
        # Panics of the library that reads tables are no Exception.
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            _remove_unnamed(self.keeper, jobs.c.id == number)
            _mark_failed(self.keeper, jobs.c.id == number, _reason(folder, error))

    def _publish(self, number: str, actor: str, policy: Policy, data: Path, folder: Path) -> None:
        asked = self.keeper.database.row(select(jobs.c.title, jobs.c.format).where(jobs.c.id == number))
        # The key is kept in the database; nobody can read the copy that is written beside the release.
        lost, progress = token_bytes(32), self._progress(number)
        published = publish_to(
            policy, folder / "release", data=data, format=asked.format, secret=lost, progress=progress
        )
        arrival = move_in(self.keeper, published.folder, number, title=asked.title, key=published.release.key)
        # The original data stay no longer than they are needed, and are gone when the job is said to be over.
        shutil.rmtree(folder, ignore_errors=True)
        audit = json.dumps(plain(published.audit.describe()), default=str)
        with self.keeper.database.writing() as connection:
            enter(self.keeper, connection, arrival, actor)
            values = {"state": "done", "stage": "", "share": 1.0, "audit": audit}
            ending = {"release_id": number, "ended": self.keeper.now()}
            connection.execute(update(jobs).where(jobs.c.id == number).values(**values, **ending))

    def _progress(self, number: str) -> Callable[[str, float], None]:
        """Note progress a few times a second at most."""
        last = [0.0]

        def report(stage: str, share: float) -> None:
            if self._stopping.is_set():
                raise Stopping
            if monotonic() - last[0] >= BETWEEN:
                last[0] = monotonic()
                self._note(number, stage=stage, share=share)

        return report

    def _note(self, number: str, **values: Any) -> None:
        with self.keeper.database.writing() as connection:
            connection.execute(update(jobs).where(jobs.c.id == number).values(**values))


def _reason(folder: Path, error: BaseException) -> str:
    """Why a job failed, as far as its owner may know."""
    if isinstance(error, ManyveilsError):
        return str(_without(folder, error))
    return STOPPED if isinstance(error, Stopping) else f"This is a fault of manyveils: {fault(error)}"


def all_jobs(keeper: Keeper, actor: Person, *, most: int = 100) -> list[Job]:
    """The last jobs, newest first; for owners."""
    require(actor, "owner")
    query = select(jobs).order_by(jobs.c.created.desc(), jobs.c.id).limit(most)
    return [_job(row) for row in keeper.database.rows(query)]


def job(keeper: Keeper, actor: Person, number: str) -> Job:
    """One job; for owners."""
    require(actor, "owner")
    row = keeper.database.row(select(jobs).where(jobs.c.id == number))
    if row is None:
        raise no_such("job")
    return _job(row)


def _job(row: Row[Any]) -> Job:
    told = {name: row._mapping[name] for name in ("id", "title", "state", "stage", "share", "error")}
    audit = json.loads(row.audit) if row.audit else None
    return Job(**told, audit=audit, release=row.release_id, created=moment(row.created))


def _settle(keeper: Keeper, names: list[str]) -> None:
    """Mark what servers that end, or are dead, left undone as failed, and remove what no row names of theirs."""
    theirs = jobs.c.instance.in_(names)
    _mark_failed(keeper, theirs & jobs.c.state.in_(("queued", "running")), STOPPED)
    _remove_unnamed(keeper, theirs)


def _mark_failed(keeper: Keeper, which: ColumnElement[bool], error: str) -> None:
    with keeper.database.writing() as connection:
        numbers = connection.execute(select(jobs.c.id).where(which)).scalars().all()
        connection.execute(update(jobs).where(which).values(state="failed", error=error, ended=keeper.now()))
        for number in numbers:
            append(keeper, connection, "(server)", "job failed", number)


def _remove_unnamed(keeper: Keeper, which: ColumnElement[bool]) -> None:
    """Remove release folders of jobs that the catalogue does not name: they ended between the two."""
    unnamed = select(jobs.c.id).where(which, jobs.c.id.not_in(select(releases.c.id)))
    for (number,) in keeper.database.rows(unnamed):
        shutil.rmtree(keeper.settings.releases / number, ignore_errors=True)


def _problems(title: str, form: str) -> Iterator[Problem]:
    if not 1 <= len(title.strip()) <= MOST_TITLE or "\x00" in title:
        yield Problem("title", f"must have 1 to {MOST_TITLE} characters.")
    if form not in ("csv", "parquet"):
        yield Problem("format", "must be csv or parquet.")


def _without(folder: Path, error: BaseException) -> BaseException:
    """The same error without the server's own paths."""
    if not isinstance(error, ManyveilsError):
        return error
    parts = [map(str, astuple(problem)) for problem in error.problems]
    return type(error)(Problem(*(part.replace(f"{folder}/", "") for part in texts)) for texts in parts)
