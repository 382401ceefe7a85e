"""Rows dealt into buckets where they are: the rank of a row among its equals comes from a keyed hash of what it holds.

A task that is done again gives the same rows: no number is drawn, and rows that tie in everything are interchangeable.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils.release.dealing import DealtView
from manyveils.release.packing import Packing
from manyveils.spark.held import Held
from manyveils.spark.scramble import keyed_hash, scrambled
from manyveils.spark.tallied import TIMES, pieces, tallied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_OF_A_SLOT = 500_000
SLOT = ["combination", "slot"]


@dataclass(frozen=True, repr=False)
class Dealer:
    """A view and the keys that decide who falls where."""

    view: DealtView
    order: bytes
    numbers: bytes

    @property
    def n_buckets(self) -> int:
        """Buckets that are published."""
        return self.view.deal.n_buckets - self.view.left_out.size

    def bucket_of(self, combinations: Any, ranks: Any) -> Any:
        """The published number of each row's bucket; -1 for rows that are left out."""
        buckets = self.view.buckets_of(combinations, ranks)
        shown = buckets >= 0
        dense = buckets[shown] - np.searchsorted(np.sort(self.view.left_out), buckets[shown])
        buckets[shown] = scrambled(dense, self.n_buckets, self.numbers)
        return buckets


def dealt(held: Held, dealer: Dealer) -> "tuple[DataFrame, Callable[[], None]]":
    """The rows that are published, as numbers of raw values, each with its bucket; and how to let go of them."""
    fields = held.fields(dealer.view.needs)
    packing = Packing(tuple(held.sizes(fields).values()))
    rows = _hashed(held, dealer, fields, packing).persist()
    try:
        placed = _placed(rows, dealer, fields, packing).persist()
    except BaseException:
        rows.unpersist()
        raise

    def forget() -> None:
        placed.unpersist()
        rows.unpersist()

    return placed, forget


def _slots(view: DealtView) -> Any:
    """Into how many parts the rows of each combination are split, so that none has too many to be sorted by one task."""
    sizes = view.deal.stops - view.deal.starts + view.gone
    return np.maximum(-(-sizes // ROWS_OF_A_SLOT), 1)


def _hashed(held: Held, dealer: Dealer, fields: list[str], packing: Packing) -> "DataFrame":
    """Rows with the number of their combination of sensitive values, and the hash that orders its rows."""
    meanings, view, slots = held.without_rows(), dealer.view, _slots(dealer.view)

    def combine(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            raw = {name: batch.column(name).to_numpy().astype(np.int64) for name in fields}
            combinations = view.combinations_of(meanings.table_of(raw, view.dealt_by))
            keys = packing.packed([raw[name] for name in fields])
            hashes = keyed_hash(keys, dealer.order)
            slot = hashes % slots[combinations]
            columns = [*keys, combinations.astype(np.int32), slot.astype(np.int32), hashes]
            yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=names)

    names = [*packing.names, *SLOT, "hash"]
    kinds = [*("long" for _ in packing.names), "int", "int", "long"]
    schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    return held.rows.select(*fields).mapInArrow(combine, schema)


def _placed(rows: "DataFrame", dealer: Dealer, fields: list[str], packing: Packing) -> "DataFrame":
    """Rows with the buckets that their ranks among those of the same combination say: by slot, then by hash."""
    sizes = pl.DataFrame(rows.groupBy(*SLOT).count().toArrow()).sort(SLOT)
    before = sizes.with_columns(before=pl.col("count").cum_sum().over("combination") - pl.col("count"))
    n_parts = max(1, -(-int(sizes["count"].sum()) // ROWS_OF_A_SLOT))

    def deal(batches: Iterator[Any]) -> Iterator[Any]:
        counted = tallied(batches, [*SLOT, "hash", *packing.names])
        if counted is None:
            return
        counted = counted.with_columns(number=pl.col(TIMES).cum_sum() - pl.col(TIMES))
        counted = counted.join(before, on=SLOT, maintain_order="left")
        # The rank of the first row of a slot, less the number that it has here.
        shifts = counted.select(pl.col("before") - pl.col("number").min().over(SLOT)).to_series().to_numpy()
        combinations = counted["combination"].cast(pl.Int64).to_numpy()
        for numbers, indices in pieces(counted):
            buckets = dealer.bucket_of(combinations[indices], numbers + shifts[indices])
            rows = counted[indices]
            raw = packing.unpacked([rows[field].to_numpy() for field in packing.names])
            placed = pl.DataFrame({"bucket": buckets, **dict(zip(fields, raw, strict=True))})
            shown = placed.filter(buckets >= 0).with_columns(pl.col(fields).cast(pl.Int32))
            yield from shown.to_arrow().to_batches()

    schema = ", ".join(["bucket long", *(f"{name} int" for name in fields)])
    return rows.repartition(n_parts, *SLOT).mapInArrow(deal, schema)
