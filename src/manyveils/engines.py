"""Who does the work: this process, or Spark, which is imported only when it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import polars as pl

from manyveils.arguments import Order, Progress, licence_of, streams_of
from manyveils.audits import Audit, Judged, judged
from manyveils.audits.rows import rows_short
from manyveils.errors import InputError
from manyveils.linting import lint
from manyveils.policy import Policy
from manyveils.reading.chain import Chain
from manyveils.release import Release
from manyveils.release.bare import BareRelease
from manyveils.streaming.room import Memory, Room
from manyveils.table import Restore, Table, hold
from manyveils.table.door import is_sparks

Engine = Literal["local", "spark"]
Levels = Mapping[str, float] | None
# How this process makes a release of a table.
Make = Callable[[Order, Table, Restore], Release]


def is_for_spark(
    data: object,
    engine: Engine = "local",
    master: str | None = None,
    memory: Memory = None,
) -> bool:
    """Whether Spark does the work: it is asked to, or the data are its own; a master is for Spark alone."""
    if engine == "spark" or is_sparks(data):
        if memory is not None:
            remedy = (
                "Spark's own settings say how much it takes: spark.driver.memory and spark.executor.memory."
            )
            raise InputError.at("memory", "is for the local engine.", remedy)
        return True
    if master is not None:
        remedy = "Give --engine spark too, or leave it out."
        raise InputError.at("master", "is for Spark alone.", remedy)
    return False


def judge(release: Release, table: Table, policy: Policy, levels: Levels = None) -> Audit:
    """Derive every promise again in this process, from the release and the original alone."""
    return judge_with_evidence(release, table, policy, levels).audit


def judge_rows(release: BareRelease, table: Table, policy: Policy, levels: Levels = None) -> Audit:
    """Judge a table that something else published, and say of each row what it falls short of."""
    verdict, evidence = judge_with_evidence(release, table, policy, levels)
    return replace(verdict, rows=release.restored(rows_short(evidence)))


def judge_with_evidence(release: Release, table: Table, policy: Policy, levels: Levels = None) -> Judged:
    """The same, with what was read for it, which the ledger of the release is made from."""
    accepted = lint(table, policy).said_accepted() if policy.accept else ()
    found, evidence = judged(release, table, policy, licence_of(policy), levels)
    return Judged(replace(found, accepted=accepted), evidence)


def judge_on_spark(
    folder: Path, data: object, policy: Policy, levels: Levels, master: str | None, progress: Progress
) -> Audit:
    """Let Spark derive every promise again, from the files of a release and the original; few rows are judged here."""
    from manyveils.spark.engine import audit_folder

    def here(frame: pl.DataFrame, release: Release) -> Audit:
        return judge(release, _as_persons(hold(frame, policy)[0], policy), policy, levels)

    return audit_folder(
        folder,
        data,
        policy,
        licence=licence_of(policy),
        master=master,
        levels=levels,
        here=here,
        progress=progress,
    )


def _as_persons(table: Table, policy: Policy) -> Table:
    """The table, unless somebody has several rows: Spark gives rows in no order that a private folder could speak of."""
    from manyveils.spark.persons import refuse_persons

    refuse_persons(table.n_people, table.n_persons, policy)
    return table


def refuse_chain_on_spark(chain: Chain | None) -> None:
    """Where persons were seen before is looked up in this process alone."""
    if chain is not None:
        what = "Spark does not hold a release against earlier ones."
        raise InputError.at("after", what, "Use the local engine.")


def publish_on_spark(order: Order, make: Make) -> Release:
    """A release that Spark makes, audited, in a folder of its own that goes when the release does."""
    from manyveils.release.apart import in_own_folder

    refuse_chain_on_spark(order.chain)

    def write(folder: Path) -> Release:
        release, verdict = write_on_spark(order, folder, make)
        verdict.refuse_broken()
        return release

    return in_own_folder(write)


def publish_in_room(order: Order) -> Release:
    """A release that is made in so much memory, audited, in a folder of its own that goes when the release does."""
    from manyveils.release.apart import in_own_folder

    def write(folder: Path) -> Release:
        with TemporaryDirectory(prefix="manyveils-") as aside:
            return write_in_room(order, folder, Path(aside))[0]

    return in_own_folder(write)


def write_in_room(order: Order, folder: Path, aside: Path) -> tuple[Release, Audit]:
    """Write a release into a folder that is being prepared, in so much memory, and judge what was written.

    What is kept of rows meanwhile goes into a folder aside, as numbers.
    """
    from manyveils.streaming.engine import job_of

    assert order.room is not None
    streams = streams_of(order.seed)
    refuse_chain_in_room(order.chain)
    with job_of(order.data, order.policy, order.room, aside, order.progress) as job:
        release = job.publish(folder, order.options, streams, order.format or "csv")
        verdict = job.audit(folder, licence_of(order.policy))
        verdict.refuse_broken()
    return release, verdict


def judge_in_room(
    folder: Path,
    data: object,
    policy: Policy,
    levels: Levels,
    room: Room,
    published_as: str | None,
    progress: Progress,
) -> Audit:
    """Derive every promise again in so much memory, from the files of a release and the original."""
    from manyveils.streaming.engine import job_of

    with (
        TemporaryDirectory(prefix="manyveils-") as aside,
        job_of(data, policy, room, Path(aside), progress) as job,
    ):
        return job.audit(folder, licence_of(policy), levels, published_as)


def check_in_room(data: object, policy: Policy, levels: Levels, room: Room, progress: Progress) -> Audit:
    """Judge a table that something else published, by itself and in so much memory."""
    from manyveils.streaming.bare import check_streamed

    with TemporaryDirectory(prefix="manyveils-") as aside:
        return check_streamed(data, policy, room, Path(aside), levels or {}, progress)


def refuse_chain_in_room(chain: Chain | None) -> None:
    """Where persons were seen before is looked up with all rows in memory."""
    if chain is not None:
        what = "a release is held against earlier ones in memory alone."
        raise InputError.at("after", what, "Leave memory out.")


def write_on_spark(order: Order, folder: Path, make: Make) -> tuple[Release, Audit]:
    """Let Spark write a release into a folder that is being prepared, and judge what was written; few rows are made here."""
    from manyveils.spark.engine import publish_there
    from manyveils.spark.write import lay_in_parts

    # A wrong seed is refused before Spark starts.
    streams_of(order.seed)
    refuse_chain_on_spark(order.chain)
    if order.format not in (None, "parquet"):
        remedy = "Leave it out, or use the local engine."
        raise InputError.at("format", "Spark writes parquet only.", remedy)

    def here(frame: pl.DataFrame, folder: Path) -> tuple[Release, Audit]:
        own = replace(order, data=frame, asked=order.policy, memory=None)
        table, restore = own.hold()
        _as_persons(table, order.policy)
        release = make(own, table, restore)
        release.write(folder, format="parquet")
        lay_in_parts(folder / "tables")
        return release, judge(Release.load(folder), table, order.policy)

    published = publish_there(
        order.data,
        order.policy,
        folder,
        options=order.options,
        licence=licence_of(order.policy),
        master=order.master,
        seed=order.seed,
        here=here,
        progress=order.progress,
    )
    return published.release, published.audit
