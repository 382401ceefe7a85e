"""Frames as Spark takes them."""

from typing import Any

import polars as pl


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
