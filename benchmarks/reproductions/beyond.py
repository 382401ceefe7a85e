"""Measure what goes one step past the papers: python -m benchmarks.reproductions.beyond [--only NAME]."""

import sys

from benchmarks import adult
from benchmarks.reproductions import beyond_angelize, beyond_downcoding, beyond_recipes, census, occ
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.running import Page, reproduce

PAGE = DOCS / "beyond.md"
MADE = Page(
    "beyond",
    (
        "methods.angelize",
        "attacks.downcoding",
        "attacks.finding",
        "attacks.groups",
        "attacks.knowledge",
        "utility.distribution",
        "utility.membership",
    ),
    ("anatomize", "angelize", "generalize", "separate", "slice"),
)


def _angelize() -> None:
    put(PAGE, "angelize", beyond_angelize.table(occ.read(occ.OCC7)))


def _recipes() -> None:
    put(PAGE, "recipes", beyond_recipes.table())


def _construction() -> None:
    put(PAGE, "construction", beyond_downcoding.construction())


def _adult() -> None:
    put(PAGE, "adult", beyond_downcoding.on_adult())


EXPERIMENTS = {"angelize": _angelize, "recipes": _recipes, "construction": _construction, "adult": _adult}


def main() -> None:
    """Run the experiments asked for, and put their tables into the page."""
    for is_here, missing in (
        (occ.is_here(), occ.MISSING),
        (census.is_here(), census.MISSING),
        (adult.is_here(), adult.MISSING),
    ):
        if not is_here:
            sys.exit(f"Nothing was measured: {missing}.")
    reproduce(MADE, __doc__, EXPERIMENTS)


if __name__ == "__main__":
    main()
