"""Measures of cells: how much less a published cell says than the original value."""

from collections import defaultdict
from functools import partial
from math import fsum
from statistics import fmean

import numpy as np

from manyveils.reading.cover import Floats
from manyveils.utility.comparison import Comparison, Coverage, Measures, first_known, mean_per_cell


def loss(comparison: Comparison) -> Measures:
    """Average the loss of a cell for each quasi-identifier and over all; granularity is what is left.

    ARX's measure: (leaves under the label - 1) / (leaves - 1), so 0 for the value itself and 1 for `*`.
    A row that is left out loses 1 in every cell.
    """
    by_attribute = mean_per_cell(comparison, _loss_of_labels)
    lost = _mean_of_attributes(comparison, by_attribute)
    return {"loss": lost, "loss_by_attribute": by_attribute, "granularity": 1.0 - lost}


def _mean_of_attributes(comparison: Comparison, by_attribute: dict[str, float]) -> float:
    """Average over the quasi-identifiers; where there is none, only rows can be lost."""
    return fmean(by_attribute.values()) if by_attribute else comparison.release.suppressed / comparison.n_rows


def _loss_of_labels(view: Coverage) -> Floats:
    """Measure each label: by its name in a written hierarchy, its span, or what it covers."""
    by_name = view.leaves_by_name()
    share = (first_known(by_name, view.covered()) - 1) / max(view.n_leaves - 1, 1)
    is_written = ~np.isnan(by_name) & (view.lines is not None)
    cost = np.where(is_written, share, first_known(view.spans(), share, 1.0))
    return np.clip(np.select([view.hidden, view.is_value], [1.0, 0.0], cost), 0.0, 1.0)


def precision(comparison: Comparison) -> Measures:
    """Average 1 - level / top level over the quasi-identifiers' cells (Sweeney's Prec); height sums their mean levels.

    A range or a set stands at the lowest level with one label for all it covers, a row left out at the top.
    """
    climbed = mean_per_cell(comparison, lambda view: view.levels[0] / view.height)
    levels = (share * (len(comparison.table[name].levels) - 1) for name, share in climbed.items())
    return {"precision": 1.0 - _mean_of_attributes(comparison, climbed), "height": fsum(levels)}


def non_uniform_entropy(comparison: Comparison) -> Measures:
    """Average over the quasi-identifiers the bits lost, as a share of those lost if nothing were shown.

    A cell with value v under label g costs -log2(rows with v / rows with a value under g), in the original.
    A release does not tell which row had which value, so the rows of a label are spread over the values
    under it in proportion to their counts: exact where every value has one label, an expectation where not.
    """
    bits = {name: _entropy(comparison.table[name].counts) for name in comparison.quasi}
    lost = mean_per_cell(comparison, _bits_of_labels, unseen=bits.__getitem__)
    shares = {name: min(lost[name] / bits[name], 1.0) if bits[name] > 0 else 0.0 for name in lost}
    return {"non_uniform_entropy": _mean_of_attributes(comparison, shares)}


def _bits_of_labels(view: Coverage) -> Floats:
    """Measure the entropy of the originals under each label, weighted as the original is."""
    counts = view.attribute.counts.astype(np.float64)
    before = np.append(0.0, np.cumsum(counts * np.log2(np.maximum(counts, 1.0))))
    logs = np.zeros(view.rows.size)
    np.add.at(logs, view.cover.owners, before[view.cover.high + 1] - before[view.cover.low])
    rows = view.cover.sums(view.attribute.counts)
    known = np.log2(np.maximum(rows, 1)) - logs / np.maximum(rows, 1)
    # A label that covers no known original leaves everything open.
    return np.where(rows > 0, np.maximum(known, 0.0), _entropy(view.attribute.counts))


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def distortion(comparison: Comparison) -> Measures:
    """Average the cost of a cell over quasi-identifiers and over sensitive attributes, and add the two (paper 001).

    A cell costs (leaves under the label - 1) / leaves, so that even `*` costs less than 1.
    The ratio is the cost of all these cells over what they cost as `*`, which is also what rows left out cost.
    """
    kinds = {"qi_disr": comparison.coverages, "sa_disr": comparison.sensitive_coverages}
    unseen = partial(_cost_of_star, comparison)
    costs = {
        key: mean_per_cell(comparison, _distortion_of_labels, unseen, coverages)
        for key, coverages in kinds.items()
        if coverages
    }
    if not costs:
        return {}
    means = {key: fmean(by_attribute.values()) for key, by_attribute in costs.items()}
    most = sum(unseen(name) for by_attribute in costs.values() for name in by_attribute)
    total = sum(cost for by_attribute in costs.values() for cost in by_attribute.values())
    ratio = min(total / most, 1.0) if most else 0.0
    return {**means, "t_disr": sum(means.values()), "distortion_ratio": ratio}


def _cost_of_star(comparison: Comparison, name: str) -> float:
    return 1 - 1 / len(comparison.policy.lines(name) or comparison.table[name].domain)


def _distortion_of_labels(view: Coverage) -> Floats:
    """Measure each label: by its name in the hierarchy, the values in its range, or what it covers."""
    if not _n_replaced(view):
        return np.zeros(view.rows.size)
    size = view.n_leaves
    leaves = first_known(view.leaves_by_name(), view.in_range(), view.covered(), size)
    known = np.select([view.hidden, view.is_value], [size, 1], leaves)
    return (np.clip(known, 1, size) - 1) / size


def sensitive_replaced(comparison: Comparison) -> Measures:
    """Count the sensitive cells that are published as something other than a value of the original.

    An attribute in several views counts their mean; derived attributes are added up.
    """
    counts: dict[str, float] = defaultdict(float)
    for name, views in comparison.sensitive_coverages.items():
        counts[comparison.table.home(name)] += fmean(map(_n_replaced, views)) if views else 0.0
    if not counts:
        return {}
    return {"sensitive_replaced": sum(counts.values()), "sensitive_replaced_by_attribute": dict(counts)}


def _n_replaced(view: Coverage) -> int:
    return int(view.rows[~view.is_value].sum())
