"""Counts that Spark makes and the driver holds."""

import polars as pl

import manyveils as mv
from manyveils.spark.counts import Counts
from manyveils.spark.held import hold_there


def test_spellings_of_one_value_are_counted_once(spark):
    """Texts that are one number make one combination, whose rows add up."""
    texts = {"age": ["1", "1.0", "2", "2"], "ill": ["a", "a", "a", "b"]}
    policy = mv.Policy(
        attributes={"age": {"role": "quasi", "kind": "numeric"}, "ill": {"role": "sensitive"}},
        guarantee={"k": 2},
        publish={"method": "generalize"},
    )
    held = hold_there(spark.createDataFrame(pl.DataFrame(texts).to_arrow()), policy)
    table = Counts(held).of(("age", "ill"))
    assert table.n_rows == 3
    assert sorted(table.weights.tolist()) == [1, 1, 2]
