"""Guardian tables on Spark: the same tables as locally, whatever decomposes them, and every rule is kept."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.publishing import publish_to

RULES = [
    {"given": ["age", "work"], "protect": "ill", "l": 3},
    {"given": ["pay", "town"], "protect": "ill", "l": 2},
    {"given": ["town"], "protect": "pay", "l": 2},
]


def people(n=600):
    """People whose attributes go together to different degrees."""
    rng = np.random.default_rng(11)
    base = rng.integers(0, 6, n)
    mixed = {"age": (0.7, 9), "ill": (0.4, 8), "town": (0.6, 5), "pay": (0.2, 7), "work": (0.8, 6)}
    columns = {
        name: np.where(rng.random(n) < share, base % k, rng.integers(0, k, n))
        for name, (share, k) in mixed.items()
    }
    return pl.DataFrame({name: [f"{name}{code}" for code in codes] for name, codes in columns.items()})


def policy(**publish):
    """Rules that no single table keeps."""
    attributes = {name: {"role": "neutral", "kind": "categorical"} for name in people(1).columns}
    return mv.Policy(attributes=attributes, rules=RULES, publish={"method": "guardian", **publish})


def published(spark, data, policy, folder, n_parts):
    """Publish on Spark from so many partitions."""
    rows = spark.createDataFrame(data.to_arrow()).repartition(n_parts)
    publish_to(policy, folder, data=rows, seed=5)
    return mv.Release.load(folder)


@pytest.mark.parametrize(("decompose", "anonymizer"), [("gd", "anatomize"), ("uad", "generalize")])
def test_same_tables_as_locally(spark, tmp_path, decompose, anonymizer):
    """The tables have the attributes and guard the same as locally, every rule is kept, and partitions do not matter."""
    data, asked = people(), policy(decompose=decompose, anonymizer=anonymizer)
    there = [published(spark, data, asked, tmp_path / str(n), n) for n in (1, 5)]
    here = mv.publish(data, asked, seed=5)
    assert [(view.name, view.attributes, view.enforces) for view in there[0].views] == [
        (view.name, view.attributes, view.enforces) for view in here.views
    ]
    assert there[0].manifest == there[1].manifest
    assert all(frame.equals(there[1].frames[name]) for name, frame in there[0].frames.items())
    assert mv.audit(tmp_path / "1", data, asked).kept
