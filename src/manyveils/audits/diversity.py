"""The four kinds of l-diversity."""

import math

import numpy as np
import polars as pl

from manyveils.audits.groups import Groups
from manyveils.audits.kinds import cells_by_kind, known_by_kind
from manyveils.audits.matched import matched
from manyveils.audits.measures import (
    EXACT,
    TOLERANCE_OF_SUMS,
    by_group,
    measures,
    sparing_insensitive,
    times_fitting,
)
from manyveils.policy.guarantees import (
    DistinctDiversity,
    Diverse,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)

NEAR = 1e-9
LONGEST_POWER = 100_000
# What a group owes: the largest l of its sensitive values.
OWED = pl.col("l").filter("sensitive").max().alias("owed")


def _on_scale(guarantee: Diverse, measure: pl.Expr, owed: str = "owed") -> pl.Expr:
    """A measure as if every value asked for l: where another l is owed, it is shown in proportion."""
    return measure * guarantee.l / pl.col(owed) if guarantee.singled_out else measure


@measures(DistinctDiversity)
def measure_distinct(guarantee: DistinctDiversity, groups: Groups) -> pl.DataFrame:
    """The different values of each group; of persons with several rows, so many that each is another person's."""
    n_values = pl.col("n_values")
    counted = by_group(cells_by_kind(guarantee, groups), pl.len().cast(pl.Float64).alias("n_values"), OWED)
    is_told = groups.together is not None and groups.together.matched is None
    if groups.counts_persons and not is_told:
        # One person with several values is no diversity.
        own = _matched(guarantee, groups)
        number = counted["group"].to_numpy()
        n_matched = np.ones(number.max(initial=-1) + 1)
        n_matched[own["group"].to_numpy()] = own["n_matched"].to_numpy()
        counted = counted.with_columns(n_values=n_matched[number])
    return sparing_insensitive(counted, _on_scale(guarantee, n_values), n_values >= pl.col("owed"))


def _matched(guarantee: DistinctDiversity, groups: Groups) -> pl.DataFrame:
    """How many different values different persons of each group have: group, n_matched."""
    if groups.together is not None and groups.together.matched is not None:
        return groups.together.matched
    if groups.placed is not None and not guarantee.level:
        return groups.placed.matched(guarantee.strongest)
    return matched(known_by_kind(guarantee, groups))


@measures(FrequencyDiversity)
def measure_frequency(guarantee: FrequencyDiversity, groups: Groups) -> pl.DataFrame:
    """How many times the sensitive value that exceeds its share most, or comes closest to it, fits into its group."""
    cells = cells_by_kind(guarantee, groups)
    if not guarantee.singled_out:
        return times_fitting(cells, "count", guarantee.l, groups.arithmetic)
    filled = groups.arithmetic.number("count") * groups.arithmetic.number("l")
    counted = times_fitting(cells.with_columns(filled=filled), "filled", 1, groups.arithmetic)
    return counted.with_columns(pl.col("measure") * guarantee.l)


@measures(EntropyDiversity)
def measure_entropy(guarantee: EntropyDiversity, groups: Groups) -> pl.DataFrame:
    """The number of equally common values that would have the entropy of each group.

    Claim: a group is kept exactly when its entropy is log l or more, except that very large groups within
    rounding of the bound are refused.
    Why: floats decide only outside `NEAR`; inside it n^n >= l^n * prod(c^c) is decided on whole numbers.
    Shares that are no ratios of counts have no whole numbers: there what is equal within a tolerance is equal.
    Tested by: tests/claims/test_audit_measures.py
    """
    groups = groups.distribution
    count, size = pl.col("count").cast(pl.Float64), pl.col("size").cast(pl.Float64)
    entropy = size.first().log() - (count * count.log()).sum() / size.first()
    cells = cells_by_kind(guarantee, groups)
    counted = by_group(cells, entropy.alias("entropy"), OWED)
    bounds = {l: math.log(l) for l in counted["owed"].drop_nulls().unique().to_list()}
    bound = pl.col("owed").replace_strict(bounds, default=0.0, return_dtype=pl.Float64)
    counted = counted.with_columns(beyond=pl.col("entropy") - bound)
    is_exact = groups.arithmetic is EXACT
    kept = _decided(counted, cells) if is_exact else pl.col("beyond") >= -TOLERANCE_OF_SUMS
    return sparing_insensitive(counted, _on_scale(guarantee, pl.col("entropy").exp()), kept)


def _decided(counted: pl.DataFrame, cells: pl.DataFrame) -> pl.Expr:
    near = counted.filter((pl.col("beyond").abs() < NEAR) & pl.col("has_sensitive")).select("group", "owed")
    counts = cells.join(near, on="group").group_by("group").agg("count", pl.col("owed").first())
    exact = [group for group, own, l in counts.iter_rows() if _is_diverse(own, l)]
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
    return total**total >= l**total * math.prod(count**count for count in reduced)


@measures(RecursiveDiversity)
def measure_recursive(guarantee: RecursiveDiversity, groups: Groups) -> pl.DataFrame:
    """The commonest value against the l-th commonest and rarer ones together."""
    groups = groups.distribution
    reckon = groups.arithmetic
    falling = reckon.number("count").sort(descending=True)
    cells = cells_by_kind(guarantee, groups)
    tail = falling.slice((OWED.fill_null(1) - 1).cast(pl.UInt32)).sum()
    counted = by_group(cells, falling.first().alias("first"), tail.alias("tail"))
    # With no tail the ratio is infinite, and no c is large enough.
    kept = reckon.below(pl.col("first"), pl.col("tail"), guarantee.c)
    return sparing_insensitive(counted, pl.col("first") / pl.col("tail"), kept)
