"""Non-uniform entropy: the bits it takes to tell the original value of a cell from its label."""

import numpy as np

from manyveils.reading.cover import Floats
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


def bits_of_labels(view: Coverage) -> Floats:
    """Measure the entropy of the originals under each label, weighted as the original is."""
    counts = view.attribute.counts.astype(np.float64)
    before = np.append(0.0, np.cumsum(counts * np.log2(np.maximum(counts, 1.0))))
    logs = np.zeros(view.rows.size)
    np.add.at(logs, view.cover.owners, before[view.cover.high + 1] - before[view.cover.low])
    rows = view.cover.sums(view.attribute.counts)
    known = np.log2(np.maximum(rows, 1)) - logs / np.maximum(rows, 1)
    # A label that covers nothing we know of leaves everything open.
    return np.where(rows > 0, np.maximum(known, 0.0), _entropy(view.attribute.counts))


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
