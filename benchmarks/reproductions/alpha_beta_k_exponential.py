"""What Definition 1 leaves of a table: the rows that a release could keep, and what it would make of them."""

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

import polars as pl

from benchmarks.reproductions.alpha_beta_k_trials import EXPONENTIAL, Asked, original_of, tried
from benchmarks.reproductions.table import counted, markdown
from manyveils.datasets.registry import SENSITIVE

NUMBERS, DIVERSITIES = (2, 3, 4), (2, 3, 4)


def largest_part(frame: pl.DataFrame, names: Sequence[str], l: int) -> pl.DataFrame:
    """The most rows of which one group keeps Definition 1.

    A row whose other values come with fewer than l values of an attribute can be in no such group, so it goes, until
    none is left to go.

    >>> table = pl.DataFrame({"site": ["a", "a", "b", "b", "c"], "kind": ["x", "y", "x", "y", "x"]})
    >>> largest_part(table, ["site", "kind"], 2)["site"].to_list()
    ['a', 'a', 'b', 'b']
    """
    left = frame
    while True:
        before = left.height
        for name in names:
            others = [other for other in names if other != name]
            n_values = pl.col(name).n_unique()
            left = left.filter((n_values.over(others) if others else n_values) >= l)
        if left.height == before:
            return left


def table(frame: pl.DataFrame, k: int = 20) -> str:
    """For few attributes and values: the rows kept, and the groups that Mondrian makes of them."""
    headings = (
        "i",
        "ℓ",
        "ℓ^i",
        "rows that can be kept",
        "groups made of them",
        "smallest group",
        "mean group",
    )
    return markdown(headings, _lines(frame, k))


def _lines(frame: pl.DataFrame, k: int) -> Iterator[tuple[object, ...]]:
    for i, l in product(NUMBERS, DIVERSITIES):
        kept = largest_part(frame, SENSITIVE[:i], l)
        yield i, l, l**i, counted(kept.height), *_groups(kept, Asked(k, l, i))


def _groups(kept: pl.DataFrame, asked: Asked) -> tuple[str, str, str]:
    made = tried(original_of(kept, asked.i), EXPONENTIAL, asked) if kept.height >= asked.k else None
    if made is None:
        return "–", "–", "–"
    return counted(len(made.sizes)), counted(min(made.sizes)), counted(fmean(made.sizes))
