"""What goes wrong in Spark, told without what it says of cells."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyveils.errors import DataError, InfeasibleError, Problem
from manyveils.spark.arrow import GARBLED
from manyveils.spark.session import LOG
from manyveils.table.counting import TooManyError

GONE = Problem(
    "Spark",
    "its Java process is gone, perhaps for lack of memory.",
    "Give it more (--driver-memory in PYSPARK_SUBMIT_ARGS), or fewer cores.",
)
MASTER = Problem(
    "master",
    "Spark could not be started: there is no such master, or Java does not work.",
    "Check --master, as local[4] or spark://host:7077, and JAVA_HOME.",
)
CELLS = "a row of a csv file has more or fewer cells than the header, or a line break in a cell."
QUOTES = "a csv file has quotes that are not doubled or not closed."
HEADERS = "the csv files of a folder have different headers."
STORE = Problem(
    "data",
    "this session of Spark has no file system for that address.",
    "Give it one (docs/spark.md, Stores of files), or copy the data to this machine.",
)
PACKAGES = Problem(
    "master", "Spark Connect needs more packages.", "Install them with: pip install 'manyveils[connect]'"
)
# What Java says, and what that means.
KNOWN = {
    "JAVA_GATEWAY_EXITED": MASTER,
    "Could not parse Master URL": MASTER,
    "Asked to run locally with 0 threads": MASTER,
    "FileSystem not found": STORE,
    "No FileSystem for scheme": STORE,
    "UnknownHostException": Problem("data", "the host in their address is not known.", "Correct it."),
    "grpcio": PACKAGES,
    "googleapis-common-protos": PACKAGES,
    "TextParsingException": Problem("data", QUOTES, "Correct the quotes, or give parquet."),
    "Invalid UTF8 sequence": GARBLED,
    "MALFORMED": Problem("data", CELLS, "Correct the file, or give parquet."),
    "CSV header does not conform": Problem(
        "data", HEADERS, "Give all of them the same columns in the same order."
    ),
}


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turn errors of Spark into ours, and keep it from writing them down."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with _unquoted():
            yield
    except TooManyError as error:
        raise InfeasibleError(error.problems) from None
    except (PySparkException, Py4JError, ConnectionRefusedError, ConnectionResetError) as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise DataError([_problem(error)]) from None


def _was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C came before: it ends jobs, or Java, and their complaints may come first or instead."""
    if isinstance(error, KeyboardInterrupt) or "SPARK_JOB_CANCELLED" in (_message(error) or ""):
        return True
    return error.__context__ is not None and _was_interrupted(error.__context__)


def _problem(error: BaseException) -> Problem:
    message = _message(error)
    if message is None:
        return GONE
    for mark, problem in KNOWN.items():
        if mark in message:
            return problem
    condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    return Problem(
        "Spark",
        f"gave up ({condition}).",
        "Check that executors have memory, the package and its Python (PYSPARK_PYTHON). Look into their logs, or set "
        f"{LOG}=WARN; beware that logs may quote cells of the data.",
    )


def _message(error: BaseException) -> str | None:
    """What an error says; some ask Java for it, which may be gone."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    try:
        return None if isinstance(error, OSError | Py4JNetworkError) else str(error)
    except (Py4JError, OSError):
        return None


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
