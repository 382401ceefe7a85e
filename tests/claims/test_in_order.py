"""Rows are put in order digit by digit, and fields are numbered by what the original has: both are as the slow way says."""

import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from manyveils.reading.evidence import coded_among, coded_field
from manyveils.table.order import in_order

numbers = st.integers(0, 3) | st.integers(0, 2**17) | st.integers(0, 2**62)
words = st.sampled_from(["a", "b", "c", "", "{a, b}"])


@given(st.lists(numbers, max_size=30))
@example([2**16, 0, 2**16, 2**16 - 1, 2**32, 0])
def test_digits_sort_as_numbers_do(keys):
    """Equal numbers keep their order, and others stand as a stable sort of whole numbers has them."""
    array = np.array(keys, dtype=np.int64)
    assert in_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@given(st.lists(words, max_size=12), st.sets(words))
def test_fields_of_originals_are_numbered_without_gaps(cells, expected):
    """Every row has the number of its text, every number occurs, and any text that is not expected is noticed."""
    published = pl.Series(cells, dtype=pl.String)
    coded = coded_among(published, pl.Series(sorted(expected), dtype=pl.String))
    assert (coded is None) == (not set(cells) <= expected)
    if coded is not None:
        assert coded.values.gather(coded.codes).to_list() == cells
        assert len(coded.values) == len(set(cells)) == len(coded_field(published).values)


def test_a_label_far_down_and_a_missing_cell_are_noticed():
    """What the first rows do not show is no reason to take a field for one of originals."""
    expected = pl.Series(["a", "b"])
    assert coded_among(pl.Series(["a"] * 1_000 + ["*"]), expected) is None
    assert coded_among(pl.Series(["a"] * 1_000 + [None]), expected) is None
    assert coded_among(pl.Series([1, 2]), expected) is None
