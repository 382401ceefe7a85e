"""A part of a table decides like the whole: what groups are compared with is what all people have."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyveils.errors import ManyveilsError
from manyveils.promises.keeping import all_kept, count_for, watch
from manyveils.table import hold, resolve
from tests.kit.compact import compact_table, some_rows
from tests.kit.strategies import cases


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_groups_of_a_part_are_judged_by_the_whole(data):
    """Whichever rows are here, a group keeps a promise exactly if it does among all rows; combinations too."""
    case = data.draw(cases({"method": "generalize"}, smallest=2, largest=30))
    guarantee = dict(case.sections["guarantee"])
    if data.draw(st.booleans()):
        guarantee["joint"] = [list(case.policy.sensitive)]
    try:
        policy = case.policy.replaced(guarantee=guarantee)
        table, _ = hold(case.frame, policy)
        promises = resolve(policy, table)
    except ManyveilsError:
        return
    sensitive = table.expand(policy.sensitive)
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=table.n_rows, max_size=table.n_rows)))
    here = groups < data.draw(st.integers(1, 3))
    if not here.any():
        return
    part = some_rows(table, here, lambda names: compact_table(table, names))
    part = replace(
        part,
        attributes={name: replace(column, of_all=table[name].counts) for name, column in part.attributes.items()},
    )
    every = [_kept(promises, table, groups, sensitive), _kept(promises, part, groups[here], sensitive)]
    present = np.unique(groups[here])
    assert every[0][present].tolist() == every[1][present].tolist()


def _kept(promises, table, groups, sensitive):
    """Which of four groups keep every promise."""
    watches = watch(promises, table, sensitive)
    return all_kept(watches, count_for(watches, groups, 4), np.bincount(groups, minlength=4))
