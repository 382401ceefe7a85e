"""A plan carried out on rows where they are: batch by batch, by the code that carries it out everywhere.

Published values go by their ranks until they are written, since numbers are sorted and sent faster than texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.promises.work import Work
from manyveils.release.dealing import DealtView
from manyveils.release.plan import LeveledView
from manyveils.release.ranked import outlined, ranked, secret_in, shown_columns
from manyveils.release.seal import BUCKET, OutgoingColumn, OutgoingView, type_name
from manyveils.spark.counts import PART
from manyveils.spark.deal import Dealer, dealt
from manyveils.spark.held import Held
from manyveils.spark.joined import Collected
from manyveils.spark.parts import NOTE
from manyveils.spark.scramble import scrambled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True, repr=False)
class Unsorted:
    """Published rows in no order, the bucket first if there are any; where there are `values`, as packed ranks of them."""

    rows: "DataFrame"
    values: Mapping[str, pl.Series] | None = None
    n_buckets: int = 0


def leveled(held: Held, work: Work, view: LeveledView) -> OutgoingView:
    """A table whose attributes stand at levels."""
    return outlined(view, held, work.counts, lambda shown: _column(held, shown, held.rows))


def bucketed(held: Held, work: Work, view: DealtView) -> OutgoingView:
    """Columns inside buckets that rows are dealt to."""
    streams = work.streams.apart(view.name)
    dealer = Dealer(view, streams.secret("spark.order"), streams.secret("spark.buckets"))
    rows, forget = dealt(held, dealer)
    try:
        columns = tuple(
            _column(held, LeveledView("", column, lookups=view.lookups), rows, dealer.n_buckets)
            for column in shown_columns(view, held.sketch)
        )
        return OutgoingView(
            view.name,
            columns,
            rows.count(),
            True,
            enforces=view.enforces,
            secret=secret_in(view),
            forget=forget,
        )
    except BaseException:
        forget()
        raise


def _column(held: Held, view: LeveledView, rows: "DataFrame", n_buckets: int = 0) -> OutgoingColumn:
    """The one column of a view, made of rows that may have their buckets already."""
    told = ranked(held.without_rows(), view)
    beside = [BUCKET] if BUCKET in rows.columns else []

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {field: batch.column(field).to_numpy().astype(np.int64) for field in told.fields}
            # Rows of buckets are all published; what is left out was left out before.
            buckets = [batch.column(name) for name in beside]
            arrays = [*buckets, *map(pa.array, told.keys(raw))]
            yield pa.RecordBatch.from_arrays(arrays, names=[*beside, *told.packing.names])

    schema = ", ".join(f"{name} long" for name in [*beside, *told.packing.names])
    packed = rows.select(*beside, *told.fields).mapInArrow(make, schema)
    return OutgoingColumn(view.attributes, told.types, Unsorted(packed, told.values, n_buckets))


def made_in_parts(held: Held, work: Work, made: Collected) -> OutgoingView:
    """What was made part by part; attributes that no part has recoded have their own type again."""
    parts, fields = made.notes, made.fields()
    key, n_buckets = work.streams.secret("spark.buckets"), int(parts.first_buckets[-1])
    columns = []
    for attributes in parts.columns:
        dtypes = {
            name: pl.String() if name in parts.recoded else held.sketch[name].domain.dtype
            for name in attributes
        }
        kinds = {fields[name]: _spark_type(dtype) for name, dtype in dtypes.items()}
        rows = _numbered(made, list(kinds), key)
        chosen = rows.select(
            *([BUCKET] if parts.bucketed else []), *(rows[field].cast(kind) for field, kind in kinds.items())
        )
        types = {name: type_name(dtype) for name, dtype in dtypes.items()}
        columns.append(OutgoingColumn(attributes, types, Unsorted(chosen, n_buckets=n_buckets)))
    return OutgoingView(
        parts.view,
        tuple(columns),
        parts.n_rows,
        parts.bucketed,
        parts.covers(made.values),
        forget=made.rows.unpersist,
    )


def _numbered(made: Collected, fields: Sequence[str], key: bytes) -> "DataFrame":
    """Some fields of the published rows, with buckets that are numbered through all parts, and scrambled."""
    rows = made.rows.where(made.rows[NOTE].isNull()).select(PART, BUCKET, *fields)
    if not made.notes.bucketed:
        return rows
    first = made.notes.first_buckets

    def number(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            before = first[batch.column(PART).to_numpy()]
            buckets = scrambled(before + batch.column(BUCKET).to_numpy(), int(first[-1]), key)
            index = batch.schema.get_field_index(BUCKET)
            yield batch.set_column(index, BUCKET, pa.array(buckets))

    return rows.mapInArrow(number, rows.schema)


def _spark_type(dtype: pl.DataType) -> "DataType":
    """The type that Spark has for a published field."""
    from pyspark.sql import types as t

    kinds: dict[pl.DataType, DataType] = {
        pl.Int64(): t.LongType(),
        pl.Float64(): t.DoubleType(),
        pl.Boolean(): t.BooleanType(),
        pl.Date(): t.DateType(),
    }
    return kinds.get(dtype, t.StringType())
