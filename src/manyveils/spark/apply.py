"""What was decided, applied to rows where they are: batch by batch, by the code that applies it everywhere.

Published values go by their ranks until they are written, since numbers are sorted and sent faster than texts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.methods.labelling import Lookups
from manyveils.methods.leveled import Leveled
from manyveils.release.draft import Draft
from manyveils.release.seal import BUCKET, coded_values, in_order
from manyveils.spark.held import Held
from manyveils.spark.packed import packing_of
from manyveils.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True, repr=False)
class Ranked:
    """Published rows in no order, as packed ranks of values, a bucket first if there are any; and the values by rank."""

    rows: "DataFrame"
    values: Mapping[str, pl.Series]


def leveled(held: Held, view: Leveled) -> Ranked:
    """The published table of a view."""
    fields = sorted({held.field(name) for name in view.needs})
    return _ranked(held, view, held.rows.select(*fields))


def bucketed(
    held: Held, placed: "DataFrame", attributes: tuple[str, ...], lookups: Lookups | None = None
) -> Ranked:
    """One published column of rows that have a bucket."""
    plain = Leveled("", attributes, lookups=lookups or {})
    fields = sorted({held.field(name) for name in plain.needs})
    return _ranked(held, plain, placed.select(BUCKET, *fields))


def _ranked(held: Held, view: Leveled, rows: "DataFrame") -> Ranked:
    here, ranks, values = held.without_rows(), {}, {}
    nobody = {held.field(name): np.zeros(0, dtype=np.int64) for name in view.needs}
    draft, table = _drafted(here, view, nobody)
    for name in view.columns:
        ranks[name], values[name] = in_order(coded_values(draft, name, table)[1])
    packing = packing_of(values)
    kept = [BUCKET] if BUCKET in rows.columns else []

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {each: batch.column(each).to_numpy().astype(np.int64) for each in nobody}
            draft, table = _drafted(here, view, raw)
            found = [rank[coded_values(draft, name, table)[0]] for name, rank in ranks.items()]
            # Rows of buckets are all published; what is left out was left out before.
            beside = [batch.column(each) for each in kept]
            yield pa.RecordBatch.from_arrays(
                [*beside, *map(pa.array, packing.packed(found))], names=[*kept, *packing.names]
            )

    schema = ", ".join(f"{each} long" for each in [*kept, *packing.names])
    return Ranked(rows.mapInArrow(make, schema), values)


def _drafted(held: Held, view: Leveled, raw: Mapping[str, NDArray[np.int64]]) -> tuple[Draft, Table]:
    table = held.table_of(raw, view.needs)
    return view.drafted(table), table


def spark_type(dtype: pl.DataType) -> "DataType":
    """The type that Spark has for a published field."""
    from pyspark.sql import types as t

    kinds: dict[pl.DataType, DataType] = {
        pl.Int64(): t.LongType(),
        pl.Float64(): t.DoubleType(),
        pl.Boolean(): t.BooleanType(),
        pl.Date(): t.DateType(),
    }
    return kinds.get(dtype, t.StringType())
