"""Sealing publishes multisets and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.release import Draft, seal
from manyveils.table import hold
from tests.kit.conformance import impossible
from tests.kit.strategies import cases


def sealed(case, order, buckets, seed=1):
    """A bucketed release made of rows listed in some order."""
    policy = case.policy
    table, restore = hold(case.frame, policy)
    sensitive = policy.sensitive
    known = tuple(name for name in policy.published if name not in sensitive)
    draft = Draft("main", (known, sensitive), np.array(order), buckets=np.array(buckets)[order])
    return seal((draft,), table, policy, restore, notes={}, rng=np.random.default_rng(seed))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_order_of_rows_does_not_show(data):
    """Rows listed in any order give the same files."""
    case = data.draw(cases({"method": "anatomize"}))
    n = case.frame.height
    buckets = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    one = sealed(case, list(range(n)), buckets)
    other = sealed(case, data.draw(st.permutations(range(n))), buckets)
    assert all(one.frames[name].equals(other.frames[name]) for name in one.frames)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_columns_are_sorted_by_themselves(data):
    """Inside a bucket each column is sorted by its own values, so positions link nothing."""
    case = data.draw(cases({"method": "anatomize"}))
    n = case.frame.height
    release = sealed(case, list(range(n)), data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    for frame in release.frames.values():
        assert frame.equals(frame.sort(frame.columns, nulls_last=False))
        assert frame.columns[0] == "bucket"
        assert sorted(set(frame["bucket"].to_list())) == list(range(frame["bucket"].n_unique()))


def test_identifiers_cannot_get_out():
    """A draft that holds an identifier is stopped."""
    case = impossible({"method": "anatomize"})
    table, restore = hold(case.frame, case.policy)
    draft = Draft("main", (("name", "age"),), np.arange(table.n_rows))
    with pytest.raises(AssertionError, match="may not be published"):
        seal((draft,), table, case.policy, restore, notes={}, rng=np.random.default_rng(1))
