"""A table written batch by batch has the bytes of the table written at once."""

import polars as pl
import pytest

from manyveils.release.writing import Streamed, write_batches, write_table


def streamed(frame, most):
    """The rows of a frame, some at a time."""

    def rows(sizes):
        start = 0
        for size in [most] * (frame.height // most + 1) if isinstance(sizes, int) else sizes:
            if start < frame.height:
                yield frame.slice(start, size)
            start += size

    return Streamed(dict(frame.schema), frame.height, rows)


@pytest.mark.parametrize("n_rows", [0, 1, 1000, 122_881, 300_000, 700_001])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_same_bytes(tmp_path, n_rows, kind):
    """Whatever the number of rows, of one column and of several, with missing cells and texts that need quotes."""
    numbers = pl.int_range(n_rows, eager=True).alias("n")
    frame = pl.DataFrame(
        [
            numbers // 7,
            (numbers % 1000).cast(pl.String).alias("text").set(numbers % 1000 == 3, 'a, "b"'),
            (numbers / 3).set(numbers % 5 == 0, None).alias("x"),
        ]
    )
    for number, table in enumerate((frame, frame.select("text"), frame.select("x"))):
        write_table(table, tmp_path / f"{number}.one", format=kind)
        write_batches(streamed(table, 7777), tmp_path / f"{number}.other", format=kind)
        assert (tmp_path / f"{number}.one").read_bytes() == (tmp_path / f"{number}.other").read_bytes()
