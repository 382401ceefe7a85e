"""Do the experiments of the CODIP paper again: python -m benchmarks.reproductions.codip [--only NAME]."""

import sys
from collections.abc import Callable
from functools import partial

import polars as pl

from benchmarks.reproductions import (
    census,
    codip_anonymity,
    codip_asked,
    codip_attributes,
    codip_closeness,
    codip_hierarchies,
    codip_ratios,
    codip_tables,
)
from benchmarks.reproductions.asked import asked_for, timed
from benchmarks.reproductions.codip_plans import association_of
from benchmarks.reproductions.page import DOCS, put
from manyveils.methods.codip.association import Association

PAGE = DOCS / "codip.md"


def _ratios(frame: pl.DataFrame, association: Association) -> None:
    found = codip_ratios.run(association)
    put(PAGE, "steps", codip_ratios.steps(found))
    put(PAGE, "ratios", codip_ratios.by_beta(found))
    codip_ratios.picture(found)


def _tables(frame: pl.DataFrame, association: Association) -> None:
    found = codip_tables.run(association)
    put(PAGE, "tables", codip_tables.table(found))
    codip_tables.picture(found)


def _attributes(frame: pl.DataFrame, association: Association) -> None:
    found = codip_attributes.run(association)
    put(PAGE, "attributes", codip_attributes.table(found))
    codip_attributes.picture(found)


def _closeness(frame: pl.DataFrame, association: Association) -> None:
    found = codip_closeness.run(frame, association)
    put(PAGE, "closeness", codip_closeness.table(found))
    codip_closeness.picture(found)


def _anonymity(frame: pl.DataFrame, association: Association) -> None:
    found = codip_anonymity.run(frame, association)
    put(PAGE, "anonymity", codip_anonymity.table(found))
    put(PAGE, "plans", codip_anonymity.by_plan(found))
    codip_anonymity.picture(found)


def _hierarchies(frame: pl.DataFrame, association: Association) -> None:
    put(PAGE, "hierarchies", codip_hierarchies.table(frame, association))


def _asked(frame: pl.DataFrame, association: Association) -> None:
    put(PAGE, "asked", codip_asked.table(frame))


EXPERIMENTS: dict[str, Callable[[pl.DataFrame, Association], None]] = {
    "ratios": _ratios,
    "tables": _tables,
    "attributes": _attributes,
    "hierarchies": _hierarchies,
    "closeness": _closeness,
    "anonymity": _anonymity,
    "asked": _asked,
}


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    wanted = asked_for(__doc__, EXPERIMENTS)
    if not census.is_here():
        sys.exit(f"Nothing was reproduced: {census.MISSING}.")
    frame = census.read()
    association = association_of(frame)
    for name in wanted:
        timed(name, partial(EXPERIMENTS[name], frame, association))


if __name__ == "__main__":
    main()
