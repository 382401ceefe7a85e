"""Rows that are dealt on Spark: promises are kept, and neither chance nor the place of a row decides."""

from functools import partial

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.publishing import publish_to
from manyveils.release.packing import Packing
from manyveils.spark import deal
from manyveils.spark.scramble import scrambled


@given(st.integers(1, 3000), st.binary(min_size=1, max_size=32))
def test_scrambling_is_a_permutation(n, key):
    """Every number below n appears once."""
    assert sorted(scrambled(np.arange(n), n, key).tolist()) == list(range(n))


def table(n, skew):
    """People with an age and an illness, the first of which is as common as `skew` says."""
    rng = np.random.default_rng(3)
    ill = np.where(rng.random(n) < skew, 0, rng.integers(1, 9, n))
    return pl.DataFrame({"age": rng.integers(20, 30, n), "ill": [f"ill{code}" for code in ill]})


POLICY = {
    "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "guarantee": {"l": 3, "l_kind": "frequency"},
    "publish": {"method": "anatomize", "suppression": 0.1},
}


def test_the_same_wherever_rows_are(spark, tmp_path, monkeypatch):
    """Shuffled and split in other ways, the same seed gives the same release, which keeps its promises."""
    # Rows that do not fit one key have two.
    monkeypatch.setattr(deal, "Packing", partial(Packing, most=20))
    monkeypatch.setattr(deal, "ROWS_OF_A_SLOT", 20)
    data, policy = table(400, 0.33), mv.Policy(**POLICY)
    found = []
    for number, n_parts in enumerate((1, 7)):
        rows = spark.createDataFrame(data.sample(fraction=1, shuffle=True, seed=number).to_arrow())
        folder = tmp_path / str(number)
        publish_to(policy, folder, data=rows.repartition(n_parts), seed=5)
        release = mv.Release.load(folder)
        assert mv.audit(release, data, policy).kept
        found.append({name: frame.to_dicts() for name, frame in release.frames.items()})
    assert found[0] == found[1]


def test_guardian_tables(spark, tmp_path):
    """Tables of rules are dealt each by itself, and keep every rule."""
    data = table(300, 0.2).with_columns(town=pl.Series([f"town{n % 5}" for n in range(300)]))
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in ("age", "ill", "town")},
        rules=[{"given": ["age"], "protect": "ill", "l": 2}, {"given": ["ill"], "protect": "town", "l": 2}],
        publish={"method": "guardian"},
    )
    rows = spark.createDataFrame(data.to_arrow())
    published = publish_to(policy, tmp_path / "out", data=rows, seed=5)
    assert mv.audit(published.folder, data, policy).kept
    assert len(published.release.views) == len(mv.publish(data, policy, seed=5).views)
