"""A table replicated to a million rows with noise, so that copies are not all alike."""

import numpy as np
import polars as pl

NOISE = 0.01
SEED = 20240229


def replicated(frame: pl.DataFrame, copies: int) -> pl.DataFrame:
    """Copies of all rows in which one cell of a hundred has a random value of its column's domain."""
    rng = np.random.default_rng(SEED)
    return pl.DataFrame([_noisy(frame[name], copies, rng) for name in frame.columns])


def _noisy(column: pl.Series, copies: int, rng: np.random.Generator) -> pl.Series:
    domain = column.unique().sort()
    codes = np.tile(domain.search_sorted(column).to_numpy(), copies)
    strange = rng.random(codes.size) < NOISE
    codes[strange] = rng.integers(0, len(domain), int(strange.sum()))
    return domain.gather(codes).alias(column.name)
