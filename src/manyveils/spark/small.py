"""A table that fits the driver: brought there in one reading, for the local engine."""

from typing import TYPE_CHECKING

import polars as pl

from manyveils.policy import Policy
from manyveils.spark.arrow import frame_of
from manyveils.spark.held import refuse_garbled, refuse_types
from manyveils.spark.limits import whole_cells
from manyveils.spark.persons import refuse_nested
from manyveils.spark.source import Source
from manyveils.table.encode import refuse_columns
from manyveils.table.persons import keys_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def brought(source: Source, policy: Policy) -> pl.DataFrame | None:
    """All rows, if no more cells are looked at than fit the driver; columns that are not looked at are empty."""
    rows = source.rows
    refuse_columns(rows.columns, policy)
    refuse_types(rows, policy)
    refuse_nested(rows, keys_read(policy))
    names = list(dict.fromkeys([*policy.held, *keys_read(policy)]))
    if rows.count() * len(names) > whole_cells():
        return None
    frame = _collected(rows, names)
    if source.is_csv:
        refuse_garbled({name: frame[name] for name in policy.held})
    unread = [name for name in policy.attributes if name not in names]
    return frame.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in unread)


def _collected(rows: "DataFrame", names: list[str]) -> pl.DataFrame:
    """Some columns under their own names, which may have any character; decimals are texts with all their digits."""
    cells = [rows[f"`{name.replace('`', '``')}`"].alias(f"c{place}") for place, name in enumerate(names)]
    frame = frame_of(rows.select(*cells).toArrow())
    plain = (
        column.cast(pl.String) if column.dtype.is_decimal() else column for column in frame.get_columns()
    )
    return pl.DataFrame([column.alias(name) for column, name in zip(plain, names, strict=True)])
