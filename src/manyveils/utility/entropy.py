"""Non-uniform entropy: the bits it takes to tell the original value of a cell from its label."""

import numpy as np
import polars as pl

from manyveils.utility.comparison import Comparison, Measures, mean_of_attributes, mean_per_cell
from manyveils.utility.coverage import Coverage


def non_uniform_entropy(comparison: Comparison) -> Measures:
    """Average over the quasi-identifiers the bits lost, as a share of those lost if nothing were shown.

    A cell with value v under label g costs -log2(rows with v / rows with a value under g), in the original.
    A release does not tell which row had which value, so the rows of a label are spread over the values
    under it in proportion to their counts: exact where every value has one label, an expectation where not.
    """
    bits = {name: _entropy(comparison.table[name].counts) for name in comparison.quasi}
    lost = mean_per_cell(comparison, bits_of_labels, unseen=bits.__getitem__)
    shares = {name: min(lost[name] / bits[name], 1.0) if bits[name] > 0 else 0.0 for name in lost}
    return {"non_uniform_entropy": mean_of_attributes(comparison, shares)}


def bits_of_labels(view: Coverage) -> pl.Series:
    """Measure the entropy of the originals under each label, weighted as the original is."""
    counts = pl.Series(view.column.counts, dtype=pl.Float64)
    weight = pl.col("weight")
    found = (
        view.pairs.with_columns(weight=pl.lit(counts).gather(pl.col("code")))
        .filter(weight > 0)
        .group_by("label")
        .agg(bits=weight.entropy(base=2, normalize=True))
    )
    # A label that covers nothing we know of leaves everything open.
    unknown = _entropy(view.column.counts)
    joined = view.labels.join(found, on="label", how="left", maintain_order="left")
    return joined["bits"].fill_null(unknown)


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
