"""Which hierarchies come near to what the paper tells: it does not give its own."""

from collections.abc import Iterable, Iterator
from itertools import product

import polars as pl

from benchmarks.reproductions import census
from benchmarks.reproductions.codip_anonymity import (
    KS,
    PAPER_NODES,
    PAPER_ONE_TABLE,
    PAPER_PLANS,
    THRESHOLDS,
    Judged,
    run,
)
from benchmarks.reproductions.codip_plans import Hierarchies
from benchmarks.reproductions.table import markdown
from manyveils.methods.codip.association import Association

AGES = ([5, 10, 20], [5, 10, 20, 40], [5, 10, 30], [5, 15, 30], [2, 4, 8, 16, 32])
RACES = {
    "White": ["White"],
    "Another": ["Black", "Asian or Pacific Islander", "Other", "Amer Indian Aleut or Eskimo"],
}
WHOLE = "whole"
# Found by a wide search that is not kept here; the page tells of it.
SOUGHT = [6, 12, 60]
KINDS = {
    "Born in the United States": census.CITIZENSHIPS["Native"][:1],
    "Native, born elsewhere": census.CITIZENSHIPS["Native"][1:],
    "Foreign born": census.CITIZENSHIPS["Foreign born"],
}


def choices() -> Iterator[tuple[tuple[str, str, str], Hierarchies]]:
    """All hierarchies tried, and how they are told."""
    races: dict[str, Hierarchies] = {WHOLE: {}, "White or not": {"race": {"tree": RACES}}}
    citizenships: dict[str, Hierarchies] = {
        WHOLE: {},
        "native or not": {"citizenship": {"tree": census.CITIZENSHIPS}},
    }
    for widths, race, citizenship in product(AGES, races, citizenships):
        told = (_years(widths), race, citizenship)
        yield told, {"age": {"widths": widths}, **races[race], **citizenships[citizenship]}
    kinds: Hierarchies = {"age": {"widths": SOUGHT}, "citizenship": {"tree": KINDS}}
    yield (f"{_years(SOUGHT)} (sought)", WHOLE, "three kinds"), kinds


def _years(widths: list[int]) -> str:
    return ", ".join(map(str, widths))


def table(frame: pl.DataFrame, association: Association) -> str:
    """A line for every choice; the six numbers of a cell are for k = 2, 5, 10, 20, 50 and 100."""
    headings = ["age, years", "race", "citizenship", "closeness of one table", "k-anonymizations"]
    headings += [f"plans with t = {t}" for t in THRESHOLDS]
    return markdown(headings, _lines(frame, association))


def _lines(frame: pl.DataFrame, association: Association) -> Iterator[tuple[str, ...]]:
    numbers = [PAPER_NODES, *(PAPER_PLANS[t] for t in THRESHOLDS)]
    closeness = _listed(f"{each:.2f}" for each in PAPER_ONE_TABLE)
    yield "paper", "not given", "not given", closeness, *(_listed(map(str, each)) for each in numbers)
    for told, hierarchies in choices():
        found = run(frame, association, hierarchies)
        assert [each.k for each in found] == list(KS)
        chosen = " (chosen)" if dict(hierarchies) == dict(census.HIERARCHIES) else ""
        yield told[0] + chosen, *told[1:], *_cells(found)


def _cells(found: list[Judged]) -> Iterator[str]:
    yield _listed("–" if each.one_table is None else f"{each.one_table:.2f}" for each in found)
    yield _listed(str(each.within) for each in found)
    for t in THRESHOLDS:
        yield _listed(str(each.plans(t)) for each in found)


def _listed(cells: Iterable[str]) -> str:
    return " ".join(cells)
