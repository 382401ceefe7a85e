"""The four kinds of l-diversity."""

import math
from fractions import Fraction
from functools import reduce

import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.measures import (
    EXACT,
    HAS_SENSITIVE,
    ROWS,
    TOLERANCE_OF_SUMS,
    excepting_insensitive,
    measures,
)
from manyveils.policy.guarantees import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)

NEAR = 1e-9
LONGEST_POWER = 100_000


@measures(DistinctDiversity)
def measure_distinct(guarantee: DistinctDiversity, groups: Groups) -> pl.DataFrame:
    """The different values of each group."""
    counted = groups.cells.group_by("group").agg(
        ROWS, HAS_SENSITIVE, pl.len().cast(pl.Float64).alias("measure")
    )
    return excepting_insensitive(counted.with_columns(kept=pl.col("measure") >= guarantee.l))


@measures(FrequencyDiversity)
def measure_frequency(guarantee: FrequencyDiversity, groups: Groups) -> pl.DataFrame:
    """How many times the commonest sensitive value fits into its group."""
    reckon = groups.arithmetic
    counted = groups.cells.group_by("group").agg(
        ROWS, HAS_SENSITIVE, reckon.number("size").first(), reckon.number("count").filter("sensitive").max()
    )
    measured = counted.with_columns(
        measure=pl.col("size") / pl.col("count"),
        kept=reckon.at_most(pl.col("count"), pl.col("size"), Fraction(1, guarantee.l)),
    )
    return excepting_insensitive(measured.with_columns(pl.col("kept").fill_null(value=True)))


@measures(EntropyDiversity)
def measure_entropy(guarantee: EntropyDiversity, groups: Groups) -> pl.DataFrame:
    """The number of equally common values that would have the entropy of each group.

    Claim: a group is kept exactly when its entropy is log l or more, except that very large groups within
    rounding of the bound are refused.
    Why: floats decide only outside `NEAR`; inside it n^n >= l^n * prod(c^c) is decided on whole numbers.
    Shares that are no ratios of counts have no whole numbers: there what is equal within a tolerance is equal.
    Tested by: tests/claims/test_audit_measures.py
    """
    count, size = pl.col("count").cast(pl.Float64), pl.col("size").cast(pl.Float64)
    counted = groups.cells.group_by("group").agg(
        ROWS,
        HAS_SENSITIVE,
        (size.first().log() - (count * count.log()).sum() / size.first()).alias("entropy"),
    )
    beyond = pl.col("entropy") - math.log(guarantee.l)
    measured = counted.with_columns(measure=pl.col("entropy").exp(), beyond=beyond)
    is_exact = groups.arithmetic is EXACT
    decided = _decided(measured, guarantee.l, groups) if is_exact else pl.col("beyond") >= -TOLERANCE_OF_SUMS
    return excepting_insensitive(measured.with_columns(kept=decided))


def _decided(measured: pl.DataFrame, l: int, groups: Groups) -> pl.Expr:
    near = measured.filter((pl.col("beyond").abs() < NEAR) & pl.col("has_sensitive"))["group"]
    counts = groups.cells.filter(pl.col("group").is_in(near.implode())).group_by("group").agg("count")
    exact = [group for group, own in counts.iter_rows() if _is_diverse(own, l)]
    return (pl.col("beyond") >= NEAR) | pl.col("group").is_in(exact)


def _is_diverse(counts: list[int], l: int) -> bool:
    """Whether the entropy of the counts is log l or more; a common factor changes nothing and is taken out.

    >>> _is_diverse([5, 5], 2), _is_diverse([5, 4], 2)
    (True, False)
    """
    factor = math.gcd(*counts)
    reduced = [count // factor for count in counts]
    total = sum(reduced)
    if total > LONGEST_POWER:
        return False
    return bool(total**total >= l**total * reduce(lambda product, count: product * count**count, reduced, 1))


@measures(RecursiveDiversity)
def measure_recursive(guarantee: RecursiveDiversity, groups: Groups) -> pl.DataFrame:
    """The commonest value against the l-th commonest and rarer ones together."""
    reckon = groups.arithmetic
    falling = reckon.number("count").sort(descending=True)
    counted = groups.cells.group_by("group").agg(
        ROWS,
        HAS_SENSITIVE,
        falling.first().alias("first"),
        falling.slice(guarantee.l - 1).sum().alias("tail"),
    )
    # With no tail the ratio is infinite, and no c is large enough.
    return excepting_insensitive(
        counted.with_columns(
            measure=pl.col("first") / pl.col("tail"),
            kept=reckon.below(pl.col("first"), pl.col("tail"), guarantee.c),
        )
    )
