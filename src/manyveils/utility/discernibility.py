"""Discernibility: what it costs that rows cannot be told apart (Bayardo and Agrawal)."""

import polars as pl

from manyveils.utility.comparison import Comparison, Measures, mean_over_views


def discernibility(comparison: Comparison) -> Measures:
    """Sum the squared sizes of the groups, and the whole table's size for every row left out."""
    n_rows = comparison.n_rows

    def penalty(sizes: pl.Series) -> float:
        return float((sizes * sizes).sum()) + (n_rows - int(sizes.sum())) * n_rows

    return {"discernibility": mean_over_views(comparison, penalty)}
