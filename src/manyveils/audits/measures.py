"""What a measure of groups gives: per group how far it goes, whether that is enough, and its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from manyveils.policy import Guarantee

if TYPE_CHECKING:
    from manyveils.audits.groups import Groups

# A float decides only where it is clear of its bound by more than rounding can move it.
TOLERANCE = 1e-12
# Sums over thousands of buckets stay well within this; an excess that matters is a hundred times larger.
TOLERANCE_OF_SUMS = 1e-11

ROWS = pl.col("rows").first()


@dataclass(frozen=True)
class Arithmetic:
    """How counts are reckoned with: as 128-bit integers, exactly, or as floats that are equal within a tolerance.

    With a tolerance below 0, floats that are equal within it are refused.
    """

    dtype: type[pl.DataType]
    tolerance: float

    def number(self, name: str) -> pl.Expr:
        """A column of counts, wide enough for products of counts and thresholds."""
        return pl.col(name).cast(self.dtype)

    def constant(self, number: float) -> pl.Expr:
        """A constant of the same type."""
        return pl.lit(number, dtype=self.dtype)

    def at_most(self, numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        """Whether a ratio is at most the bound; where they are equal it is."""
        return self._excess(numerator, denominator, bound) <= self._slack(denominator, bound)

    def below(self, numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        """Whether a ratio is less than the bound; where they are equal it is not, nor where both are nothing."""
        slack = self._slack(denominator, bound)
        return self._excess(numerator, denominator, bound) < (slack if self.tolerance < 0 else -slack)

    def _excess(self, numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        return numerator * self.constant(bound.denominator) - denominator * self.constant(bound.numerator)

    def _slack(self, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        return (
            denominator * pl.lit(self.tolerance * bound.denominator) if self.tolerance else self.constant(0)
        )


Measure = Callable[[Any, "Groups"], pl.DataFrame]
# How every guarantee about values is measured: group, rows, measure, kept.
MEASURES: dict[type[Guarantee], Measure] = {}


def measures(*guarantees: type[Guarantee]) -> Callable[[Measure], Measure]:
    """Mark a function as the measure of guarantees."""

    def register(measure: Measure) -> Measure:
        MEASURES.update(dict.fromkeys(guarantees, measure))
        return measure

    return register


EXACT = Arithmetic(pl.Int128, 0.0)
ROUNDED = Arithmetic(pl.Float64, TOLERANCE_OF_SUMS)
REFUSING = Arithmetic(pl.Float64, -TOLERANCE_OF_SUMS)


def by_group(cells: pl.DataFrame, *amounts: pl.Expr) -> pl.DataFrame:
    """The groups with their rows, whether they have a sensitive value, and some amounts of their cells."""
    return cells.group_by("group").agg(ROWS, pl.col("sensitive").any().alias("has_sensitive"), *amounts)


def sparing_insensitive(counted: pl.DataFrame, measure: pl.Expr, kept: pl.Expr) -> pl.DataFrame:
    """The groups with their measure, and whether it is enough; those without a sensitive value pass unmeasured."""
    has_sensitive = pl.col("has_sensitive")
    return counted.with_columns(measure=pl.when(has_sensitive).then(measure), kept=kept | ~has_sensitive)


def times_fitting(cells: pl.DataFrame, amount: str, times: int, reckon: Arithmetic) -> pl.DataFrame:
    """How many times the largest amount of a sensitive value fits into its group, which must be `times` or more."""
    largest = reckon.number(amount).filter("sensitive").max().alias("largest")
    counted = by_group(cells, reckon.number("size").first(), largest)
    kept = reckon.at_most(pl.col("largest"), pl.col("size"), Fraction(1, times))
    return sparing_insensitive(counted, pl.col("size") / pl.col("largest"), kept)
