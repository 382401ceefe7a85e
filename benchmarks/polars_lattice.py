"""The reference for the optimal search: one Polars group_by for each node of the lattice."""

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
import polars as pl

from manyveils.policy import Policy
from manyveils.policy.guarantees import exact
from manyveils.table import Table
from manyveils.table.attributes import Attribute

Node = tuple[int, ...]
SEED = 7


@dataclass(frozen=True)
class LabelColumns:
    """Every attribute at every level as a column of small integers, made before the clock starts."""

    frame: pl.DataFrame
    sizes: dict[str, int]
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


Form = Callable[[LabelColumns, list[str]], pl.DataFrame]


def label_columns(policy: Policy, table: Table, k: int) -> LabelColumns:
    """Recode every quasi-identifier to all its levels."""
    columns = [table[name] for name in policy.quasi]
    series = [
        _labels(column, place, level)
        for place, column in enumerate(columns)
        for level in range(len(column.levels))
    ]
    shape = tuple(len(column.levels) for column in columns)
    sizes = {column.name: int(column.max()) + 1 for column in series}
    limit = int(exact(policy.publish.suppression) * table.n_people)
    return LabelColumns(pl.DataFrame(series), sizes, shape, k, limit)


def _labels(column: Attribute, place: int, level: int) -> pl.Series:
    labels = column.levels[level].label_of[column.codes]
    small = np.uint8 if len(column.levels[level].labels) < 256 else np.uint32
    return pl.Series(f"{place}.{level}", labels.astype(small))


def discernibility(labels: LabelColumns, node: Node, form: Form) -> float:
    """The node's discernibility, infinite if it suppresses more rows than it may."""
    sizes = _class_sizes(labels, node, form)
    short = sizes < labels.k
    suppressed = int(sizes.filter(short).sum())
    if suppressed > labels.limit:
        return float("inf")
    published = sizes.filter(~short)
    return float((published * published).sum() + suppressed * labels.frame.height)


def _class_sizes(labels: LabelColumns, node: Node, form: Form) -> pl.Series:
    # An attribute that is fully hidden tells nothing apart, so it costs the reference nothing.
    shown = [f"{place}.{level}" for place, level in enumerate(node) if level + 1 < labels.shape[place]]
    if not shown:
        return pl.Series("len", [labels.frame.height], dtype=pl.Int64)
    return form(labels, shown)["len"].cast(pl.Int64)


def by_columns(labels: LabelColumns, shown: list[str]) -> pl.DataFrame:
    """Group by all columns, by Polars' fastest engine for it."""
    return labels.frame.lazy().group_by(shown).len().collect(engine="streaming")


def by_packed_key(labels: LabelColumns, shown: list[str]) -> pl.DataFrame:
    """Group by one number that stands for all columns."""
    span = math.prod(labels.sizes[name] for name in shown)
    wide = pl.UInt32 if span < 2**32 else pl.UInt64
    key = pl.lit(0, dtype=wide)
    for name in shown:
        key = key * labels.sizes[name] + pl.col(name).cast(wide)
    return labels.frame.select(key.alias("key")).group_by("key").len()


FORMS: tuple[Form, ...] = (by_columns, by_packed_key)


def time_nodes(labels: LabelColumns, nodes: list[Node]) -> float:
    """Seconds for the nodes, each in the form that is faster for it, at its best of two."""
    gc.collect()
    return sum(min(_span(labels, node, form) for form in FORMS for _ in range(2)) for node in nodes)


def _span(labels: LabelColumns, node: Node, form: Form) -> float:
    start, used = perf_counter(), process_time()
    discernibility(labels, node, form)
    return min(perf_counter() - start, process_time() - used)
