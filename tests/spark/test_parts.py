"""Methods that cut rows: parts are cut at the top, made one by one, and keep the promises of the whole."""

import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.publishing import publish_to

WAYS = {
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "slice": {"method": "slice", "columns": 3},
    "slice at random": {"method": "slice", "columns": 3, "partition": "random", "bucket": 40},
    "alpha-beta-k": {"method": "alpha-beta-k", "k": 4, "beta": 2},
}


def policy_for(publish):
    """The hospital's policy with a method and promises that it can keep."""
    guarantee = {"l": 2, "l_kind": "frequency"} if publish["method"] == "slice" else {"k": 4, "t": 0.5}
    guarantee = {} if publish["method"] == "alpha-beta-k" else guarantee
    return hospital_policy().replaced(publish=publish, guarantee=guarantee)


def published(rows, policy, folder):
    """Publish on Spark into a folder, and read it back."""
    found = publish_to(policy, folder, data=rows, seed=1)
    return mv.Release.load(folder), found.release.notes


@pytest.mark.parametrize("name", WAYS)
def test_parts_keep_the_promises_of_the_whole(spark, tmp_path, monkeypatch, name):
    """However rows are split and shuffled, the parts are the same, and the local audit finds every promise kept."""
    data, policy = hospital(n=300), policy_for(WAYS[name])
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "75")
    found = []
    for n_parts in (1, 5):
        rows = spark.createDataFrame(data.sample(fraction=1, shuffle=True, seed=n_parts).to_arrow())
        release, notes = published(rows.repartition(n_parts), policy, tmp_path / str(n_parts))
        verdict = mv.audit(release, data, policy)
        assert verdict.kept, verdict.broken
        assert notes["parts"] > 3
        found.append({name: frame.to_dicts() for name, frame in release.frames.items()})
    assert found[0] == found[1]
