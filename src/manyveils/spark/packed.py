"""Combinations counted by few keys, packed where the rows are: one long number is grouped and sent faster than several."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from manyveils.release.packing import Packing
from manyveils.table.sketch import COUNT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def counted(
    rows: "DataFrame", sizes: Mapping[str, int], most: int, beside: Sequence[str] = ()
) -> pl.DataFrame | None:
    """Different combinations of some fields, whose numbers are below `sizes`, with their counts; None if they are too many.

    Fields of `beside` may hold any numbers, or none.
    """
    from pyspark.sql import functions as f

    packing = Packing(tuple(sizes.values()))
    keys = _keys(packing, list(sizes)) if sizes else []
    grouped = rows.select(*beside, *keys).groupBy(*beside, *packing.names[: len(keys)])
    found = pl.DataFrame(grouped.agg(f.count(f.lit(1)).alias(COUNT)).limit(most + 1).toArrow())
    if found.height > most:
        return None
    numbers = packing.unpacked([found[name].to_numpy() for name in packing.names[: len(keys)]])
    fields = [pl.Series(name, own) for name, own in zip(sizes, numbers, strict=True)]
    return pl.DataFrame([*(found[name] for name in beside), *fields, found[COUNT]])


def _keys(packing: Packing, fields: Sequence[str]) -> "list[Column]":
    """The keys of a row, as `Packing` packs them here."""
    from pyspark.sql import functions as f

    keys = []
    for name, group in zip(packing.names, packing.groups, strict=True):
        key = f.lit(0).cast("long")
        for place in group:
            key = key * f.lit(max(packing.sizes[place], 1)) + f.col(fields[place])
        keys.append(key.alias(name))
    return keys
