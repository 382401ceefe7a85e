"""Do the experiments of the versatile-publishing paper again: python -m benchmarks.reproductions.guardian [--only NAME]."""

import sys
from collections.abc import Iterable

from benchmarks.reproductions import (
    guardian_adult,
    guardian_compared,
    guardian_cycles,
    guardian_discharges,
    guardian_marginals,
    guardian_methods,
    guardian_pairs,
    guardian_program,
    guardian_queries,
    guardian_rules,
    guardian_score,
    occ,
)
from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce
from manyveils.datasets import discharges

PAGE = DOCS / "guardian.md"
MADE = Page(
    "guardian",
    ("methods.guardian", "methods.multi_sa", "datasets.inpatients", "datasets.papers"),
    ("guardian", "multi-sa", "separate"),
)
Figures = Iterable[Figure]


def _methods() -> Figures:
    frame = guardian_adult.coarsened()
    found = guardian_methods.run(frame)
    put(PAGE, "pool", guardian_methods.pool(frame))
    put(PAGE, "losses", guardian_methods.losses(found))
    put(PAGE, "errors", guardian_methods.errors(found))
    put(PAGE, "hidden", guardian_methods.hidden(found))
    put(PAGE, "times", guardian_methods.times(found))
    guardian_methods.picture(found)
    return guardian_compared.on_adult(found)


def _pairs() -> None:
    put(PAGE, "pairs", guardian_pairs.table(guardian_adult.coarsened()))


def _marginals() -> None:
    put(PAGE, "marginals", guardian_marginals.table(guardian_adult.coarsened()))


def _score() -> None:
    put(PAGE, "score", guardian_score.table(guardian_adult.coarsened()))


def _discharges() -> Figures:
    frame = discharges()
    found = guardian_discharges.run(frame)
    put(PAGE, "discharges", guardian_discharges.table(found))
    guardian_discharges.picture(found)
    return [guardian_compared.table_5(*frame.shape), *guardian_compared.on_discharges(found)]


def _repairs() -> None:
    put(PAGE, "repairs", guardian_discharges.repairs(guardian_discharges.repaired(discharges())))


def _cycles() -> None:
    tables = (("Adult", guardian_adult.coarsened()), ("discharges", discharges()))
    put(PAGE, "cycles", guardian_cycles.table(tables))


def _program() -> None:
    put(PAGE, "program", guardian_program.table(guardian_adult.coarsened()))


def _queries() -> Figures:
    found = guardian_queries.run(discharges())
    put(PAGE, "attributes", guardian_queries.by_attributes(found))
    put(PAGE, "share", guardian_queries.by_share(found))
    guardian_queries.picture(found)
    return guardian_compared.on_queries(found)


def _left() -> Figures:
    found = guardian_rules.by_left(discharges())
    put(PAGE, "left", guardian_rules.left_table(found))
    guardian_rules.left_picture(found)
    return [guardian_compared.by_left(found)]


def _diversity() -> Figures:
    found = guardian_rules.by_diversity(discharges())
    put(PAGE, "diversity", guardian_rules.diversity_table(found))
    guardian_rules.diversity_picture(found)
    return [guardian_compared.by_diversity(found)]


def _worked() -> Figures:
    return guardian_compared.tables_2_to_4()


ON_ADULT = {
    "methods": _methods,
    "marginals": _marginals,
    "pairs": _pairs,
    "cycles": _cycles,
    "program": _program,
    "score": _score,
}
GENERATED = {
    "discharges": _discharges,
    "repairs": _repairs,
    "queries": _queries,
    "left": _left,
    "diversity": _diversity,
}


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    if not occ.is_here():
        sys.exit(f"Nothing was reproduced: {occ.MISSING}.")
    reproduce(MADE, __doc__, {"worked": _worked, **ON_ADULT, **GENERATED})


if __name__ == "__main__":
    main()
