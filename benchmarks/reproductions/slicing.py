"""Do the experiments of the slicing paper again: python -m benchmarks.reproductions.slicing [--only NAME]."""

import sys
from collections.abc import Iterable
from functools import partial

import polars as pl

from benchmarks.reproductions import (
    bipartitions,
    clusters,
    diverse,
    growth,
    learning,
    membership,
    occ,
    same_partition,
    slicing_compared,
)
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce

PAGE = DOCS / "slicing.md"
MADE = Page(
    "slicing",
    ("methods.slice", "datasets.papers"),
    ("anatomize", "generalize", "slice"),
)
Figures = Iterable[Figure]


def _clusters(frame: pl.DataFrame) -> Figures:
    found = clusters.run(frame)
    put(PAGE, "clusters", clusters.table(found))
    clusters.picture(frame)
    return slicing_compared.columns(found)


def _membership(frame: pl.DataFrame) -> Figures:
    found = membership.run(frame)
    put(PAGE, "uniqueness", membership.uniqueness(frame))
    put(PAGE, "worked", membership.worked(frame))
    put(PAGE, "membership", membership.table(found))
    membership.picture(found)
    return [slicing_compared.matching(found)]


def _diverse(frame: pl.DataFrame) -> None:
    put(PAGE, "diverse", diverse.table(frame))


def _partition(frame: pl.DataFrame) -> None:
    put(PAGE, "partition", same_partition.table(frame.select(occ.OCC7)))


def _bipartitions(frame: pl.DataFrame) -> None:
    put(PAGE, "bipartitions", bipartitions.table(bipartitions.run(frame)))


def _learning(frame: pl.DataFrame) -> Figures:
    found = learning.run(frame)
    put(PAGE, "learning", learning.table(found))
    learning.picture(found)
    return [slicing_compared.learning(found)]


def _growth(frame: pl.DataFrame) -> None:
    found = growth.run(frame)
    put(PAGE, "rows", growth.by_rows(found))
    put(PAGE, "columns", growth.by_columns(found))
    growth.picture(found)


def _worked() -> Figures:
    return slicing_compared.tables_1()


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    if not occ.is_here():
        sys.exit(f"Nothing was reproduced: {occ.MISSING}.")
    frame = occ.read()
    on_adult = {
        "clusters": _clusters,
        "membership": _membership,
        "diverse": _diverse,
        "partition": _partition,
        "bipartitions": _bipartitions,
        "learning": _learning,
        "growth": _growth,
    }
    experiments = {name: partial(run, frame) for name, run in on_adult.items()}
    reproduce(MADE, __doc__, {"worked": _worked, **experiments})


if __name__ == "__main__":
    main()
