"""The audit on Spark finds what the audit finds, whether rows fit the driver or not."""

import pytest

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy
from manyveils.spark import grouped
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


def findings(audit):
    """All findings as plain values, numbers rounded."""
    return [
        {
            key: round(value, 9) if isinstance(value, float) else value
            for key, value in each.describe().items()
        }
        for each in audit.findings
    ]


@pytest.mark.parametrize(
    ("name", "cells"), [*((name, FEW_CELLS) for name in WAYS), ("full-domain", ""), ("slice", "")]
)
def test_same_findings(spark, tmp_path, monkeypatch, name, cells):
    """Finding by finding, the audit is that of the local engine."""
    parts, findings_of = [], grouped.findings_of

    def watched(*arguments):
        found = findings_of(*arguments)
        parts.append(len(found))
        return found

    monkeypatch.setattr(grouped, "findings_of", watched)
    monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", cells)
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "100")
    data = hospital(n=300)
    guarantee = {} if name in ("alpha-beta-k",) else {"l": 2, "l_kind": "frequency"}
    policy = hospital_policy().replaced(publish=WAYS[name], guarantee=guarantee)
    release = mv.publish(data, policy, seed=1)
    release.save(tmp_path / "out", format="parquet")
    held = hold_there(spark.createDataFrame(data.to_arrow()), policy)
    there = audit_there(tmp_path / "out", held, policy, spark=spark, levels={"t": 0.3})
    here = mv.audit(tmp_path / "out", data, policy, levels={"t": 0.3})
    assert findings(there) == findings(here)
    assert (max(parts, default=0) > 1) == (cells == FEW_CELLS and name not in WHOLE), parts
