"""Promises about the share of each single value: alpha, linkability, beta and delta."""

import math
from fractions import Fraction

import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import ROWS, TOLERANCE, measures
from manyveils.policy.guarantees import CappedShare, Disclosure, Likeness, Linkability


@measures(CappedShare, Linkability)
def measure_share(guarantee: CappedShare | Linkability, groups: Groups) -> pl.DataFrame:
    """The largest share of a sensitive value in each group."""
    bound = guarantee.alpha if isinstance(guarantee, CappedShare) else guarantee.epsilon
    reckon = groups.arithmetic
    largest = reckon.number("count").filter("sensitive").max().fill_null(reckon.constant(0))
    counted = groups.cells.group_by("group").agg(ROWS, reckon.number("size").first(), largest)
    return counted.with_columns(
        measure=pl.col("count") / pl.col("size"), kept=reckon.at_most(pl.col("count"), pl.col("size"), bound)
    )


@measures(Likeness)
def measure_gain(guarantee: Likeness, groups: Groups) -> pl.DataFrame:
    """The largest relative gain of a sensitive value in each group over its share in the original.

    Where -ln of that share is the lower bound of the two, the gain is shown on the scale of beta.
    """
    reckon, original = groups.arithmetic, groups.arithmetic.number("original")
    expected = original * reckon.number("size")
    gained = reckon.number("count") * reckon.constant(groups.n_rows) - expected
    ceiling = -(pl.col("original") / groups.n_rows).log()
    # The ceiling is never met exactly: the logarithm of a fraction is not a fraction.
    below_ceiling = pl.col("gain") <= ceiling - TOLERANCE
    within = reckon.at_most(pl.col("gained"), pl.col("expected"), guarantee.beta) & below_ceiling
    is_gain = ~reckon.at_most(pl.col("gained"), pl.col("expected"), Fraction(0))
    scale = pl.max_horizontal(pl.lit(1.0), float(guarantee.beta) / ceiling)
    beside = _beside_original(groups).with_columns(gained=gained, expected=expected)
    cells = beside.with_columns(gain=pl.col("gained") / pl.col("expected"), is_gain=is_gain)
    shown = pl.when("is_gain").then(pl.col("gain") * scale).otherwise(0.0).filter("sensitive").max()
    kept = (within | ~pl.col("is_gain") | ~pl.col("sensitive")).all()
    return cells.group_by("group").agg(ROWS, shown.alias("measure"), kept.alias("kept"))


@measures(Disclosure)
def measure_ratio(guarantee: Disclosure, groups: Groups) -> pl.DataFrame:
    """The largest distance, as a logarithm, between a sensitive value's share in each group and in the original.

    A value of the original that a group does not have is infinitely far.
    """
    groups = groups.distribution
    ratio = pl.col("count") * groups.n_rows / pl.col("size") / pl.col("original")
    distance = ratio.log().abs().filter("sensitive").max().fill_null(0.0)
    n_present = (pl.col("sensitive") & (pl.col("original") > 0)).sum()
    measure = pl.when(n_present < groups.n_expected).then(math.inf).otherwise(distance)
    counted = _beside_original(groups).group_by("group").agg(ROWS, measure.alias("measure"))
    return counted.with_columns(kept=pl.col("measure") < float(guarantee.delta) - TOLERANCE)


def _beside_original(groups: Groups) -> pl.DataFrame:
    return groups.cells.with_columns(original=groups.reference.gather(groups.cells["value"]))
