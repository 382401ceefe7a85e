"""The reference for the optimal search: one Polars group_by for each node of the lattice."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import polars as pl

from manyveils.methods.work import suppression_limit
from manyveils.policy import Policy
from manyveils.table import Table
from manyveils.table.columns import Column

Node = tuple[int, ...]
SEED = 7


@dataclass(frozen=True)
class LabelColumns:
    """Every attribute at every level as a column of small integers, made before the clock starts."""

    frame: pl.DataFrame
    shape: tuple[int, ...]
    k: int
    limit: int

    @property
    def n_nodes(self) -> int:
        """How many nodes the lattice has."""
        return int(np.prod(self.shape))

    def nodes(self, n: int | None) -> list[Node]:
        """All nodes, or a random sample of n."""
        places = np.arange(self.n_nodes)
        if n is not None and n < places.size:
            places = np.random.default_rng(SEED).choice(places, n, replace=False)
        columns = np.unravel_index(places, self.shape)
        return [tuple(int(level) for level in node) for node in zip(*columns, strict=True)]


def label_columns(policy: Policy, table: Table, k: int) -> LabelColumns:
    """Recode every quasi-identifier to all its levels."""
    columns = [table[name] for name in policy.quasi]
    series = [
        _labels(column, place, level)
        for place, column in enumerate(columns)
        for level in range(len(column.levels))
    ]
    shape = tuple(len(column.levels) for column in columns)
    return LabelColumns(pl.DataFrame(series), shape, k, suppression_limit(policy, table))


def _labels(column: Column, place: int, level: int) -> pl.Series:
    labels = column.levels[level].label_of[column.codes]
    small = np.uint8 if len(column.levels[level].labels) < 256 else np.uint32
    return pl.Series(f"{place}.{level}", labels.astype(small))


def discernibility(labels: LabelColumns, node: Node) -> float:
    """The node's discernibility, infinite if it suppresses more rows than it may."""
    sizes = _class_sizes(labels, node)
    short = sizes < labels.k
    suppressed = int(sizes.filter(short).sum())
    if suppressed > labels.limit:
        return float("inf")
    published = sizes.filter(~short)
    return float((published * published).sum() + suppressed * labels.frame.height)


def _class_sizes(labels: LabelColumns, node: Node) -> pl.Series:
    # An attribute that is fully hidden tells nothing apart, so it costs the reference nothing.
    shown = [f"{place}.{level}" for place, level in enumerate(node) if level + 1 < labels.shape[place]]
    if not shown:
        return pl.Series("len", [labels.frame.height], dtype=pl.Int64)
    return labels.frame.group_by(shown).len()["len"].cast(pl.Int64)


def time_nodes(labels: LabelColumns, nodes: list[Node], *, repetitions: int = 2) -> tuple[float, float]:
    """Seconds for the nodes, each at its best, and the lowest discernibility among them."""
    total, lowest = 0.0, float("inf")
    for node in nodes:
        spans = []
        for _ in range(repetitions):
            start = perf_counter()
            cost = discernibility(labels, node)
            spans.append(perf_counter() - start)
        total, lowest = total + min(spans), min(lowest, cost)
    return total, lowest
