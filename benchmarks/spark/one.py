"""One publication in a process of its own: `python -m benchmarks.spark.one MASTER METHOD DATA OUT` prints what it took.

The master `local engine` means that Spark is not asked.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from time import perf_counter

import polars as pl

from benchmarks.spark.people import POLICIES
from manyveils.publishing import publish_to

LOCAL = "local engine"


def main() -> None:
    """Publish, audit included, and print seconds (starting Spark apart) and the peak memory of the driver."""
    master, method, data, out = sys.argv[1:]
    started, java = perf_counter(), None
    if master != LOCAL:
        # As many cores as executors; all processes that are started have the same.
        os.sched_setaffinity(0, range(int(master.split("[")[1].split(",")[0])))
        from manyveils.spark.session import session

        spark = session(master)
        # The first job starts the executors.
        spark.range(2).count()
        java = spark.sparkContext._gateway.proc.pid
    begun, steps = perf_counter(), {}

    def progress(step: str, share: float) -> None:
        steps.setdefault(step, perf_counter() - begun)

    target = Path(out)
    for each in (target, target.with_name(f"{target.name}.private")):
        shutil.rmtree(each, ignore_errors=True)
    engine = {"engine": "spark", "master": master} if java else {}
    source = Path(data) if java else pl.read_parquet(Path(data) / "*.parquet")
    publish_to(POLICIES[method], target, data=source, seed=1, progress=progress, **engine)
    print(
        json.dumps(
            {
                "seconds": perf_counter() - begun,
                "starting": begun - started,
                "steps": steps,
                "python": _peak(os.getpid()),
                "java": _peak(java) if java else 0,
            }
        )
    )
    shutil.rmtree(target)


def _peak(process: int) -> int:
    """The most memory a process has had, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    [peak] = [line for line in lines if line.startswith("VmHWM")]
    return int(peak.split()[1]) // 1024


if __name__ == "__main__":
    main()
