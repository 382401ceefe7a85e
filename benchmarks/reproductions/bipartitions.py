"""Whether any two columns of OCC-7 give the numbers the paper tells for buckets of 100.

Counted by joining values inside buckets, without the package, so it also stands beside `membership` as a check.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from benchmarks.reproductions import occ
from benchmarks.reproductions.clusters import Columns
from benchmarks.reproductions.table import braced, counted, markdown

BUCKET = 100
SEED = 1
PAPER = {"fake tuples": 87_936, "fake tuples > 20": 5_325, "originals > 20": 31_452}


@dataclass(frozen=True)
class Counted:
    """Two columns and the numbers they give, in the order of the paper's."""

    columns: Columns
    numbers: tuple[int, int, int]

    @property
    def differs(self) -> float:
        """How many times the number that differs most differs from the paper's."""
        pairs = zip(self.numbers, PAPER.values(), strict=True)
        return max(max(ours / paper, paper / ours) for ours, paper in pairs)


def bipartitions(names: tuple[str, ...]) -> Iterator[Columns]:
    """Every way to part attributes into two columns, once.

    >>> list(bipartitions(("a", "b", "c")))
    [(('a',), ('b', 'c')), (('a', 'b'), ('c',)), (('a', 'c'), ('b',))]
    """
    first, *rest = names
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            yield (first, *chosen), tuple(name for name in rest if name not in chosen)


def run(frame: pl.DataFrame) -> list[Counted]:
    """Random buckets of 100 for each of the 63 pairs of columns."""
    order = np.random.default_rng(SEED).permutation(frame.height)
    rows = frame[order].with_columns(bucket=pl.int_range(frame.height) // BUCKET)
    return [count(rows, columns) for columns in bipartitions(occ.OCC7)]


def count(rows: pl.DataFrame, columns: Columns) -> Counted:
    """Join the values of both columns inside every bucket, and see which combinations are originals."""
    pairs = rows.select(
        "bucket", *(pl.struct(column).rank("dense").alias(str(i)) for i, column in enumerate(columns))
    )
    matched = (
        pairs.select("bucket", "0")
        .unique()
        .join(pairs.select("bucket", "1").unique(), on="bucket")
        .group_by("0", "1")
        .len("buckets")
        .join(pairs.group_by("0", "1").len("rows"), on=["0", "1"], how="left")
    )
    fakes, many = matched.filter(pl.col("rows").is_null()), pl.col("buckets") > 20
    numbers = fakes.height, fakes.filter(many).height, int(matched.filter(many)["rows"].sum())
    return Counted(columns, numbers)


def table(found: list[Counted]) -> str:
    """For every number of the paper, the columns that come nearest to it, and what else they give."""
    lines = [("paper", "not given", *map(counted, PAPER.values()))]
    for place, (what, wanted) in enumerate(PAPER.items()):
        nearest = min(found, key=lambda each: abs(each.numbers[place] - wanted))
        lines.append((f"nearest in {what}", braced(nearest.columns), *map(counted, nearest.numbers)))
    nearest = min(found, key=lambda each: each.differs)
    lines.append(("nearest in all three", braced(nearest.columns), *map(counted, nearest.numbers)))
    return markdown(("", "columns", *PAPER), lines)
