"""l of labels and of single values is kept on Spark, and judged there as locally."""

import random

import polars as pl
import pytest

import manyveils as mv
from manyveils.arguments import licence_of
from manyveils.spark.audit import audit_there
from manyveils.spark.held import hold_there

TREE = {"lungs": ["flu", "asthma", "cough"], "gut": ["ulcer", "colic"], "blood": ["hiv", "sepsis"]}
ILLS = [ill for kind in TREE.values() for ill in kind]
WAYS = {
    "full-domain": {"method": "generalize"},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice", "columns": 3},
    "codip": {"method": "codip", "beta": 1},
    "guardian": {"method": "guardian"},
    "alpha-beta-k": {"method": "alpha-beta-k", "beta": 2},
    "separate": {"method": "separate"},
}


@pytest.fixture(scope="module")
def patients():
    """Three hundred patients."""
    chance = random.Random(5)
    return pl.DataFrame(
        {
            "age": [chance.randint(20, 80) for _ in range(300)],
            "town": [f"{chance.randint(10, 39)}" for _ in range(300)],
            "ill": chance.choices(ILLS, [2, 1, 2, 3, 3, 2, 2], k=300),
            "pay": chance.choices(["low", "middle", "high"], k=300),
        }
    )


def policy(publish, kind):
    """A promise about kinds of illness, another about single values."""
    return mv.Policy(
        attributes={
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20]}},
            "town": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": "right"}},
            "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}, "insensitive": ["cough"]},
            "pay": {"role": "sensitive", "guarantee": {"l_of": {"low": 2}}},
        },
        guarantee={"k": 4, "l": 2, "l_kind": kind, "l_level": 1, "l_of": {"blood": 3}},
        publish=publish,
    )


@pytest.mark.parametrize("kind", ["distinct", "frequency"])
@pytest.mark.parametrize("name", WAYS)
def test_kept_and_judged_alike(spark, publish, patients, monkeypatch, tmp_path, said, name, kind):
    """What Spark publishes keeps l of labels and of single values by the local audit, which finds what Spark finds."""
    asked = policy(WAYS[name], kind)
    there = publish(patients, asked)
    assert not there.refused
    found = mv.audit(there.release, patients, asked)
    assert found.kept
    assert {finding.terms for finding in found.findings} >= {"l_level = 1, l_of up to 3", "l_of up to 2"}
    there.release.save(tmp_path / "out", format="parquet")
    if name != "guardian":
        # Its promises look at whole tables.
        monkeypatch.setenv("MANYVEILS_DRIVER_CELLS", "1000")
        monkeypatch.setenv("MANYVEILS_PART_ROWS", "100")
    held = hold_there(spark.createDataFrame(patients.to_arrow()), asked)
    # What a stricter l would find tells groups apart, kept or not.
    levels = {"l": 3}
    beside = said(
        lambda: audit_there(
            tmp_path / "out", held, asked, spark=spark, licence=licence_of(asked), levels=levels
        )
    )
    assert beside == said(lambda: mv.audit(tmp_path / "out", patients, asked, levels=levels))
