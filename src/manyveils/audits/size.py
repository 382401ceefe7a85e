"""k-anonymity: the number of rows of each group."""

import polars as pl

from manyveils.audits.posterior import measure_target_sizes
from manyveils.policy.guarantees import KAnonymity
from manyveils.reading.evidence import Evidence
from manyveils.reading.sight import Sight


def measure_sizes(guarantee: KAnonymity, evidence: Evidence, seen: Sight) -> pl.DataFrame | None:
    """The rows of each group of one published column, which must be k or more."""
    if seen.is_spread:
        return measure_target_sizes(guarantee, evidence, seen)
    groups = evidence.group_numbers(seen.file, seen.key)
    sizes = pl.Series("rows", evidence.tally(seen.file, groups), dtype=pl.Int64)
    return sizes.to_frame().with_columns(
        measure=pl.col("rows").cast(pl.Float64), kept=pl.col("rows") >= guarantee.k
    )
