"""Rows dealt into buckets where they are: the rank of a row among its equals comes from a keyed hash of what it holds.

A task that is done again gives the same rows: no number is drawn, and rows that tie in everything are interchangeable.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.methods.dealt import Dealt
from manyveils.spark.held import Held
from manyveils.spark.scramble import scrambled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_SLOT = 500_000


@dataclass(frozen=True, repr=False)
class Dealer:
    """A view and the keys that decide who falls where."""

    view: Dealt
    order: bytes
    numbers: bytes

    @property
    def n_buckets(self) -> int:
        """Buckets that are published."""
        return self.view.deal.n_buckets - self.view.lost.size

    def bucket_of(self, combinations: Any, ranks: Any) -> Any:
        """The published number of each row's bucket; -1 for rows that are left out."""
        buckets = self.view.buckets_of(combinations, ranks)
        shown = buckets >= 0
        dense = buckets[shown] - np.searchsorted(np.sort(self.view.lost), buckets[shown])
        buckets[shown] = scrambled(dense, self.n_buckets, self.numbers)
        return buckets


def dealt(held: Held, dealer: Dealer) -> "tuple[DataFrame, Callable[[], None]]":
    """The rows that are published, as numbers of raw values, each with its bucket; and how to let go of them."""
    from pyspark.sql import functions as f

    view = dealer.view
    fields = sorted({held.field(name) for name in view.needs})
    rows = _combined(held, view, fields)
    texts = [f.col(each).cast("string") for each in fields]
    digest = f.sha2(f.concat_ws("|", f.lit(dealer.order.hex()), *texts), 256)
    # Fifteen digits fit a signed number of 64 bits.
    rows = rows.withColumn("hash", f.conv(f.substring(digest, 1, 15), 16, 10).cast("long"))
    rows = rows.withColumn("slot", f.pmod(f.col("hash"), f.lit(_slots(view)))).persist()
    placed = _placed(_ranked(rows, fields), dealer, fields)

    def forget() -> None:
        placed.unpersist()
        rows.unpersist()

    return placed, forget


def _slots(view: Dealt) -> int:
    """Into how many parts equal rows are split, so that none is too long to be sorted by one task."""
    most = int((view.deal.stops - view.deal.starts + view.gone).max(initial=1))
    return max(-(-most // ROWS_OF_A_SLOT), 1)


def _combined(held: Held, view: Dealt, fields: list[str]) -> "DataFrame":
    """Rows with the number of their combination of sensitive values."""
    here = held.without_rows()

    def combine(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            numbers = view.combinations_of(here.table_of(raw, view.dealt_by))
            yield pa.RecordBatch.from_arrays(
                [*(batch.column(name) for name in fields), pa.array(numbers, type=pa.int32())],
                names=[*fields, "combination"],
            )

    schema = ", ".join(f"{name} int" for name in [*fields, "combination"])
    return held.rows.select(*fields).mapInArrow(combine, schema)


def _ranked(rows: "DataFrame", fields: list[str]) -> "DataFrame":
    """Rows with their rank among those of the same combination: first by slot, then by hash inside it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    sizes = pl.DataFrame(rows.groupBy("combination", "slot").count().toArrow()).sort("combination", "slot")
    before = sizes.with_columns(before=pl.col("count").cum_sum().over("combination") - pl.col("count")).drop(
        "count"
    )
    offsets = rows.sparkSession.createDataFrame(before.to_arrow())
    within = Window.partitionBy("combination", "slot").orderBy("hash", *fields)
    ranked = rows.withColumn("place", f.row_number().over(within))
    joined = ranked.join(f.broadcast(offsets), ["combination", "slot"])
    return joined.select(*fields, "combination", (f.col("before") + f.col("place") - 1).alias("rank"))


def _placed(rows: "DataFrame", dealer: Dealer, fields: list[str]) -> "DataFrame":
    def place(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            combinations = batch.column("combination").to_numpy().astype(np.int64)
            buckets = dealer.bucket_of(combinations, batch.column("rank").to_numpy().astype(np.int64))
            shown = pa.array(buckets >= 0)
            placed = pa.RecordBatch.from_arrays(
                [pa.array(buckets), *(batch.column(name) for name in fields)], names=["bucket", *fields]
            )
            yield placed.filter(shown)

    schema = ", ".join(["bucket long", *(f"{name} int" for name in fields)])
    return rows.mapInArrow(place, schema).persist()
