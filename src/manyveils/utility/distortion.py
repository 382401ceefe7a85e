"""Distortion: how many values a published cell adds to its own, as a share of all (paper 001).

A cell costs (leaves under the label - 1) / leaves, so that even `*` costs less than 1.
"""

from collections import defaultdict
from statistics import fmean

import numpy as np

from manyveils.reading.cover import Floats
from manyveils.utility.comparison import Comparison, Coverages, Measures, mean_per_cell
from manyveils.utility.coverage import Coverage, domain_size, first_known


def distortion(comparison: Comparison) -> Measures:
    """Average the cost of a cell over quasi-identifiers and over sensitive attributes, and add the two.

    The ratio is the cost of all these cells over what they cost as `*`, which is also what rows left out cost.
    """
    kinds = {"qi_disr": comparison.coverages, "sa_disr": comparison.sensitive_coverages}
    costs = {key: _costs(comparison, coverages) for key, coverages in kinds.items() if coverages}
    if not costs:
        return {}
    means = {key: fmean(by_attribute.values()) for key, by_attribute in costs.items()}
    most = sum(_cost_of_star(comparison, name) for by_attribute in costs.values() for name in by_attribute)
    total = sum(cost for by_attribute in costs.values() for cost in by_attribute.values())
    ratio = min(total / most, 1.0) if most else 0.0
    return {**means, "t_disr": sum(means.values()), "distortion_ratio": ratio}


def _costs(comparison: Comparison, coverages: Coverages) -> dict[str, float]:
    return mean_per_cell(
        comparison,
        distortion_of_labels,
        unseen=lambda name: _cost_of_star(comparison, name),
        coverages=coverages,
    )


def _cost_of_star(comparison: Comparison, name: str) -> float:
    return 1 - 1 / domain_size(comparison.table[name], comparison.policy.lines(name))


def distortion_of_labels(view: Coverage) -> Floats:
    """Measure each label: by its name in the hierarchy, the values in its range, or what it covers."""
    if not _replaced(view):
        return np.zeros(view.rows.size)
    size = view.n_leaves
    leaves = first_known(view.leaves_by_name(), view.in_range(), view.covered(), size)
    known = np.select([view.hidden, view.is_value], [size, 1], leaves)
    return (np.clip(known, 1, size) - 1) / size


def sensitive_replaced(comparison: Comparison) -> Measures:
    """Count the sensitive cells that are published as something else than a value of the original.

    An attribute in several views counts their mean; the 0/1 columns of one with several values are added up.
    """
    counted: dict[str, float] = defaultdict(float)
    for name, views in comparison.sensitive_coverages.items():
        counted[comparison.table.home(name)] += fmean(map(_replaced, views)) if views else 0.0
    if not counted:
        return {}
    return {"sensitive_replaced": sum(counted.values()), "sensitive_replaced_by_attribute": dict(counted)}


def _replaced(view: Coverage) -> int:
    return int(view.rows[~view.is_value].sum())
