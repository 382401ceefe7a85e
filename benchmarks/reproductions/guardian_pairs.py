"""What hiding costs: one guardian table beside the same attributes in tables that share nothing."""

import polars as pl

from benchmarks.reproductions.guardian_methods import L
from benchmarks.reproductions.guardian_trials import GD, SINGLE, original_of, tried
from benchmarks.reproductions.table import markdown

CASES = (
    (("sex",), "education"),
    (("age",), "education"),
    (("education",), "age"),
    (("sex",), "marital_status"),
    (("income", "sex"), "age"),
    (("age", "country", "occupation", "income", "sex"), "education"),
)


def table(frame: pl.DataFrame, cases: tuple[tuple[tuple[str, ...], str], ...] = CASES) -> str:
    """The divergence when the right side is hidden in a table with the left side, and when it stands apart from it."""
    return markdown(
        ("known", "hidden", "KL, one guardian table", "KL, the hidden attribute apart"),
        (
            (", ".join(given), protect, *(f"{each:.4f}" for each in _lost(frame, given, protect)))
            for given, protect in cases
        ),
    )


def _lost(frame: pl.DataFrame, given: tuple[str, ...], protect: str) -> tuple[float, float]:
    rules = [{"given": list(given), "protect": protect}]
    guarded = tried(original_of(frame.select(*given, protect)), GD, rules, L).kl
    # The left side as one attribute, so that nothing but its tie to the right side is lost.
    whole = frame.select(pl.concat_str(given, separator="; ").alias("known"), protect)
    apart = tried(original_of(whole), SINGLE, [{"given": ["known"], "protect": protect}], L).kl
    return guarded, apart
