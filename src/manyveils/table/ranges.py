"""Texts that are ranges of numbers, such as `[0-10)`, `18 to 29`, `<5` and `65+`: where they stand in an order."""

import polars as pl

NUMBER = r"[0-9]+(?:[.][0-9]+)?"
BETWEEN = rf"^\s*[\[(]?\s*({NUMBER})\s*(?:-|–|to|bis|à|a|,|;|\.\.)\s*({NUMBER})\s*[\])]?(?:\s*[A-Za-z]+)?\s*$"
BELOW = rf"^\s*(?:<=?|≤|under|below|less than|up to|unter|bis)\s*({NUMBER})(?:\s*[A-Za-z]+)?\s*$"
ABOVE = (
    rf"^\s*(?:>=?|≥|over|above|more than|über|ab)\s*({NUMBER})(?:\s*[A-Za-z]+)?\s*$",
    rf"^\s*({NUMBER})\s*(?:[+]|(?:and|or|und|et) (?:over|above|older|more|mehr|älter|plus))\s*$",
)
# A single range among words is no scale.
LEAST = 3


def are_ranges(texts: pl.Series) -> bool:
    """Whether all of some different texts are ranges, three of them or more.

    >>> are_ranges(pl.Series(["[0-10)", "[10-20)", "90+"])), are_ranges(pl.Series(["10-20", "20-30", "none"]))
    (True, False)
    """
    return len(texts) >= LEAST and lower_ends(texts).null_count() == 0


def lower_ends(texts: pl.Series) -> pl.Series:
    """Where each range begins; null for a text that is none. What has no lower end comes first.

    >>> lower_ends(pl.Series(["18 to 29", "<18", "65 or older", "x"], dtype=pl.String).str.to_lowercase()).to_list()
    [18.0, -inf, 65.0, None]
    """
    small = texts.str.to_lowercase()
    first, last = (small.str.extract(BETWEEN, group).cast(pl.Float64) for group in (1, 2))
    between = first.set(first > last, None)
    below = small.str.extract(BELOW, 1).cast(pl.Float64) * 0 - float("inf")
    above = [small.str.extract(pattern, 1).cast(pl.Float64) for pattern in ABOVE]
    return pl.select(pl.coalesce(between, below, *above)).to_series()
