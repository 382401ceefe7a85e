"""Frames as Spark takes them."""

from typing import Any

import polars as pl

from manyveils.errors import DataError, Problem

GARBLED = Problem("data", "they have texts that are not valid UTF-8.", "Correct them, or drop the column.")


class GarbledError(DataError):
    """Texts that are none."""


def plain_arrow(frame: pl.DataFrame) -> Any:
    """An Arrow table whose texts have the one type of text that Spark knows."""
    import pyarrow as pa

    table = frame.to_arrow()
    texts = (pa.types.is_large_string, pa.types.is_string_view)
    fields = [
        (each.name, pa.string() if any(is_text(each.type) for is_text in texts) else each.type)
        for each in table.schema
    ]
    return table.cast(pa.schema(fields))


def frame_of(table: Any) -> pl.DataFrame:
    """What Spark brought here; bytes that are no text would end the process that takes them for one."""
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise GarbledError([GARBLED]) from None
    return pl.DataFrame(table)
