"""Experiment 2, beside what is promised: membership in l-diverse slices, and in columns whose rare values are generalized."""

from collections.abc import Iterator
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks.reproductions import clusters, membership, occ
from benchmarks.reproductions.membership import CLASSES, NOTHING, SEED, TWO, Setting
from benchmarks.reproductions.table import counted, markdown
from manyveils.table import hold
from manyveils.utility.comparison import Comparison

DISTINCT, FREQUENCY = {"l": 5}, {"l": 5, "l_kind": "frequency"}
FIVE = clusters.PAPER["OCC-7", 5]
Keys = dict[str, Any]


def _settings() -> Iterator[tuple[str, clusters.Columns, Keys, Keys]]:
    for columns in (TWO, FIVE):
        for partition in ("mondrian", "median"):
            yield "OCC-7", columns, {"partition": partition}, DISTINCT
    for partition in ("mondrian", "median"):
        yield "OCC-7", FIVE, {"partition": partition}, FREQUENCY
    for column_k in (1, 10, 100):
        keys = {"partition": "random", "bucket": 100, "column_k": column_k}
        yield "OCC-15", clusters.PAPER["OCC-15", 5], keys, NOTHING


def table(frame: pl.DataFrame) -> str:
    """Fake tuples, originals and fakes by the number of buckets that match them, and who is singled out."""
    headings = ("table", "columns", "promise", "partition", "column_k", "buckets", "fake tuples")
    headings += tuple(f"originals {each}" for each in CLASSES) + tuple(f"fakes {each}" for each in CLASSES)
    return markdown((*headings, "rows singled out"), (_line(frame, *setting) for setting in _settings()))


def _line(
    frame: pl.DataFrame, table: str, columns: clusters.Columns, keys: Keys, guarantee: Keys
) -> tuple[str, ...]:
    names = tuple(name for column in columns for name in column)
    publish = {"method": "slice", "columns": [list(column) for column in columns], **keys}
    policy = occ.policy(names, guarantee, publish)
    release = mv.publish(frame.select(names), policy, seed=SEED)
    comparison = Comparison(release, hold(frame.select(names), policy)[0], policy)
    setting = Setting(table, columns, keys["partition"], 0)
    found = membership.matches_of(setting, comparison)
    about = "≈ " if found.is_sampled else ""
    promise = " ".join(str(guarantee[key]) for key in ("l_kind", "l") if key in guarantee)
    return (
        table,
        str(len(columns)),
        f"{'' if 'l_kind' in guarantee else 'distinct '}{promise}" if "l" in guarantee else "none",
        keys["partition"],
        str(keys.get("column_k", 1)),
        counted(release.notes["buckets"]),
        about + counted(found.fakes),
        *(counted(number) for number in found.originals_by),
        *(about + counted(number) for number in found.fakes_by),
        counted(found.singled_out),
    )
