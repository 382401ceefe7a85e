"""Different rows of a published table are brought if they fit, however many rows and combinations there may be."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from manyveils.spark.published import PublishedTable
from manyveils.table.counting import TooManyError


def table(spark, n_different):
    """A table of 300 rows over 30 times 30 values, of which so many are different."""
    rows = spark.createDataFrame(
        [(n % n_different % 30, n % n_different // 30) for n in range(300)], "c0 int, c1 int"
    )
    values = {name: pl.Series(name, range(30)) for name in ("a", "b")}
    return PublishedTable(Path("t"), SimpleNamespace(table="t"), ("a", "b"), rows, None, values, {}, 300)


def test_few_different_rows_are_brought(spark):
    """Neither many rows nor many combinations keep a table from the driver, only different rows do."""
    frame, counts = table(spark, 50).distinct(3 * 50)
    assert (frame.height, set(counts.tolist())) == (50, {6})
    assert frame["a"].is_sorted()
    for n_different in (51, 100):
        with pytest.raises(TooManyError, match="more than 50 different rows"):
            table(spark, n_different).distinct(3 * 50)
