"""How far Spark has come with what it was asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 0.5


@contextmanager
def watched(spark: "SparkSession", step: str, progress: Callable[[str, float], None]) -> Iterator[None]:
    """Tell, while a step is being done, which share of the tasks of Spark's present jobs is done."""
    from py4j.protocol import Py4JError

    progress(step, 0.0)
    tracker, done = spark.sparkContext.statusTracker(), Event()

    def watch() -> None:
        # Whoever waits for Java that is gone will say so.
        with suppress(Py4JError, OSError):
            while not done.wait(SECONDS):
                progress(step, _share(tracker))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _share(tracker: Any) -> float:
    """The share of tasks that are done; none where nothing is going on."""
    n_tasks = n_done = 0
    for job in tracker.getActiveJobsIds():
        found = tracker.getJobInfo(job)
        for stage in found.stageIds if found else ():
            each = tracker.getStageInfo(stage)
            n_tasks += each.numTasks if each else 0
            n_done += each.numCompletedTasks if each else 0
    return n_done / n_tasks if n_tasks else 0.0
