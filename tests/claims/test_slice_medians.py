"""Halving at medians: the promise holds over the whole sliced table, and targets match several buckets."""

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.methods.slice import medians

COLUMNS = [["age", "sex"], ["zipcode", "job", "stay"], ["diagnosis"], ["income"], ["insurance"]]
WITH_ZIP = [["age", "sex"], ["job", "stay"], ["zipcode", "diagnosis"], ["income"], ["insurance"]]


def policy(partition="median", columns=COLUMNS, guarantee=None, **publish):
    keys = {"method": "slice", "columns": columns, "partition": partition, **publish}
    return hospital_policy(publish=keys, guarantee=guarantee or {"l": 3, "l_kind": "frequency"})


@pytest.mark.parametrize("columns", [COLUMNS, WITH_ZIP, [[*COLUMNS[0], *COLUMNS[1]], *COLUMNS[2:]], 4])
@pytest.mark.parametrize("guarantee", [{"l": 3, "l_kind": "frequency"}, {"l": 3, "k": 5}, {"alpha": 0.4}])
def test_halved_slices_keep_their_promises(columns, guarantee):
    """The audit finds every promise kept, whatever shares a column with what is protected."""
    frame = hospital(400)
    asked = policy(columns=columns, guarantee=guarantee)
    assert mv.audit(mv.publish(frame, asked, seed=1), frame, asked).kept


def coarse(n=400):
    """People with few values, so that many are alike, and a policy for them."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.integers(0, 4, n) for name in ("q", "r")} | {"s": rng.integers(0, 6, n)})
    attributes = {"q": {"role": "quasi"}, "r": {"role": "quasi"}, "s": {"role": "sensitive"}}
    return frame, {"attributes": attributes, "guarantee": {"l": 3, "l_kind": "frequency"}}


def test_targets_match_several_buckets():
    """Cuts between values give every original one bucket, and cuts at the median more."""
    frame, sections = coarse()
    matches = {}
    for partition in ("mondrian", "median"):
        keys = {"method": "slice", "columns": [["q"], ["r", "s"]], "partition": partition}
        asked = mv.Policy(**sections, publish=keys)
        release = mv.publish(frame, asked, seed=1)
        assert mv.audit(release, frame, asked).kept
        matches[partition] = mv.measure(release, frame, asked)["matching_buckets_original"]
    assert matches["mondrian"] == 1.0
    assert matches["median"] > 1.5


def test_a_bucket_is_cut_in_half():
    """Where nothing is promised, buckets are halved down to rows that are alike or alone."""
    frame = hospital(64).with_columns(age=np.arange(64))
    release = mv.publish(frame, policy(guarantee={"k": 1}), seed=1)
    assert release.notes["buckets"] == 64
    assert release.notes["largest_bucket"] == 1


def test_it_looks_at_the_whole_table():
    """If no row were ever found to be known too well, buckets would break the promise: the check is what keeps it."""
    frame = hospital(400)
    nobody = np.zeros(frame.height, dtype=bool)
    with (
        patch.object(medians, "failing_rows", lambda work, regions, buckets: nobody),
        pytest.raises(mv.BrokenPromise),
    ):
        mv.publish(frame, policy(), seed=1)


@pytest.mark.parametrize(
    ("guarantee", "told"), [({"t": 0.3}, "needs partition"), ({"l": 3, "l_kind": "entropy"}, "needs")]
)
def test_other_promises_are_refused(guarantee, told):
    """Only promises about beliefs over several buckets can be kept, as with random buckets."""
    with pytest.raises(mv.PolicyError, match=told):
        mv.publish(hospital(100), policy(guarantee=guarantee), seed=1)


def test_persons_with_several_rows_are_refused():
    """Rows of one person could fall into two buckets, so that such tables are refused with a way out."""
    frame, sections = coarse()
    sections["guarantee"]["l"] = 2
    sections["attributes"]["id"] = {"role": "identifier"}
    keys = {"method": "slice", "partition": "median"}
    asked = mv.Policy(**sections, data={"person": "id"}, publish=keys)
    with pytest.raises(mv.PolicyError, match="persons have several"):
        mv.publish(frame.with_columns(id=pl.int_range(pl.len()) // 2), asked, seed=1)
