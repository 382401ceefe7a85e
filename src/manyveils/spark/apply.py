"""What was decided, applied to rows where they are: batch by batch, by the code that applies it everywhere."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.methods.leveled import Leveled
from manyveils.release.seal import unsorted_column
from manyveils.spark.held import Held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

# Fields of published tables go by number, since attributes may have any name.
FIELD = "f"


def leveled(held: Held, view: Leveled) -> "DataFrame":
    """The published table of a view, in no order."""
    known = tuple(dict.fromkeys((*view.columns, *view.levels)))
    fields = sorted({held.field(name) for name in known})

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            published = _published(held_here, view, known, raw)
            renamed = published.to_arrow().rename_columns([f"{FIELD}{n}" for n in range(published.width)])
            yield from renamed.cast(_plain(renamed.schema, pa)).to_batches()

    # Rows are not sent along: a batch brings its own.
    held_here = held.without_rows()
    return held.rows.select(*fields).mapInArrow(make, _schema(published_schema(held, view)))


def bucketed(held: Held, placed: "DataFrame", attributes: tuple[str, ...]) -> "DataFrame":
    """One published column of rows that have a bucket, in no order."""
    fields = sorted({held.field(name) for name in attributes})
    here = held.without_rows()
    plain = Leveled("", attributes)

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            published = _published(here, plain, attributes, raw).to_arrow()
            named = published.rename_columns([f"{FIELD}{n + 1}" for n in range(published.num_columns)])
            cast = named.cast(_plain(named.schema, pa))
            yield from cast.add_column(0, f"{FIELD}0", pa.array(batch.column("bucket"))).to_batches()

    schema = {"bucket": pl.Int64(), **published_schema(held, plain)}
    return placed.select("bucket", *fields).mapInArrow(make, _schema(schema))


def published_schema(held: Held, view: Leveled) -> Mapping[str, pl.DataType]:
    """The type of every published field."""
    known = tuple(dict.fromkeys((*view.columns, *view.levels)))
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


def _plain(schema: Any, pa: Any) -> Any:
    """Texts as Spark expects them."""
    return pa.schema(
        [
            (
                each.name,
                pa.string()
                if pa.types.is_large_string(each.type) or str(each.type) == "string_view"
                else each.type,
            )
            for each in schema
        ]
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
