"""Rows that a task is given, held as different rows and how often each is there."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

TIMES = "#"
ROWS_BEFORE = 4_000_000
ROWS_AT_ONCE = 500_000


def tallied(batches: Iterator[Any], fields: Sequence[str]) -> pl.DataFrame | None:
    """The different rows in the order of some fields, and how often each is there; nothing if there are none."""
    blocks: list[pl.DataFrame] = []
    for batch in filter(len, batches):
        blocks.append(pl.DataFrame(batch).with_columns(pl.lit(1, dtype=pl.Int64).alias(TIMES)))
        # Twice what is left from the last time at least, so that adding up costs no more than holding.
        if sum(block.height for block in blocks) > ROWS_BEFORE + 2 * blocks[0].height:
            blocks = [_summed(blocks)]
    return _summed(blocks).sort(fields, nulls_last=False) if blocks else None


def _summed(blocks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    rows = pl.concat(blocks)
    return rows.group_by(pl.exclude(TIMES)).agg(pl.col(TIMES).sum())


def pieces(counted: pl.DataFrame) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """All rows in their order, some at a time: their numbers, and the places of the different rows they are."""
    ends = np.cumsum(counted[TIMES].to_numpy())
    n_rows = int(ends[-1]) if ends.size else 0
    for start in range(0, n_rows, ROWS_AT_ONCE):
        numbers = np.arange(start, min(start + ROWS_AT_ONCE, n_rows))
        yield numbers, np.searchsorted(ends, numbers, side="right")
