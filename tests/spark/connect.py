"""Publications through Spark Connect, with a server on this machine.

Run as a script, since a process has either a session of Spark Connect or one of its own: `connect.py FOLDER`.
It publishes in every way, from rows that are brought and from rows that stay, and prints what came of it as lines of JSON.
"""

import json
import os
import sys
from pathlib import Path

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to
from manyveils.spark.session import find_java

WAYS = {
    "full-domain": ({"method": "generalize", "suppression": 0.02}, {"k": 2}),
    "anatomize": ({"method": "anatomize"}, {"l": 2, "l_kind": "frequency"}),
    "slice": ({"method": "slice", "columns": 3}, {"l": 2, "l_kind": "frequency"}),
}
LIMITS = {
    "brought": {},
    "counted": {"MANYVEILS_WHOLE_CELLS": "1"},
    "judged": {
        "MANYVEILS_WHOLE_CELLS": "1",
        "MANYVEILS_PART_ROWS": "80",
        "MANYVEILS_DRIVER_CELLS": "2000",
    },
}


def policy_of(way):
    """The hospital's policy with a method and a promise that it keeps."""
    section, guarantee = WAYS[way]
    return hospital_policy().replaced(publish=section, guarantee=guarantee)


def main(folder):
    """Publish one after another through one server."""
    from pyspark.sql import SparkSession

    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2")
    spark = builder.getOrCreate()
    frame = hospital(n=300)
    rows = spark.createDataFrame(frame.to_arrow()).repartition(3)
    for limits, environment in LIMITS.items():
        os.environ.update(environment)
        for way in WAYS:
            # All counts are needed where levels are found.
            if (way, limits) == ("full-domain", "judged"):
                continue
            out = Path(folder) / f"{way}-{limits}"
            published = publish_to(policy_of(way), out, data=rows, seed=1)
            said = {"way": way, "limits": limits, "kept": published.audit.kept, "type": type(rows).__module__}
            said["rows"] = next(iter(published.release.tables.values())).count()
            said["audited"] = mv.audit(out, rows, policy_of(way)).kept
            print(json.dumps(said), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
