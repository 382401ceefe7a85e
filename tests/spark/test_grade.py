"""Grading on Spark: the same codes, grades and key as locally, with and without choices."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.publishing import publish_to

TREE = {"lungs": ["flu", "asthma"], "gut": ["ulcer", "colic", "gastritis"]}
ILLS = [leaf for leaves in TREE.values() for leaf in leaves]
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 20]}},
    "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": TREE}},
    "pay": {"role": "sensitive", "kind": "numeric"},
}
CHOICE = {"wish": {"role": "choice"}}
WAYS = {
    "alone": {},
    "quantile": {"spacing": "quantile", "default_choice": 2},
    "separate": {"then": "separate"},
    "generalize": {"then": "generalize"},
    "codip": {"then": {"method": "codip", "beta": 0.5}},
}


def people(n=300):
    """People with an illness, a pay and a wish; some of each are missing."""
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "name": [f"p{place}" for place in range(n)],
            "age": rng.integers(20, 60, n),
            "ill": pl.Series([None, *ILLS]).gather(rng.integers(0, len(ILLS) + 1, n)),
            "pay": pl.Series([None, *range(100, 600, 10)]).gather(rng.integers(0, 51, n)),
            "wish": pl.Series([None, 1, 2, 3], dtype=pl.Int64).gather(rng.integers(0, 4, n)),
        }
    )


def policy(name, *, choices):
    """A policy that grades in one way; what follows keeps something."""
    attributes = {**ATTRIBUTES, **CHOICE} if choices else ATTRIBUTES
    guarantee = {"k": 4, "l": 2} if name in ("generalize", "codip") else {}
    publish = {"method": "grade", **WAYS[name]}
    return mv.Policy(attributes=attributes, guarantee=guarantee, publish=publish)


def published(spark, data, asked, folder, n_parts):
    """Publish on Spark from so many partitions; the release and what the publisher keeps."""
    rows = spark.createDataFrame(data.to_arrow()).repartition(n_parts)
    release = publish_to(asked, folder, data=rows, seed=1).release
    return mv.Release.load(folder), release


@pytest.mark.parametrize(("name", "choices"), [*((name, True) for name in WAYS), ("alone", False)])
def test_same_as_locally(spark, tmp_path, name, choices):
    """However rows are split, release, notes and key are those of the local engine, and promises are kept."""
    data = people() if choices else people().drop("wish")
    asked = policy(name, choices=choices)
    here = mv.publish(data, asked, seed=1)
    there, written = published(spark, data, asked, tmp_path / "7", 7)
    assert {each: frame.to_dicts() for each, frame in there.frames.items()} == {
        each: frame.to_dicts() for each, frame in here.frames.items()
    }
    assert there.manifest == here.manifest
    assert there.manifest.secret == ("ill", "pay")
    assert dict(written.notes) == dict(here.notes)
    assert written.key.describe() == here.key.describe()
    assert mv.audit(tmp_path / "7", data, asked).kept


def test_dealt_after_grading(spark, tmp_path):
    """Rows are dealt by their labels: nothing but labels is published, promises are kept, partitions do not matter."""
    data = people()
    asked = policy("alone", choices=True).replaced(
        guarantee={"l": 2}, publish={"method": "grade", "then": "anatomize"}
    )
    here = mv.publish(data, asked, seed=1)
    found = []
    for n_parts in (1, 7):
        there, written = published(spark, data, asked, tmp_path / str(n_parts), n_parts)
        assert there.manifest.secret == ("ill", "pay")
        assert written.key.describe() == here.key.describe()
        assert mv.audit(tmp_path / str(n_parts), data, asked).kept
        found.append({name: frame.to_dicts() for name, frame in there.frames.items()})
    assert found[0] == found[1]
    assert all(
        sorted(frame["ill"].to_list(), key=str) == sorted(here.frames[name]["ill"].to_list(), key=str)
        for name, frame in there.frames.items()
        if "ill" in frame.columns
    )


def test_promises_that_grades_do_not_keep(spark, tmp_path):
    """A guarantee that unchanged quasi-identifiers break is refused as locally, word for word."""
    data = people()
    asked = policy("alone", choices=True).replaced(guarantee={"k": 5, "l": 2})
    with pytest.raises(mv.InfeasibleError) as here:
        mv.publish(data, asked, seed=1)
    with pytest.raises(mv.InfeasibleError) as there:
        published(spark, data, asked, tmp_path / "out", 3)
    assert str(there.value) == str(here.value)
