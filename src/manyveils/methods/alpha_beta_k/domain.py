"""The domain of an attribute: the lines of its hierarchy where one is written, else the values of the data."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import Lines
from manyveils.table import Attribute


def domain_size(column: Attribute, lines: Lines | None) -> int:
    """How many values there could be, a missing one included where it occurs and no hierarchy is written."""
    return len(lines) if lines else column.n_values


def domain_numbers(column: Attribute, lines: Lines | None) -> NDArray[np.float64]:
    """The different numbers of the domain in order; those of the data if the hierarchy lists none."""
    texts = pl.Series([line[0] for line in lines or ()], dtype=pl.String)
    listed = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    numbers: NDArray[np.float64] = np.unique(listed if listed.size else column.numbers)
    return numbers[np.isfinite(numbers)]
