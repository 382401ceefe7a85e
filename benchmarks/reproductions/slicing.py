"""Do the experiments of the slicing paper again: python -m benchmarks.reproductions.slicing [--only NAME]."""

import sys
from collections.abc import Callable
from functools import partial

import polars as pl

from benchmarks.reproductions import bipartitions, clusters, diverse, growth, learning, membership, occ
from benchmarks.reproductions.asked import asked_for, timed
from benchmarks.reproductions.page import DOCS, put

PAGE = DOCS / "slicing.md"


def _clusters(frame: pl.DataFrame) -> None:
    put(PAGE, "clusters", clusters.table(clusters.run(frame)))
    clusters.picture(frame)


def _membership(frame: pl.DataFrame) -> None:
    found = membership.run(frame)
    put(PAGE, "uniqueness", membership.uniqueness(frame))
    put(PAGE, "worked", membership.worked(frame))
    put(PAGE, "membership", membership.table(found))
    membership.picture(found)


def _diverse(frame: pl.DataFrame) -> None:
    put(PAGE, "diverse", diverse.table(frame))


def _bipartitions(frame: pl.DataFrame) -> None:
    put(PAGE, "bipartitions", bipartitions.table(bipartitions.run(frame)))


def _learning(frame: pl.DataFrame) -> None:
    found = learning.run(frame)
    put(PAGE, "learning", learning.table(found))
    learning.picture(found)


def _growth(frame: pl.DataFrame) -> None:
    found = growth.run(frame)
    put(PAGE, "rows", growth.by_rows(found))
    put(PAGE, "columns", growth.by_columns(found))
    growth.picture(found)


EXPERIMENTS: dict[str, Callable[[pl.DataFrame], None]] = {
    "clusters": _clusters,
    "membership": _membership,
    "diverse": _diverse,
    "bipartitions": _bipartitions,
    "learning": _learning,
    "growth": _growth,
}


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    wanted = asked_for(__doc__, EXPERIMENTS)
    if not occ.is_here():
        sys.exit(f"Nothing was reproduced: {occ.MISSING}.")
    frame = occ.read()
    for name in wanted:
        timed(name, partial(EXPERIMENTS[name], frame))


if __name__ == "__main__":
    main()
