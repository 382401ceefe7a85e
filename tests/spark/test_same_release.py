"""What is decided from counts is the same on Spark: the same rows, the same manifest, the same notes."""

import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to

WAYS = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "codip": {"method": "codip", "beta": 0.5},
    "separate": {"method": "separate"},
}


def published(rows, policy, folder):
    """Publish on Spark into a folder, and read it back."""
    found = publish_to(policy, folder, data=rows, seed=1)
    return mv.Release.load(folder), found.release.notes


@pytest.mark.parametrize("name", WAYS)
def test_same_as_locally(spark, tmp_path, name):
    """However rows are split, the release is that of the local engine."""
    data = hospital(n=200)
    policy = hospital_policy().replaced(publish=WAYS[name])
    rows = spark.createDataFrame(data.to_arrow()).repartition(7)
    there, notes = published(rows, policy, tmp_path / "out")
    here = mv.publish(data, policy, seed=1)
    assert {name: frame.to_dicts() for name, frame in there.frames.items()} == {
        name: frame.to_dicts() for name, frame in here.frames.items()
    }
    assert there.manifest == here.manifest
    assert dict(notes) == dict(here.notes)
    assert all(pairs.equals(here.recodings[key]) for key, pairs in there.recodings.items())
