"""Promises about the share of each single value: alpha, linkability, beta and delta."""

import math

import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import MARGIN, ROWS, at_most, whole, wide
from manyveils.policy.guarantees import CappedShare, Disclosure, Likeness, Linkability


def measure_share(guarantee: CappedShare | Linkability, groups: Groups) -> pl.DataFrame:
    """The largest share of a sensitive value in each group."""
    bound = guarantee.alpha if isinstance(guarantee, CappedShare) else guarantee.epsilon
    counted = groups.cells.group_by("group").agg(
        ROWS, wide("size").first(), wide("count").filter("sensitive").max().fill_null(whole(0))
    )
    return counted.with_columns(
        measure=pl.col("count") / pl.col("size"), kept=at_most(pl.col("count"), pl.col("size"), bound)
    )


def measure_gain(guarantee: Likeness, groups: Groups) -> pl.DataFrame:
    """The largest relative gain of a sensitive value in each group over its share in the original."""
    cells = _beside_original(groups)
    gained = wide("count") * whole(groups.n_rows) - wide("original") * wide("size")
    expected = wide("original") * wide("size")
    ceiling = -(pl.col("original") / groups.n_rows).log() - MARGIN
    # The ceiling is never met exactly: the logarithm of a fraction is not a fraction.
    fine = at_most(pl.col("gained"), pl.col("expected"), guarantee.beta) & (pl.col("gain") <= ceiling)
    return (
        cells.with_columns(gained=gained, expected=expected)
        .with_columns(gain=pl.col("gained") / pl.col("expected"))
        .with_columns(fine=fine | (pl.col("gained") <= 0) | ~pl.col("sensitive"))
        .group_by("group")
        .agg(
            ROWS,
            pl.col("gain").filter("sensitive").max().clip(lower_bound=0).alias("measure"),
            pl.col("fine").all().alias("kept"),
        )
    )


def measure_ratio(guarantee: Disclosure, groups: Groups) -> pl.DataFrame:
    """The largest distance, as a logarithm, between a sensitive value's share in each group and in the original.

    A value of the original that a group does not have is infinitely far.
    """
    expected = groups.values.filter("sensitive", pl.col("count") > 0).height
    ratio = (
        (pl.col("count") * groups.n_rows / pl.col("size") / pl.col("original"))
        .log()
        .abs()
        .filter("sensitive")
    )
    present = pl.col("sensitive") & (pl.col("original") > 0)
    counted = (
        _beside_original(groups)
        .group_by("group")
        .agg(ROWS, ratio.max().fill_null(0.0).alias("ratio"), present.sum().alias("present"))
    )
    measured = counted.with_columns(
        measure=pl.when(pl.col("present") < expected).then(math.inf).otherwise("ratio")
    )
    return measured.with_columns(kept=pl.col("measure") < float(guarantee.delta) - MARGIN)


def _beside_original(groups: Groups) -> pl.DataFrame:
    return groups.cells.with_columns(original=groups.values["count"].gather(groups.cells["value"]))
