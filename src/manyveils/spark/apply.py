"""What was decided, applied to rows where they are: batch by batch, by the code that applies it everywhere."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.methods.views import Leveled
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
    sample = _published(held, view, known, {field: np.zeros(0, dtype=np.int64) for field in fields})

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            published = _published(held_here, view, known, raw)
            yield from pa.Table.from_batches(published.to_arrow().to_batches(), schema=None).to_batches()

    # Rows are not sent along: a batch brings its own.
    held_here = Held(None, held.sketch, held.places)  # type: ignore[arg-type]
    return held.rows.select(*fields).mapInArrow(make, _schema(sample.schema))


def _published(held: Held, view: Leveled, known: tuple[str, ...], raw: Mapping[str, Any]) -> pl.DataFrame:
    table = held.table_of(raw, known)
    draft = view.drafted(table)
    frame = unsorted_column(draft, view.columns, table)
    return frame.rename({name: f"{FIELD}{place}" for place, name in enumerate(frame.columns)})


def _schema(schema: Mapping[str, pl.DataType]) -> Any:
    from pyspark.sql import types as t

    return t.StructType([t.StructField(name, _type(dtype)) for name, dtype in schema.items()])


def _type(dtype: pl.DataType) -> "DataType":
    from pyspark.sql import types as t

    kinds: dict[pl.DataType, DataType] = {
        pl.Int64(): t.LongType(),
        pl.Float64(): t.DoubleType(),
        pl.Boolean(): t.BooleanType(),
        pl.Date(): t.DateType(),
    }
    return kinds.get(dtype, t.StringType())
