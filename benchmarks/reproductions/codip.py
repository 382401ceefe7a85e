"""Do the experiments of the CODIP paper again: python -m benchmarks.reproductions.codip [--only NAME]."""

import sys
from collections.abc import Iterable
from functools import partial

import polars as pl

from benchmarks.reproductions import (
    census,
    codip_anonymity,
    codip_asked,
    codip_attributes,
    codip_closeness,
    codip_compared,
    codip_hierarchies,
    codip_ratios,
    codip_tables,
)
from benchmarks.reproductions.codip_plans import association_of
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce
from manyveils.methods.codip.association import Association

PAGE = DOCS / "codip.md"
MADE = Page(
    "codip",
    ("methods.codip", "methods.codip.plans", "datasets.papers"),
    ("codip",),
)
Figures = Iterable[Figure]


def _ratios(frame: pl.DataFrame, association: Association) -> Figures:
    found = codip_ratios.run(association)
    put(PAGE, "steps", codip_ratios.steps(found))
    put(PAGE, "ratios", codip_ratios.by_beta(found))
    codip_ratios.picture(found)
    return [codip_compared.figure_5(found)]


def _tables(frame: pl.DataFrame, association: Association) -> Figures:
    found = codip_tables.run(association)
    put(PAGE, "tables", codip_tables.table(found))
    codip_tables.picture(found)
    return [codip_compared.figure_6(found)]


def _attributes(frame: pl.DataFrame, association: Association) -> Figures:
    found = codip_attributes.run(association)
    put(PAGE, "attributes", codip_attributes.table(found))
    codip_attributes.picture(found)
    return [codip_compared.figure_7(found)]


def _closeness(frame: pl.DataFrame, association: Association) -> Figures:
    found = codip_closeness.run(frame, association)
    put(PAGE, "closeness", codip_closeness.table(found))
    codip_closeness.picture(found)
    return [codip_compared.figure_8(found)]


def _anonymity(frame: pl.DataFrame, association: Association) -> Figures:
    found = codip_anonymity.run(frame, association)
    put(PAGE, "anonymity", codip_anonymity.table(found))
    put(PAGE, "plans", codip_anonymity.by_plan(found))
    codip_anonymity.picture(found)
    return codip_compared.figure_9(found)


def _hierarchies(frame: pl.DataFrame, association: Association) -> None:
    put(PAGE, "hierarchies", codip_hierarchies.table(frame, association))


def _asked(frame: pl.DataFrame, association: Association) -> None:
    put(PAGE, "asked", codip_asked.table(frame))


def _worked() -> Figures:
    return [codip_compared.table_1()]


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    if not census.is_here():
        sys.exit(f"Nothing was reproduced: {census.MISSING}.")
    frame = census.read()
    association = association_of(frame)
    on_census = {
        "ratios": _ratios,
        "tables": _tables,
        "attributes": _attributes,
        "hierarchies": _hierarchies,
        "closeness": _closeness,
        "anonymity": _anonymity,
        "asked": _asked,
    }
    experiments = {name: partial(run, frame, association) for name, run in on_census.items()}
    reproduce(MADE, __doc__, {"worked": _worked, **experiments})


if __name__ == "__main__":
    main()
