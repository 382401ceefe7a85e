"""Jobs: publications in the background, with their progress and their audit in the database."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, select, update

from manyveils.errors import Problem
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.moments import Moment, moment
from manyveils.server.refusals import Conflict, Person, no_such, require
from manyveils.server.schema import jobs, releases
from manyveils.server.sealed import sound_row

State = Literal["queued", "running", "done", "failed"]
UNFINISHED = ("queued", "running")
MOST_TITLE = 200


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


def all_jobs(keeper: Keeper, actor: Person, *, most: int = 100) -> list[Job]:
    """An owner's last jobs, newest first."""
    require(actor, "owner", scope="publish")
    query = (
        select(jobs).where(jobs.c.asked_by == actor.id).order_by(jobs.c.created.desc(), jobs.c.id).limit(most)
    )
    with keeper.database.reading() as connection:
        return [_job(keeper, connection, row) for row in connection.execute(query)]


def job(keeper: Keeper, actor: Person, number: str) -> Job:
    """One job of an owner."""
    require(actor, "owner", scope="publish")
    with keeper.database.reading() as connection:
        return _job(keeper, connection, _own(connection, actor, number))


def cancel(keeper: Keeper, actor: Person, number: str) -> Job:
    """End a job of one's own before it is done; its server sees to it within a second."""
    require(actor, "owner", scope="publish")
    with keeper.database.writing() as connection:
        if _own(connection, actor, number).state not in UNFINISHED:
            raise Conflict.at("job", "is over.")
        connection.execute(update(jobs).where(jobs.c.id == number).values(cancelled=True))
        append(keeper, connection, actor, "cancel job", number)
    return job(keeper, actor, number)


def _own(connection: Connection, actor: Person, number: str) -> Row[Any]:
    row = connection.execute(
        select(jobs).where(jobs.c.id == number, jobs.c.asked_by == actor.id)
    ).one_or_none()
    if row is None:
        raise no_such("job")
    return row


def _job(keeper: Keeper, connection: Connection, row: Row[Any]) -> Job:
    told = {name: row._mapping[name] for name in ("id", "title", "state", "stage", "share", "error")}
    made = (
        sound_row(keeper, connection, releases, releases.c.id == row.release_id) if row.release_id else None
    )
    audit = json.loads(made.audit) if made and made.audit else None
    return Job(**told, audit=audit, release=None if made is None else made.id, created=moment(row.created))


def job_problems(title: str, form: str) -> Iterator[Problem]:
    """What is wrong with how a job is asked for."""
    if not 1 <= len(title.strip()) <= MOST_TITLE or "\x00" in title:
        yield Problem("title", f"must have 1 to {MOST_TITLE} characters.")
    if form not in ("csv", "parquet"):
        yield Problem("format", "must be csv or parquet.")
