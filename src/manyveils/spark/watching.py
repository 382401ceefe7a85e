"""How far Spark is with a step, told while it works."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from manyveils.spark.session import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str, float], None]
SECONDS = 0.5


@contextmanager
def watched(spark: "SparkSession", step: str, progress: Progress) -> Iterator[None]:
    """Tell, while a step is being done, which share of the tasks of Spark's present jobs is done."""
    progress(step, 0.0)
    with (_watched_there if is_remote(spark) else _watched_here)(spark, lambda share: progress(step, share)):
        yield


@contextmanager
def _watched_there(spark: Any, tell: Callable[[float], None]) -> Iterator[None]:
    """A server tells by itself."""

    def handle(stages: Iterable[Any] | None, **_: object) -> None:
        tell(_share((stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()))

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)


@contextmanager
def _watched_here(spark: "SparkSession", tell: Callable[[float], None]) -> Iterator[None]:
    from py4j.protocol import Py4JError

    tracker, done = spark.sparkContext.statusTracker(), Event()

    def watch() -> None:
        # Whoever waits for Java that is gone will say so.
        with suppress(Py4JError, OSError):
            while not done.wait(SECONDS):
                tell(_share(_stages(tracker)))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _stages(tracker: Any) -> Iterator[tuple[int, int]]:
    """The tasks of every stage of present jobs, and how many are done."""
    for job in tracker.getActiveJobsIds():
        running = tracker.getJobInfo(job)
        for number in running.stageIds if running else ():
            stage = tracker.getStageInfo(number)
            if stage:
                yield stage.numTasks, stage.numCompletedTasks


def _share(stages: Iterable[tuple[int, int]]) -> float:
    """The share of tasks that are done; none where nothing is going on."""
    n_tasks = n_done = 0
    for tasks, done in stages:
        n_tasks, n_done = n_tasks + tasks, n_done + done
    return n_done / n_tasks if n_tasks else 0.0
