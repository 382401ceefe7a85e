"""A fifth of the people held back, so that models are tested on somebody who is not in the release."""

from pathlib import Path

import numpy as np
import polars as pl

from manyveils.errors import DataError, Problem
from manyveils.policy import Policy
from manyveils.table import Streams, take_in

LEAST_ROWS = 10
PARTS = 5


def split(data: Path | pl.DataFrame | None, policy: Policy, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Four fifths of the rows to publish, and a random fifth to test on."""
    source = policy.source if data is None else data
    frame, _ = take_in(source, delimiter=policy.data.delimiter)
    if frame.height < LEAST_ROWS:
        what = f"{frame.height} rows are too few to hold some out."
        raise DataError([Problem("learn", what, f"{LEAST_ROWS} are needed.")])
    rows = Streams(seed).of("compare.held-out").permutation(frame.height)
    is_held_out = np.zeros(frame.height, dtype=bool)
    is_held_out[rows[: frame.height // PARTS]] = True
    return frame.filter(~pl.Series(is_held_out)), frame.filter(pl.Series(is_held_out))
