"""Buckets for several sensitive attributes never hold a protected value twice."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.methods.anatomize.crowd import gather, kinds_of


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_protected_value_twice(data):
    """Whatever is placed shares no protected value with its bucket, and buckets have the size asked or one more."""
    n = data.draw(st.integers(1, 40))
    size = data.draw(st.integers(1, 4))
    values = [
        np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    protected = [np.array(data.draw(st.lists(st.booleans(), min_size=5, max_size=5))) for _ in values]
    buckets = gather(kinds_of(values, protected), np.arange(n), size, np.random.default_rng(1), n)
    for bucket in set(buckets[buckets >= 0].tolist()):
        rows = np.flatnonzero(buckets == bucket)
        assert size <= rows.size <= size + 1
        for codes, flags in zip(values, protected, strict=True):
            held = [code for code in codes[rows].tolist() if flags[code]]
            assert len(held) == len(set(held))


def test_everything_is_placed_when_there_is_room():
    """Two independent attributes with many values each leave nobody without a place."""
    rng = np.random.default_rng(5)
    values = [rng.integers(0, 10, 3000), rng.integers(0, 12, 3000)]
    kinds = kinds_of(values, [np.ones(10, dtype=bool), np.ones(12, dtype=bool)])
    buckets = gather(kinds, np.arange(3000), 3, np.random.default_rng(1), 0)
    assert (buckets >= 0).all()
