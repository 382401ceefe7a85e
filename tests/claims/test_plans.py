"""A plan is data: it can be sent elsewhere, holds no rows, and is the same release when it is carried out there."""

import pickle

import polars as pl
import pytest

import manyveils as mv
from manyveils.methods import METHODS, drafts_of, method_of, work_of
from manyveils.release import seal
from manyveils.table import Streams, hold

N_ROWS = 240
OPTIONS = {"multi-sa": {"time_limit": 5}, "grade": {"then": "anatomize"}}
VARIANTS = {
    **{name: {"method": name, **OPTIONS.get(name, {})} for name in METHODS},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "grade alone": {"method": "grade"},
    "grade, then slice": {"method": "grade", "then": "slice"},
    "guardian by slices": {"method": "guardian", "anonymizer": "slice"},
    "guardian by levels": {"method": "guardian", "anonymizer": "generalize", "decompose": "gd"},
}


def work_for(publish, copies=1):
    """Some people, perhaps many times over, and a policy that promises little."""
    frame = pl.DataFrame(
        {
            "age": [20 + n % 5 for n in range(N_ROWS)],
            "sex": ["f", "m"] * (N_ROWS // 2),
            "ill": [f"ill{n % 6}" for n in range(N_ROWS)],
            "pay": [f"pay{n % 7}" for n in range(N_ROWS)],
        }
    )
    roles = {
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5]}},
        "sex": {"role": "quasi"},
    }
    roles |= {name: {"role": "sensitive", "kind": "categorical"} for name in ("ill", "pay")}
    guarantee = {"k": 2} if publish != {"method": "grade"} else {}
    policy = mv.Policy(attributes=roles, guarantee=guarantee, publish=publish)
    table, restore = hold(pl.concat([frame] * copies), policy)
    return work_of(policy, table, Streams(1)), restore


def published(work, restore, plan):
    """The tables of a plan that is carried out."""
    drafts = drafts_of(work, plan)
    rng = work.streams.of("seal.buckets")
    return seal(drafts.views, work.table, work.policy, restore, notes=drafts.notes, rng=rng).frames


@pytest.mark.parametrize("name", VARIANTS)
def test_plans_can_be_sent(name):
    """A plan that was pickled and read again gives the same tables."""
    work, restore = work_for(VARIANTS[name])
    plan = method_of(work.policy).plan(work)
    here, there = (published(work, restore, each) for each in (plan, pickle.loads(pickle.dumps(plan))))
    assert here.keys() == there.keys()
    assert all(here[table].equals(there[table]) for table in here)


@pytest.mark.parametrize("name", VARIANTS)
def test_plans_hold_no_rows(name):
    """With fifty times the rows a plan is as large as before, give or take its numbers."""
    sizes = []
    for copies in (1, 50):
        work, _ = work_for(VARIANTS[name], copies)
        sizes.append(len(pickle.dumps(method_of(work.policy).plan(work))))
    assert sizes[1] < sizes[0] + 1000
