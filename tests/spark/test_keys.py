"""Keys and risks on Spark: kept, and judged where the rows are as everywhere; a list of the population is refused."""

import pytest

import manyveils as mv
from manyveils.arguments import licence_of
from manyveils.datasets import hospital, hospital_policy
from manyveils.errors import PolicyError
from manyveils.spark.audit import audit_there
from manyveils.spark.held import hold_there

KEYS = [{"attributes": ["age", "sex"], "k": 12}]


def test_keys_and_risks_are_kept_and_judged_alike(spark, publish, tmp_path, monkeypatch, said, parts_judged):
    """The release keeps keys as the local one does; every finding is the same, but for means of parts."""
    data = hospital(n=300)
    asked = {"guarantee": {"k": 2, "prosecutor_risk": 0.3, "marketer_risk": 0.25}, "keys": KEYS}
    policy = hospital_policy().replaced(publish={"method": "generalize", "suppression": 0.1}, **asked)
    there = publish(data, policy)
    assert not there.refused
    assert there.audit.kept
    there.release.save(tmp_path / "out", format="parquet")
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "1000")
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "100")
    held = hold_there(spark.createDataFrame(data.to_arrow()), policy)
    found = said(lambda: audit_there(tmp_path / "out", held, policy, spark=spark, licence=licence_of(policy)))
    expected = said(lambda: mv.audit(tmp_path / "out", data, policy))
    assert max(parts_judged) > 1
    for one, other in zip(found, expected, strict=True):
        if one["promise"] == "marketer-risk":
            assert one["measured"] >= other["measured"]
            assert one["kept"]
        else:
            assert one == other


def test_a_list_of_the_population_is_refused(spark, publish, tmp_path):
    """What counts a list of people is refused on Spark, for making a release and for judging one."""
    data = hospital(n=50)
    data.select(hospital_policy().quasi).write_csv(tmp_path / "all.csv")
    policy = hospital_policy().replaced(
        guarantee={"k_map": 2},
        population={"source": str(tmp_path / "all.csv")},
        publish={"method": "generalize"},
    )
    assert "Use the local engine" in publish(data, policy).refused
    mv.publish(data, hospital_policy().replaced(guarantee={}, publish={}), seed=1).save(tmp_path / "out")
    held = hold_there(spark.createDataFrame(data.to_arrow()), policy)
    with pytest.raises(PolicyError, match="Use the local engine"):
        audit_there(tmp_path / "out", held, policy, spark=spark, licence=licence_of(policy))
