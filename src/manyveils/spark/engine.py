"""The Spark engine as the trail sees it: publish into a folder, and audit one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from manyveils.audits import Audit, Licence
from manyveils.audits.apart import refuse_absent, refuse_everybody
from manyveils.errors import InputError, Problem
from manyveils.linting.counted import lint_counted
from manyveils.methods import Options, unused_suppression
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.spark.audit import audit_there
from manyveils.spark.counts import Counts
from manyveils.spark.failures import told_plainly
from manyveils.spark.held import Held, hold_there
from manyveils.spark.limits import whole_cells
from manyveils.spark.publish import job_of
from manyveils.spark.published import cells_of
from manyveils.spark.release import SparkRelease
from manyveils.spark.session import is_remote, refuse_absence, session
from manyveils.spark.small import brought
from manyveils.spark.source import Source, source_of
from manyveils.spark.watching import watched
from manyveils.table.door import is_sparks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str, float], None]
# How this process writes a release of rows that were brought to it, and how it judges one.
Write = Callable[[pl.DataFrame, Path], tuple[Release, Audit]]
Judge = Callable[[pl.DataFrame, Release], Audit]

# Texts of another type than the one that is sent to Spark.
LARGE = "spark.sql.execution.arrow.useLargeVarTypes"


@dataclass(frozen=True, repr=False)
class Published:
    """What was written, and how it was judged."""

    release: SparkRelease
    audit: Audit


def publish_there(
    data: object,
    policy: Policy,
    folder: Path,
    *,
    options: Options,
    licence: Licence,
    master: str | None = None,
    seed: int | None = None,
    here: Write,
    progress: Progress,
) -> Published:
    """Write a release into a folder that is being prepared, and judge what was written; `here` does it for small tables."""
    with _spark(data, master) as spark:
        source, frame = _read(data, policy, spark, progress)
        if frame is not None:
            made, verdict = here(frame, folder)
            release = SparkRelease(Release.outline(folder), folder, spark, notes=made.notes, key=made.key)
            return Published(release, verdict)
        return _published_there(source, policy, folder, spark, options, licence, seed, progress)


def _published_there(
    source: Source,
    policy: Policy,
    folder: Path,
    spark: "SparkSession",
    options: Options,
    licence: Licence,
    seed: int | None,
    progress: Progress,
) -> Published:
    refuse_everybody(policy, "Use the local engine.")
    refuse_absent(policy, "Use the local engine.")
    with _held(source, policy, spark, progress) as held:
        job = job_of(held, policy, options, seed=seed, progress=progress)
        with watched(spark, "deciding", progress):
            views, notes, key = job.views()
        with watched(spark, "writing", progress):
            job.write(views, folder)
        with watched(spark, "auditing", progress):
            verdict = audit_there(folder, held, policy, spark=spark, licence=licence)
        verdict = replace(verdict, accepted=job.lint().said_accepted())
        release = SparkRelease(
            Release.outline(folder), folder, spark, notes={**notes, **unused_suppression(policy)}, key=key
        )
    return Published(release, verdict)


def audit_folder(
    folder: Path,
    data: object,
    policy: Policy,
    *,
    licence: Licence,
    master: str | None = None,
    levels: Mapping[str, float] | None = None,
    here: Judge,
    progress: Progress,
) -> Audit:
    """Judge a release from its files and the original; `here` does it where both are small."""
    with _spark(data, master) as spark:
        is_small = cells_of(folder, Release.outline(folder)) <= whole_cells()
        source, frame = _read(data, policy, spark, progress, is_small=is_small)
        if frame is not None:
            return here(frame, Release.load(folder))
        refuse_everybody(policy, "Use the local engine.")
        refuse_absent(policy, "Use the local engine.")
        with _held(source, policy, spark, progress) as held, watched(spark, "auditing", progress):
            verdict = audit_there(folder, held, policy, spark=spark, licence=licence, levels=levels)
            accepted = lint_counted(policy, Counts(held)).said_accepted() if policy.accept else ()
            return replace(verdict, accepted=accepted)


def _read(
    data: object, policy: Policy, spark: "SparkSession", progress: Progress, *, is_small: bool = True
) -> tuple[Source, pl.DataFrame | None]:
    """The rows where they are, and all of them here if they are few."""
    with watched(spark, "reading", progress):
        source = source_of(data, policy, spark)
        return source, brought(source, policy) if is_small else None


@contextmanager
def _held(source: Source, policy: Policy, spark: "SparkSession", progress: Progress) -> Iterator[Held]:
    with watched(spark, "reading", progress):
        held = hold_there(source.rows, policy, is_csv=source.is_csv)
    try:
        yield held
    finally:
        held.rows.unpersist()


@contextmanager
def _spark(data: object, master: str | None) -> Iterator["SparkSession"]:
    """The session that has the data, or one of our own."""
    refuse_absence()
    with told_plainly():
        spark = data.sparkSession if is_sparks(data) else session(master)  # type: ignore[attr-defined]
        _refuse_session(spark)
        yield spark


def _refuse_session(spark: "SparkSession") -> None:
    if spark.is_stopped if is_remote(spark) else spark.sparkContext._jsc is None:  # type: ignore[attr-defined]
        what = "their Spark session is stopped."
        raise InputError([Problem("data", what, "Read them again in a session that runs.")])
    if spark.conf.get(LARGE, "false") == "true":
        raise InputError([Problem("Spark", f"the session has {LARGE}.", "Set it to false.")])
