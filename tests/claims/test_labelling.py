"""Secret labels are decided from counts, and views read them off rows wherever these are."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods import drafts_of, plan_of_counts, work_of
from manyveils.methods.anatomize import METHOD as ANATOMIZE
from manyveils.methods.grade import METHOD, _following_work, _graded, seen
from manyveils.release.draft import in_secret
from manyveils.table import Streams, hold
from tests.kit.counting import counted_once

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
# Two people who hide nothing, so that there are two different values, and two different labels.
OPEN = [(20, "flu", 100.5, 1), (21, "ulcer", 200.0, 1)]
TREE = {"lungs": ["flu", "asthma"], "gut": ["ulcer", "colic"]}
rows = st.lists(
    st.tuples(
        st.integers(20, 23),
        st.sampled_from([None, "flu", "asthma", "ulcer", "colic"]),
        st.sampled_from([None, 100.5, 200.0, 350.0]),
        st.sampled_from([None, 1, 2, 3]),
    ),
    min_size=1,
    max_size=30,
)


def work_for(drawn, **publish):
    """The grading of some people, each with an age, an illness, a pay and a wish."""
    policy = mv.Policy(
        attributes={
            "age": {"role": "quasi", "kind": "numeric"},
            "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": TREE}},
            "pay": {"role": "sensitive", "kind": "numeric"},
            "wish": {"role": "choice", "kind": "categorical"},
        },
        guarantee={"l": 2} if "then" in publish else {},
        publish={"method": "grade", **publish},
    )
    schema = {"age": pl.Int64, "ill": pl.String, "pay": pl.Float64, "wish": pl.Int64}
    table, _ = hold(pl.DataFrame(OPEN + drawn, schema=schema, orient="row"), policy)
    return work_of(policy, table, Streams(2))


def from_counts(work):
    """The same work where columns are counted elsewhere."""
    return replace(work, counted=lambda names: counted_once(work.table, names))


def same(one, other):
    """Whether two drafts publish the same of the same rows."""
    read = [
        {name: each.values.gather(each.codes).to_list() for name, each in draft.recodings.items()}
        for draft in (one, other)
    ]
    return (
        (one.name, one.columns) == (other.name, other.columns)
        and (one.rows == other.rows).all()
        and (one.buckets is None or (one.buckets == other.buckets).all())
        and read[0] == read[1]
    )


@few
@given(drawn=rows, then=st.sampled_from([None, "separate", "generalize", "codip"]))
def test_labels_are_decided_from_counts(drawn, then):
    """Distinct rows with how often they occur give the drafts, notes and key that all rows give."""
    work = work_for(drawn, **({"then": then} if then else {}))
    try:
        here = drafts_of(work, METHOD.plan(work))
    except mv.InfeasibleError:
        with pytest.raises(mv.InfeasibleError):
            METHOD.plan(from_counts(work))
        return
    plan = METHOD.plan(from_counts(work))
    there = drafts_of(work, plan)
    assert plan.notes == here.notes
    assert plan.key.describe() == here.key.describe()
    assert all(same(one, other) for one, other in zip(here.views, there.views, strict=True))
    assert {name for draft in there.views for name, each in draft.recodings.items() if each.is_secret} == {
        "ill",
        "pay",
    }


@few
@given(drawn=rows)
def test_the_key_has_what_is_published_alone(drawn):
    """The codes in the key are those that stand in some row, and no label is there that nobody has."""
    work = work_for(drawn)
    plan = METHOD.plan(from_counts(work))
    [draft] = drafts_of(work, plan).views
    recoding, key = draft.recodings["ill"], plan.key.pseudonyms["ill"]
    read = set(recoding.values.gather(recoding.codes).to_list())
    assert {*key.values, *key.groups} == read - {None, *(leaf for leaves in TREE.values() for leaf in leaves)}
    assert set(recoding.values.to_list()) == read


@few
@given(drawn=rows)
def test_rows_are_dealt_by_their_labels(drawn):
    """Rows that are dealt by what they read fall where those of the labelled table fall, with the same labels."""
    work = work_for(drawn, then="anatomize")
    lookups, _ = _graded(work, work.options)
    after = _following_work(seen(work, lookups), work.options)
    counted = _following_work(seen(from_counts(work), lookups), work.options)
    try:
        [plain] = plan_of_counts(after, ANATOMIZE.plan(after)).views
    except mv.InfeasibleError:
        return
    [view] = plan_of_counts(counted, ANATOMIZE.plan(counted)).views
    secret = replace(view, lookups=lookups)
    shuffled = np.random.default_rng(0).permutation(work.table.n_rows)
    wanted = in_secret(plain.draft(after.table, shuffled), after.table, lookups)
    assert same(secret.draft(work.table, shuffled), wanted)
    assert set(secret.needs) == {"age", "ill", "pay", "wish"}
    assert set(secret.dealt_by) == {"ill", "pay", "wish"}
