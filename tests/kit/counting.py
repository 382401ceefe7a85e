"""A table as an engine counts it: distinct rows, each with how many people have it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from manyveils.table import Table


def counted_once(table: Table, names: Sequence[str]) -> Table:
    """The distinct rows of some columns, each with how many people have it."""
    if not names:
        return replace(table, attributes={}, n_rows=1, weights=np.array([table.n_people]))
    frame = pl.DataFrame({name: table[name].codes for name in names})
    frame = frame.group_by(*names).agg(pl.len().cast(pl.Int64).alias("#")).sort(*names)
    weights = frame["#"].to_numpy()
    columns = {name: replace(table[name], codes=frame[name].to_numpy(), weights=weights) for name in names}
    return replace(table, attributes=columns, n_rows=frame.height, weights=weights)
