"""What a measure of groups gives: per group how far it goes, whether that is enough, and its rows."""

from fractions import Fraction

import polars as pl

# A float decides only where it is clear of its bound by more than rounding can move it.
MARGIN = 1e-12

ROWS = pl.col("rows").first()
HAS_SENSITIVE = pl.col("sensitive").any().alias("has_sensitive")


def wide(name: str) -> pl.Expr:
    """A column of counts as 128-bit integers: products of counts and thresholds stay exact."""
    return pl.col(name).cast(pl.Int128)


def whole(number: int) -> pl.Expr:
    """A 128-bit integer constant."""
    return pl.lit(number, dtype=pl.Int128)


def at_most(numerator: pl.Expr, denominator: pl.Expr, bound: Fraction) -> pl.Expr:
    """Whether a ratio of integers is at most the bound, decided on integers."""
    return numerator * whole(bound.denominator) <= denominator * whole(bound.numerator)


def excepting_insensitive(measured: pl.DataFrame) -> pl.DataFrame:
    """Groups without a sensitive value pass, and are not measured."""
    return measured.with_columns(
        measure=pl.when("has_sensitive").then("measure"), kept=pl.col("kept") | ~pl.col("has_sensitive")
    )
