"""Publications on a cluster of processes, from which executors are taken in the middle of stages.

Run as a script, since a process holds one cluster at most: `cluster.py FOLDER WAY[:STAGE] …`.
It publishes into folders of these names, and prints for each, as one line of JSON, what happened.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from manyveils.datasets import hospital, hospital_policy
from manyveils.errors import ManyveilsError
from manyveils.publishing import publish_to
from manyveils.spark import audit, engine, publish, write

MASTER = "local-cluster[2,1,1024]"
WAYS = {
    "full-domain": ({"method": "generalize", "suppression": 0.02}, {"k": 2}),
    "anatomize": ({"method": "anatomize"}, {"l": 2, "l_kind": "frequency"}),
    "slice": ({"method": "slice", "columns": 3}, {"l": 2, "l_kind": "frequency"}),
}
N_ROWS, N_PARTITIONS, SEED = 300, 4, 1
# Rows are cut with the help of counts that stay where they are, and judged there.
LIMITS = {"MANYVEILS_PART_ROWS": "80", "MANYVEILS_DRIVER_CELLS": "2000"}


def policy_of(way):
    """The hospital's policy with a method and a promise that it keeps."""
    section, guarantee = WAYS[way]
    return hospital_policy().replaced(publish=section, guarantee=guarantee)


def limits_of(way):
    """What the environment says; levels are found from all counts."""
    return {} if way == "full-domain" else LIMITS


def deadly(rows, marker):
    """The same rows, of which the first to be looked at takes its executor with it; the marker says that it has."""
    return rows.mapInArrow(lambda batches: deadly_batches(batches, marker), rows.schema)


def deadly_batches(batches: Iterator[object], marker: str) -> Iterator[object]:
    """The same batches, of which the first to be passed on takes its executor with it."""
    for batch in batches:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            yield batch
            continue
        os.kill(_executor(), signal.SIGKILL)


def _executor():
    """The executor that this worker works for."""
    process = os.getpid()
    while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return process


@contextmanager
def killing(stage, marker):
    """Make the rows deadly that a stage works on."""
    hold, make, sort, read = engine.hold_there, publish.make_parts, publish.write_sorted, audit.read_published
    writer = write._writer

    def hold_there(rows, policy, *, is_csv):
        if stage == "reading":
            return hold(deadly(rows, marker), policy, is_csv=is_csv)
        held = hold(rows, policy, is_csv=is_csv)
        return replace(held, rows=deadly(held.rows, marker)) if stage == "deciding" else held

    def make_parts(*arguments):
        return deadly(make(*arguments), marker)

    def write_sorted(rows, *arguments):
        sort(deadly(rows, marker), *arguments)

    def late_writer(*arguments):
        """Parts have their names, and nobody knows yet."""
        inner = writer(*arguments)
        return lambda batches: deadly_batches(inner(batches), marker)

    def read_published(*arguments):
        found = read(*arguments)
        return {name: replace(each, rows=deadly(each.rows, marker)) for name, each in found.items()}

    engine.hold_there = hold_there
    publish.make_parts = make_parts if stage == "making" else make
    publish.write_sorted = write_sorted if stage == "writing" else sort
    write._writer = late_writer if stage == "written" else writer
    audit.read_published = read_published if stage == "auditing" else read
    yield
    engine.hold_there, publish.make_parts, publish.write_sorted, audit.read_published = hold, make, sort, read
    write._writer = writer


def published(spark, way, stage, folder):
    """Publish in a way, without an executor from the middle of the stage on, and say what happened."""
    for name in LIMITS:
        os.environ.pop(name, None)
    os.environ.update({"MANYVEILS_WHOLE_CELLS": "1"} | limits_of(way))
    marker = str(folder.with_suffix(".killed"))
    rows = spark.createDataFrame(hospital(n=N_ROWS).to_arrow()).repartition(N_PARTITIONS)
    refused = ""
    try:
        with killing(stage, marker):
            publish_to(policy_of(way), folder, data=rows, seed=SEED)
    except ManyveilsError as error:
        refused = f"{type(error).__name__}: {error}"
    return {"killed": Path(marker).exists(), "refused": refused}


def main(folder, *asked):
    """Publish one after another on one cluster."""
    from manyveils.spark.session import session

    spark = session(MASTER)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    # Several tasks write, ranges of buckets where there are many.
    write.ROWS_OF_A_PART, write.BUCKETS_OF_A_PART = 100, 10
    for each in asked:
        way, _, stage = each.partition(":")
        print(json.dumps(published(spark, way, stage, Path(folder) / each.replace(":", "-"))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
