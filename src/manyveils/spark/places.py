"""Files as Spark names them."""

import re
from pathlib import Path

import polars as pl

# What Spark takes for a pattern of names, unless a backslash stands before it.
PATTERN = re.compile(r"([\\*?\[\]{}])")


def address(path: Path) -> str:
    """The address of a file or folder that driver and executors see under the same path."""
    return "file://" + PATTERN.sub(r"\\\1", str(path.absolute()))


def schema_of(path: Path) -> pl.Schema:
    """The columns of a parquet file, whose name is no pattern either."""
    return pl.scan_parquet(path, glob=False).collect_schema()
