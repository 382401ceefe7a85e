"""Which buckets match a combination of column values: sets of buckets as bits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release import Release, View
from manyveils.release.seal import BUCKET

Ids = NDArray[np.int64]
VALUE, COUNT = "#value", "#count"
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
    def variety(self) -> NDArray[np.int64]:
        """Per column and bucket, how many different values there are."""
        return np.stack(
            [np.bincount(pairs[BUCKET].to_numpy(), minlength=self.n_buckets) for pairs in self.pairs]
        )

    def matches(self, tuples: Ids) -> Ids:
        """For each tuple of value numbers (one row per column), how many buckets hold all its values; -1 is no value."""
        total = np.zeros(tuples.shape[1], dtype=np.int64)
        for words in self._blocks():
            for start in range(0, tuples.shape[1], CHUNK):
                part = tuples[:, start : start + CHUNK]
                held = words[0][part[0]]
                for bits, numbers in zip(words[1:], part[1:], strict=True):
                    held &= bits[numbers]
                total[start : start + CHUNK] += np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        return total

    def _blocks(self) -> Iterator[list[NDArray[np.uint64]]]:
        """Blocks of buckets: per column, the buckets of every value as bits; the last row is the value that is nowhere."""
        for start in range(0, self.n_buckets, BLOCK):
            n_words = -(-min(BLOCK, self.n_buckets - start) // 64)
            words = []
            for pairs, values in zip(self.pairs, self.values, strict=True):
                here = pairs.filter(pl.col(BUCKET).is_between(start, start + BLOCK - 1))
                place = here[BUCKET].to_numpy() - start
                bits = np.zeros((values.height + 1, n_words), dtype=np.uint64)
                np.bitwise_or.at(
                    bits,
                    (here[VALUE].to_numpy(), place // 64),
                    np.uint64(1) << (place % 64).astype(np.uint64),
                )
                words.append(bits)
            yield words


def buckets_of(release: Release, view: View, wanted: frozenset[str]) -> Buckets:
    """Read a view as buckets, each column cut down to the wanted attributes; columns without any are left out."""
    frames = [
        (release.frames[file.table], [name for name in file.attributes if name in wanted])
        for file in view.files
    ]
    kept = [(_with_bucket(frame, names, bucketed=view.bucketed), names) for frame, names in frames if names]
    values, pairs = [], []
    for frame, names in kept:
        distinct = frame.select(names).unique(maintain_order=True).with_row_index(VALUE)
        numbered = frame.join(distinct, on=names, how="left", nulls_equal=True)
        values.append(distinct.with_columns(pl.col(VALUE).cast(pl.Int64)))
        pairs.append(
            numbered.group_by(BUCKET, VALUE).len(COUNT).with_columns(pl.col(VALUE, COUNT).cast(pl.Int64))
        )
    sizes = np.bincount(kept[0][0][BUCKET].to_numpy()) if kept else np.zeros(0, dtype=np.int64)
    return Buckets(sizes, tuple(pairs), tuple(values))


def _with_bucket(frame: pl.DataFrame, names: list[str], *, bucketed: bool) -> pl.DataFrame:
    return (
        frame.select(BUCKET, *names)
        if bucketed
        else frame.select(pl.lit(0, dtype=pl.Int64).alias(BUCKET), *names)
    )
