"""What was decided, applied to rows where they are: batch by batch, by the code that applies it everywhere."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.methods.labelling import Lookups
from manyveils.methods.leveled import Leveled
from manyveils.release.seal import unsorted_column
from manyveils.spark.arrow import plain_arrow
from manyveils.spark.held import Held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

# Fields of published tables go by number, since attributes may have any name.
FIELD = "f"


def leveled(held: Held, view: Leveled) -> "DataFrame":
    """The published table of a view, in no order."""
    known = view.needs
    fields = sorted({held.field(name) for name in known})

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            published = plain_arrow(_published(held_here, view, known, raw))
            names = [f"{FIELD}{n}" for n in range(published.num_columns)]
            yield from published.rename_columns(names).to_batches()

    # Rows are not sent along: a batch brings its own.
    held_here = held.without_rows()
    return held.rows.select(*fields).mapInArrow(make, _schema(published_schema(held, view)))


def bucketed(
    held: Held, placed: "DataFrame", attributes: tuple[str, ...], lookups: Lookups | None = None
) -> "DataFrame":
    """One published column of rows that have a bucket, in no order."""
    here = held.without_rows()
    plain = Leveled("", attributes, lookups=lookups or {})
    fields = sorted({held.field(name) for name in plain.needs})

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            published = plain_arrow(_published(here, plain, plain.needs, raw))
            named = published.rename_columns([f"{FIELD}{n + 1}" for n in range(published.num_columns)])
            yield from named.add_column(0, f"{FIELD}0", pa.array(batch.column("bucket"))).to_batches()

    schema = {"bucket": pl.Int64(), **published_schema(held, plain)}
    return placed.select("bucket", *fields).mapInArrow(make, _schema(schema))


def published_schema(held: Held, view: Leveled) -> Mapping[str, pl.DataType]:
    """The type of every published field."""
    known = view.needs
    nobody = {held.field(name): np.zeros(0, dtype=np.int64) for name in known}
    return _published(held, view, known, nobody).schema


def _published(held: Held, view: Leveled, known: tuple[str, ...], raw: Mapping[str, Any]) -> pl.DataFrame:
    table = held.table_of(raw, known)
    draft = view.drafted(table)
    return unsorted_column(draft, view.columns, table)


def _schema(schema: Mapping[str, pl.DataType]) -> Any:
    from pyspark.sql import types as t

    return t.StructType(
        [t.StructField(f"{FIELD}{place}", spark_type(dtype)) for place, dtype in enumerate(schema.values())]
    )


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
