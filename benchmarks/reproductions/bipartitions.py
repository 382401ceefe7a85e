"""Whether any two columns of OCC-7 give the numbers the paper tells for buckets of 100."""

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from benchmarks.reproductions import occ
from benchmarks.reproductions.clusters import Columns
from benchmarks.reproductions.membership import Matches, Setting, count
from benchmarks.reproductions.table import braced, counted, markdown

PAPER = {"fake tuples": 87_936, "fake tuples > 20": 5_325, "originals > 20": 31_452}


def bipartitions(names: tuple[str, ...]) -> Iterator[Columns]:
    """Every way to part attributes into two columns, once.

    >>> list(bipartitions(("a", "b", "c")))
    [(('a',), ('b', 'c')), (('a', 'b'), ('c',)), (('a', 'c'), ('b',))]
    """
    first, *rest = names
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            yield (first, *chosen), tuple(name for name in rest if name not in chosen)


def run(frame: pl.DataFrame) -> list[Matches]:
    """Random buckets of 100 for each of the 63 pairs of columns."""
    return [count(frame, Setting("OCC-7", columns, "random", 100)) for columns in bipartitions(occ.OCC7)]


def table(found: list[Matches]) -> str:
    """For every number of the paper, the columns that come nearest to it, and what else they give."""
    lines = [("paper", "", *map(counted, PAPER.values()))]
    for place, (what, wanted) in enumerate(PAPER.items()):
        nearest = min(found, key=lambda each: abs(_numbers(each)[place] / wanted - 1))
        lines.append(
            (f"nearest in {what}", braced(nearest.setting.columns), *map(counted, _numbers(nearest)))
        )
    nearest = min(found, key=_worst)
    lines.append(("nearest in all three", braced(nearest.setting.columns), *map(counted, _numbers(nearest))))
    return markdown(("", "columns", *PAPER), lines)


def _numbers(each: Matches) -> tuple[float, float, float]:
    return each.fakes, each.fakes_by[2], each.originals_by[2]


def _worst(each: Matches) -> float:
    """How many times the number that differs most differs."""
    pairs = zip(_numbers(each), PAPER.values(), strict=True)
    return max(max(ours / paper, paper / ours) for ours, paper in pairs)
