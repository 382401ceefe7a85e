"""Do the experiments of the versatile-publishing paper again: python -m benchmarks.reproductions.guardian [--only NAME]."""

import sys
from collections.abc import Callable

from benchmarks.reproductions import (
    guardian_adult,
    guardian_cycles,
    guardian_discharges,
    guardian_methods,
    guardian_pairs,
    guardian_program,
    guardian_queries,
    guardian_rules,
    occ,
)
from benchmarks.reproductions.asked import asked_for, timed
from benchmarks.reproductions.page import DOCS, put
from manyveils.datasets import discharges

PAGE = DOCS / "guardian.md"


def _methods() -> None:
    frame = guardian_adult.coarsened()
    found = guardian_methods.run(frame)
    put(PAGE, "pool", guardian_methods.pool(frame))
    put(PAGE, "losses", guardian_methods.losses(found))
    put(PAGE, "errors", guardian_methods.errors(found))
    put(PAGE, "hidden", guardian_methods.hidden(found))
    put(PAGE, "times", guardian_methods.times(found))
    guardian_methods.picture(found)


def _pairs() -> None:
    put(PAGE, "pairs", guardian_pairs.table(guardian_adult.coarsened()))


def _discharges() -> None:
    found = guardian_discharges.run(discharges())
    put(PAGE, "discharges", guardian_discharges.table(found))
    guardian_discharges.picture(found)


def _repairs() -> None:
    put(PAGE, "repairs", guardian_discharges.repairs(guardian_discharges.repaired(discharges())))


def _cycles() -> None:
    tables = (("Adult", guardian_adult.coarsened()), ("discharges", discharges()))
    put(PAGE, "cycles", guardian_cycles.table(tables))


def _program() -> None:
    put(PAGE, "program", guardian_program.table(guardian_adult.coarsened()))


def _queries() -> None:
    found = guardian_queries.run(discharges())
    put(PAGE, "attributes", guardian_queries.by_attributes(found))
    put(PAGE, "share", guardian_queries.by_share(found))
    guardian_queries.picture(found)


def _left() -> None:
    found = guardian_rules.by_left(discharges())
    put(PAGE, "left", guardian_rules.left_table(found))
    guardian_rules.left_picture(found)


def _diversity() -> None:
    found = guardian_rules.by_diversity(discharges())
    put(PAGE, "diversity", guardian_rules.diversity_table(found))
    guardian_rules.diversity_picture(found)


EXPERIMENTS: dict[str, Callable[[], None]] = {
    "methods": _methods,
    "pairs": _pairs,
    "discharges": _discharges,
    "repairs": _repairs,
    "cycles": _cycles,
    "program": _program,
    "queries": _queries,
    "left": _left,
    "diversity": _diversity,
}
ON_ADULT = ("methods", "pairs", "cycles", "program")


def main() -> None:
    """Run the experiments asked for, and put their tables and pictures into the page."""
    wanted = asked_for(__doc__, EXPERIMENTS)
    if not occ.is_here():
        wanted = [name for name in wanted if name not in ON_ADULT]
        print(f"Nothing is done on Adult: {occ.MISSING}.", file=sys.stderr)
    for name in wanted:
        timed(name, EXPERIMENTS[name])


if __name__ == "__main__":
    main()
