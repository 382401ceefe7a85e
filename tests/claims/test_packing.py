"""Numbers packed into keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyveils.release.dealing import LARGEST_KEY
from manyveils.release.packing import Packing

SIZES = st.lists(st.sampled_from([1, 2, 7, 1000, 2**31, LARGEST_KEY]), min_size=1, max_size=6)


@given(data=st.data(), sizes=SIZES)
def test_keys_have_the_order_of_what_they_hold(data, sizes):
    """Rows come back as they were, and sort as their keys do."""
    packing = Packing(tuple(sizes), data.draw(st.sampled_from([1, 5000, LARGEST_KEY])))
    row = st.tuples(*(st.one_of(st.integers(0, size - 1), st.just(size - 1)) for size in sizes))
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    numbers = [np.array(each) for each in zip(*rows, strict=True)]
    keys = packing.packed(numbers)
    assert list(zip(*(each.tolist() for each in packing.unpacked(keys)), strict=True)) == rows
    together = list(zip(*(key.tolist() for key in keys), strict=True))
    order = sorted(range(len(rows)), key=rows.__getitem__)
    assert [rows[place] for place in sorted(range(len(rows)), key=together.__getitem__)] == [
        rows[place] for place in order
    ]


def test_few_keys():
    """What fits one key stands in one, and an empty dictionary takes no room."""
    assert Packing((30, 50, 0, 8)).names == ["k0"]
    assert Packing((0,)).names == ["k0"]
    assert Packing((2**31, 2**31, 2)).groups == [[0, 1], [2]]
    assert Packing((2**40, 2**40)).groups == [[0], [1]]
