"""Mondrian's groups keep every promise and cover every row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.methods.generalize.cutting import cutting_of
from manyveils.methods.generalize.mondrian import partition
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.keeping import watch
from manyveils.table import hold
from tests.kit.strategies import cases


@pytest.mark.parametrize("labels", ["auto", "ranges", "sets", "hierarchy"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_groups_are_large_and_minimal(labels, data):
    """Every group has k rows; with strict cuts no group of 2k rows can be cut between two values of an attribute."""
    case = data.draw(cases({"method": "generalize"}, largest=30))
    k = data.draw(st.integers(1, 4))
    relaxed = data.draw(st.booleans())
    table, _ = hold(case.frame, case.policy)
    if table.n_rows < k:
        return
    columns = tuple(table[name] for name in case.policy.quasi)
    cutting = cutting_of(columns, tuple(column.n_values for column in columns), labels)
    watches = watch((Promise(KAnonymity(k), case.policy.quasi),), table, ())
    groups = partition(
        cutting, np.arange(table.n_rows), watches, relaxed=relaxed, progress=lambda share: None
    )
    assert np.bincount(groups).min() >= k
    if labels == "sets" and not relaxed:
        for group in range(groups.max() + 1):
            for column in columns:
                counts = np.bincount(column.codes[groups == group])
                below = np.cumsum(counts)
                assert not ((below >= k) & (below[-1] - below >= k) & (counts > 0)).any()


def test_labels_cover_their_rows():
    """Every published label lists at least the originals of its rows, so that counts add up."""
    data = hospital(400)
    for labels in ("auto", "ranges", "sets", "hierarchy"):
        policy = hospital_policy(publish={"method": "generalize", "recoding": "mondrian", "labels": labels})
        release = mv.publish(data, policy, seed=3)
        for (_, attribute), pairs in release.recodings.items():
            published = set(release.frames["main"][attribute].to_list())
            assert published <= set(pairs["published"].to_list())
