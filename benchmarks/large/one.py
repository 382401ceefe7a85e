"""One piece of work in a process of its own: `python -m benchmarks.large.one WORK DATA OUT MEMORY` prints what it took."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.large.people import COLUMNS, POLICIES

QUASI = ", ".join(COLUMNS[:6])
ALL = ", ".join(COLUMNS)
IN_MEMORY = "in memory"
Steps = Callable[[str, float], None]


def main() -> None:
    """Do it, and print seconds by the wall and of the processors, the kernel's peak and when steps began."""
    work, data, out, memory = sys.argv[1:]
    target, steps = Path(out), dict[str, float]()
    for path in (target, target.with_name(f"{target.name}.private")):
        shutil.rmtree(path, ignore_errors=True)
    # Loaded before the clock starts.
    do = WORK[work]()
    begun, busy = perf_counter(), process_time()
    do(data, target, memory, lambda step, _: steps.setdefault(step, round(perf_counter() - begun, 1)))
    taken = {"wall": perf_counter() - begun, "processor": process_time() - busy}
    print(json.dumps({**taken, "peak": peak(), "steps": steps}))


def peak() -> int:
    """The most memory this process has had, in MB, as the kernel tells it."""
    with Path(f"/proc/{os.getpid()}/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024


def _publish(method: str) -> Callable[[str, Path, str, Steps], None]:
    from manyveils.publishing import publish_to

    def publish(data: str, target: Path, memory: str, progress: Steps) -> None:
        room = None if memory == IN_MEMORY else memory
        publish_to(
            POLICIES[method],
            target,
            data=data,
            seed=1,
            format="parquet",
            memory=room,
            progress=progress,
        )

    return publish


def _duckdb(query: str) -> Callable[[str, Path, str, Steps], None]:
    import duckdb

    def run(data: str, target: Path, memory: str, _: Steps) -> None:
        connection = duckdb.connect()
        connection.execute(f"SET memory_limit = '{memory}'; SET threads = 2")
        connection.execute(f"SET temp_directory = '{target}.duckdb'")
        connection.execute(query.format(data=data, target=f"{target}.parquet")).fetchall()

    return run


def _polars(*, sorts: bool) -> Callable[[str, Path, str, Steps], None]:
    import polars as pl

    def run(data: str, target: Path, memory: str, _: Steps) -> None:
        rows = pl.scan_parquet(data)
        if sorts:
            rows.sort(COLUMNS).sink_parquet(f"{target}.parquet", engine="streaming")
        else:
            counted = rows.group_by(COLUMNS[:6]).agg(n=pl.len())
            counted.select(pl.len(), pl.col("n").max()).collect(engine="streaming")

    return run


GROUP = f"SELECT count(*), max(n) FROM (SELECT {QUASI}, count(*) AS n FROM '{{data}}' GROUP BY ALL)"
SORT = f"COPY (SELECT {ALL} FROM '{{data}}' ORDER BY ALL) TO '{{target}}'"
WORK: Mapping[str, Callable[[], Callable[[str, Path, str, Steps], None]]] = {
    **{method: partial(_publish, method) for method in POLICIES},
    "DuckDB, group": partial(_duckdb, GROUP),
    "DuckDB, sort and write": partial(_duckdb, SORT),
    "Polars streaming, group": partial(_polars, sorts=False),
    "Polars streaming, sort and write": partial(_polars, sorts=True),
}

if __name__ == "__main__":
    main()
