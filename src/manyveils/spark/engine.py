"""The Spark engine as the trail sees it: publish into a folder, and audit one."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from manyveils.audits import Audit
from manyveils.errors import DataError, InfeasibleError, InputError, Problem
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.spark.audit import audit_there
from manyveils.spark.counts import TooManyError
from manyveils.spark.held import Held, hold_there
from manyveils.spark.publish import job_of
from manyveils.spark.release import SparkRelease
from manyveils.spark.session import LOG, refuse_absence, session
from manyveils.spark.source import source_of
from manyveils.spark.watching import watched
from manyveils.table.door import is_sparks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str, float], None]

# What Java says if there is no place to start.
NO_MASTER = ("JAVA_GATEWAY_EXITED", "Could not parse Master URL", "Asked to run locally with 0 threads")
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
    master: str | None = None,
    seed: int | None = None,
    progress: Progress,
) -> Published:
    """Write a release into a folder that is being prepared, and judge what was written."""
    with _spark(data, master) as spark, _held(data, policy, spark, progress) as held:
        job = job_of(held, policy, seed=seed, progress=progress)
        with watched(spark, "deciding", progress):
            views, notes, key = job.views()
        with watched(spark, "writing", progress):
            job.write(views, folder, key)
        with watched(spark, "auditing", progress):
            verdict = audit_there(folder, held, policy, spark=spark)
        release = SparkRelease(Release.outline(folder), folder, spark, notes=notes, key=key)
    return Published(release, verdict)


def audit_folder(
    folder: Path,
    data: object,
    policy: Policy,
    *,
    master: str | None = None,
    levels: Mapping[str, float] | None = None,
    progress: Progress,
) -> Audit:
    """Judge a release from its files and the original."""
    with (
        _spark(data, master) as spark,
        _held(data, policy, spark, progress) as held,
        watched(spark, "auditing", progress),
    ):
        return audit_there(folder, held, policy, spark=spark, levels=levels)


@contextmanager
def _held(data: object, policy: Policy, spark: "SparkSession", progress: Progress) -> Iterator[Held]:
    with watched(spark, "reading", progress):
        source = source_of(data, policy, spark)
        held = hold_there(source.rows, policy, is_csv=source.is_csv)
    try:
        yield held
    finally:
        held.rows.unpersist()


@contextmanager
def _spark(data: object, master: str | None) -> Iterator["SparkSession"]:
    """The session that has the data, or one of our own; what goes wrong in it is told without what it says of cells."""
    refuse_absence()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with _unquoted():
            spark = data.sparkSession if is_sparks(data) else session(master)  # type: ignore[attr-defined]
            _refuse_session(spark)
            yield spark
    except TooManyError as error:
        raise InfeasibleError(error.problems) from None
    except (PySparkException, Py4JError, ConnectionRefusedError, ConnectionResetError) as error:
        if "SPARK_JOB_CANCELLED" in str(error):
            # Ctrl-C ends jobs first, and what they say of it may come before the interrupt.
            raise KeyboardInterrupt from None
        raise DataError([_failed(error)]) from None


def _refuse_session(spark: "SparkSession") -> None:
    if spark.sparkContext._jsc is None:
        what = "their Spark session is stopped."
        raise InputError([Problem("data", what, "Read them again in a session that runs.")])
    if spark.conf.get(LARGE, "false") == "true":
        raise InputError([Problem("Spark", f"the session has {LARGE}.", "Set it to false.")])


@contextmanager
def _unquoted() -> Iterator[None]:
    """Keep PySpark from writing down what went wrong with which cell, unless logs are asked for."""
    if os.environ.get(LOG):
        yield
        return
    logger = logging.getLogger("DataFrameQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    logging.root.addFilter(_is_not_of_the_bridge)
    try:
        yield
    finally:
        logger.disabled = before
        logging.root.removeFilter(_is_not_of_the_bridge)


def _is_not_of_the_bridge(record: logging.LogRecord) -> bool:
    """Whether something else than the bridge to Java, which writes down how it was interrupted, has this to say."""
    return Path(record.pathname).parent.name != "py4j"


def _failed(error: Exception) -> Problem:
    from py4j.protocol import Py4JNetworkError

    if isinstance(error, ConnectionError | Py4JNetworkError):
        what = "its Java process is gone, perhaps for lack of memory."
        return Problem(
            "Spark", what, "Give it more (--driver-memory in PYSPARK_SUBMIT_ARGS), or fewer cores."
        )
    if any(said in str(error) for said in NO_MASTER):
        what = "Spark could not be started: there is no such master, or Java does not work."
        return Problem("master", what, "Check --master, as local[4] or spark://host:7077, and JAVA_HOME.")
    if "TextParsingException" in str(error):
        what = "a csv file has quotes that are not doubled or not closed."
        return Problem("data", what, "Mend the quotes, or give parquet.")
    if "INVALID_UTF8_STRING" in str(error):
        return Problem("data", "they have texts that are not valid UTF-8.", "Mend them, or drop the column.")
    if "MALFORMED" in str(error):
        what = "a row of a csv file has more or fewer cells than the header, or a line break in a cell."
        return Problem("data", what, "Mend the file, or give parquet.")
    if "CSV header does not conform" in str(error):
        what = "the csv files of a folder have different headers."
        return Problem("data", what, "Give all of them the same columns in the same order.")
    said = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    return Problem(
        "Spark",
        f"gave up ({said}).",
        "Check that executors have memory, the package and its Python (PYSPARK_PYTHON). Look into their logs, or set "
        f"{LOG}=WARN; beware that logs may quote cells of the data.",
    )
