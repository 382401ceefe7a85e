"""Which buckets match a combination of column values: sets of buckets as bits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.reading.columns import read_column
from manyveils.reading.cover import Ids
from manyveils.release import Release, View

BUCKET, VALUE, COUNT = "#bucket", "#value", "#count"
BLOCK = 4096
CHUNK = 50_000


@dataclass(frozen=True, repr=False)
class Buckets:
    """A view as buckets: for every column the different (bucket, value) pairs with their counts, values numbered."""

    sizes: Ids
    pairs: tuple[pl.DataFrame, ...]
    values: tuple[pl.DataFrame, ...]

    @property
    def n_buckets(self) -> int:
        """How many buckets there are; a view without buckets is one."""
        return self.sizes.size

    @property
    def combinations(self) -> NDArray[np.float64]:
        """How many combinations of column values each bucket allows."""
        buckets = (pairs[BUCKET].to_numpy() for pairs in self.pairs)
        return np.prod([np.bincount(bucket, minlength=self.n_buckets) * 1.0 for bucket in buckets], axis=0)

    def matches(self, tuples: Ids) -> Ids:
        """For each tuple of value numbers (one row per column), how many buckets hold all its values; -1 is no value."""
        total = np.zeros(tuples.shape[1], dtype=np.int64)
        for columns in self._blocks():
            for start in range(0, total.size, CHUNK):
                chunk = slice(start, start + CHUNK)
                bits = columns[0][tuples[0, chunk]]
                for column, values in zip(columns[1:], tuples[1:, chunk], strict=True):
                    bits &= column[values]
                total[chunk] += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        return total

    def _blocks(self) -> Iterator[list[NDArray[np.uint64]]]:
        """Blocks of buckets: per column, the buckets of every value as bits; the last row is the value that is nowhere."""
        for start in range(0, self.n_buckets, BLOCK):
            n_words = -(-min(BLOCK, self.n_buckets - start) // 64)
            block = []
            for pairs, values in zip(self.pairs, self.values, strict=True):
                inside = pairs.filter(pl.col(BUCKET).is_between(start, start + BLOCK - 1))
                index = inside[BUCKET].to_numpy() - start
                bits = np.zeros((values.height + 1, n_words), dtype=np.uint64)
                bit = np.uint64(1) << (index % 64).astype(np.uint64)
                np.bitwise_or.at(bits, (inside[VALUE].to_numpy(), index // 64), bit)
                block.append(bits)
            yield block


def buckets_of(release: Release, view: View, wanted: frozenset[str]) -> Buckets:
    """Read a view as buckets, each column cut down to the wanted attributes; columns without any are left out."""
    domains = release.reading.estimate.domains
    known = [(file, tuple(name for name in file.attributes if name in wanted)) for file in view.files]
    columns = [read_column(release, view, file, domains, names) for file, names in known if names]
    pairs, values = [], []
    for column in columns:
        rows = pl.DataFrame(dict(column.labels))
        distinct = rows.unique(maintain_order=True).with_row_index(VALUE).cast({VALUE: pl.Int64})
        numbers = rows.join(distinct, on=rows.columns, how="left", maintain_order="left")[VALUE]
        pairs.append(pl.DataFrame({BUCKET: column.buckets, VALUE: numbers, COUNT: column.counts}))
        cells = [column.texts[name].gather(distinct[name]).alias(name) for name in column.attributes]
        values.append(distinct.with_columns(cells))
    sizes = np.bincount(columns[0].buckets, weights=columns[0].counts) if columns else np.zeros(0)
    return Buckets(sizes.astype(np.int64), tuple(pairs), tuple(values))
