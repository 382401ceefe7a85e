"""What is computed again is the same: without a single block kept, the release is that of a quiet run."""

import pytest

from manyveils.datasets import hospital, hospital_policy

WAYS = {
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice", "columns": 3},
}


@pytest.mark.parametrize("name", WAYS)
def test_nothing_is_kept(spark, publish, monkeypatch, name):
    """Rows that are never kept, so that every use of them computes them again, give the same release."""
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "60")
    policy = hospital_policy().replaced(publish=WAYS[name], guarantee={"l": 2, "l_kind": "frequency"})
    data = hospital(n=150)
    quiet = publish(data, policy, 2)
    asked = []

    def forget(rows, *arguments):
        asked.append(rows)
        return rows

    monkeypatch.setattr(type(spark.range(1)), "persist", forget)
    again = publish(data, policy, 5, shuffled=1)
    assert asked
    assert not quiet.refused
    assert again.tables == quiet.tables
    assert again.release.manifest == quiet.release.manifest
    assert again.audit.describe() == quiet.audit.describe()
