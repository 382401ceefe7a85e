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
HAS_SENSITIVE = pl.col("sensitive").any().alias("has_sensitive")


@dataclass(frozen=True)
class Arithmetic:
    """How counts are reckoned with: as 128-bit integers, exactly, or as floats that are equal within a tolerance."""

    dtype: type[pl.DataType]
    tolerance: float

    def number(self, name: str) -> pl.Expr:
        """A column of counts, wide enough for products of counts and thresholds."""
        return pl.col(name).cast(self.dtype)

    def constant(self, number: int) -> pl.Expr:
        """A constant of the same type."""
        return pl.lit(number, dtype=self.dtype)

    def at_most(self, numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        """Whether a ratio is at most the bound; where they are equal it is."""
        return self._excess(numerator, denominator, bound) <= self._slack(denominator, bound)

    def below(self, numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
        """Whether a ratio is less than the bound; where they are equal it is not, nor where both are nothing."""
        return self._excess(numerator, denominator, bound) < -self._slack(denominator, bound)

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


def excepting_insensitive(measured: pl.DataFrame) -> pl.DataFrame:
    """Groups without a sensitive value pass, and are not measured."""
    return measured.with_columns(
        measure=pl.when("has_sensitive").then("measure"), kept=pl.col("kept") | ~pl.col("has_sensitive")
    )
