"""Suppression: the rows that are not in the release."""

from manyveils.utility.comparison import Comparison, Measures


def suppressed_share(comparison: Comparison) -> Measures:
    """Divide the rows left out by all rows."""
    return {"suppressed_share": comparison.release.suppressed / comparison.n_rows}
