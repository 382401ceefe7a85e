"""The audit on Spark finds what the audit finds, whether rows fit the driver or not."""

import pytest

import manyveils as mv
from manyveils.arguments import licence_of
from manyveils.datasets import hospital, hospital_policy
from manyveils.spark.audit import audit_there
from manyveils.spark.held import hold_there

WAYS = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "codip": {"method": "codip", "beta": 0.5},
    "separate": {"method": "separate"},
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice", "columns": 3},
    "alpha-beta-k": {"method": "alpha-beta-k", "k": 4, "beta": 2},
}
# The different rows of "separate" are few enough for the driver, and slices made as one have no seam.
WHOLE = ("separate", "slice")
# Too few to bring the rows, and enough to bring dictionaries.
FEW_CELLS = "1000"


@pytest.mark.parametrize(
    ("name", "cells"), [*((name, FEW_CELLS) for name in WAYS), ("full-domain", ""), ("slice", "")]
)
def test_same_findings(spark, tmp_path, monkeypatch, parts_judged, said, name, cells):
    """Finding by finding, the audit is that of the local engine."""
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", cells)
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "100")
    data = hospital(n=300)
    guarantee = {} if name in ("alpha-beta-k",) else {"l": 2, "l_kind": "frequency"}
    policy = hospital_policy().replaced(publish=WAYS[name], guarantee=guarantee)
    release = mv.publish(data, policy, seed=1)
    release.save(tmp_path / "out", format="parquet")
    held = hold_there(spark.createDataFrame(data.to_arrow()), policy)
    there = said(
        lambda: audit_there(
            tmp_path / "out", held, policy, spark=spark, licence=licence_of(policy), levels={"t": 0.3}
        )
    )
    assert there == said(lambda: mv.audit(tmp_path / "out", data, policy, levels={"t": 0.3}))
    assert (max(parts_judged, default=0) > 1) == (cells == FEW_CELLS and name not in WHOLE), parts_judged


def test_combinations_over_views(spark, tmp_path, monkeypatch):
    """What is protected as one and stands in views too large to be brought together is not judged, and not kept."""
    data, publish = hospital(n=300), {"method": "separate"}
    plain = hospital_policy().replaced(publish=publish, guarantee={"k": 2})
    joint = hospital_policy().replaced(
        publish=publish, guarantee={"l": 2, "l_kind": "frequency", "joint": [["income", "insurance"]]}
    )
    release = mv.publish(data, plain, seed=1)
    homes = [view for view in release.views if {"income", "insurance"} & {*view.attributes}]
    assert len(homes) == 2
    release.save(tmp_path / "out", format="parquet")
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "100")
    held = hold_there(spark.createDataFrame(data.to_arrow()), joint)
    with pytest.raises(mv.InfeasibleError, match=r"as one that stand in 2 views.*MANYVEILS_DRIVER_CELLS"):
        audit_there(tmp_path / "out", held, joint, spark=spark, licence=licence_of(joint))
