"""Cells become numbers, and rows of numbers come back from the disk."""

import math
from datetime import date

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from manyveils.streaming.dictionary import Dictionary
from manyveils.streaming.rows import Writing, narrow

CELLS = {
    pl.String: st.sampled_from(["a", "b", "", "é", None]),
    pl.Int64: st.sampled_from([-(2**62), -1, 0, 7, 2**62, None]),
    pl.UInt64: st.sampled_from([0, 2**64 - 1, None]),
    pl.Float64: st.sampled_from([0.0, -0.0, 0.5, math.nan, None]),
    pl.Date: st.sampled_from([date(2020, 1, 1), date(1, 1, 1), None]),
    pl.Boolean: st.sampled_from([True, False, None]),
    pl.Int8: st.sampled_from([-128, 3, 127]),
}


@given(data=st.data(), dtype=st.sampled_from(list(CELLS)))
def test_dictionary(data, dtype):
    """Equal cells have one number and different cells different ones, whatever the batches, and cells are counted."""
    batches = data.draw(st.lists(st.lists(CELLS[dtype], max_size=6), max_size=5))
    known = Dictionary("cells", dtype())
    numbers = [known.numbered(pl.Series("cells", batch, dtype=dtype)) for batch in batches]
    cells = pl.Series([cell for batch in batches for cell in batch], dtype=dtype)
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *numbers]).astype(np.int64)
    back = known.values.gather(joined)
    assert back.equals(cells + 0.0 if dtype == pl.Float64 else cells, null_equal=True)
    assert known.values.n_unique() == len(known)
    assert known.counts.sum() == len(cells)
    assert np.array_equal(np.bincount(joined, minlength=len(known)), known.counts)


def test_categories():
    """Categories of different batches are told apart by their names."""
    known = Dictionary("cells", pl.Categorical())
    first = known.numbered(pl.Series("cells", ["b", "a"], dtype=pl.Categorical))
    second = known.numbered(pl.Series("cells", ["a", "c"], dtype=pl.Categorical))
    assert known.values.gather([*first, *second]).to_list() == ["b", "a", "a", "c"]


def test_widths(tmp_path):
    """A field is as narrow as its numbers, batch by batch, and comes back as it was written."""
    with Writing(tmp_path / "rows", ["a", "b"]) as writing:
        writing.add({"a": np.arange(3, dtype=np.uint8), "b": np.zeros(3, dtype=np.uint8)}, 3)
        writing.add({"a": np.array([70_000], dtype=narrow(70_001)), "b": np.ones(1, dtype=np.uint8)}, 1)
    rows = writing.rows
    assert [batch["a"].tolist() for batch in rows.batches(["a"])] == [[0, 1, 2], [70_000]]
    assert (tmp_path / "rows" / "a").stat().st_size == 3 + 4
    assert rows.n_rows == 4
