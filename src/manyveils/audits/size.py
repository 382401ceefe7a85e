"""k-anonymity: the number of rows of each group."""

import polars as pl

from manyveils.audits.evidence import Evidence
from manyveils.audits.sight import Sight
from manyveils.policy.guarantees import KAnonymity


def measure_sizes(guarantee: KAnonymity, evidence: Evidence, seen: Sight) -> pl.DataFrame:
    """The rows of each group of one published column, which must be k or more."""
    numbers = evidence.group_numbers(seen.file, seen.key)
    return (
        numbers.to_frame("group")
        .group_by("group")
        .len("rows")
        .with_columns(
            pl.col("rows").cast(pl.Int64),
            measure=pl.col("rows").cast(pl.Float64),
            kept=pl.col("rows") >= guarantee.k,
        )
    )
