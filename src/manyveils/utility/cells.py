"""Measures of cells: how much less a published cell says than the original value."""

from collections import defaultdict
from math import fsum
from statistics import fmean

import numpy as np
import polars as pl

from manyveils.utility.comparison import Comparison, Coverages, Measures, mean_per_cell
from manyveils.utility.coverage import IS_VALUE, Coverage
from manyveils.utility.leaves import domain_size, in_range, leaves_by_name, members, n_leaves, span


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


def _loss_of_labels(view: Coverage) -> pl.Series:
    """Measure each label: by its name in a written hierarchy, its span, its members, or what it covers."""
    leaves = pl.coalesce(pl.when("named").then("leaves"), members(view), "covered")
    share = (leaves - 1) / max(n_leaves(view) - 1, 1)
    is_written = pl.col("named") & pl.lit(view.lines is not None)
    cost = pl.when(is_written).then(share).otherwise(pl.coalesce(span(view), share, 1.0))
    known = pl.when("hidden").then(1.0).when(IS_VALUE).then(0.0).otherwise(cost)
    return _with_leaves(view).select(known.clip(0.0, 1.0).alias("loss")).to_series()


def _with_leaves(view: Coverage) -> pl.DataFrame:
    by_name = leaves_by_name(view.column, view.lines)
    return view.labels.join(by_name, on=["label", "level"], how="left", maintain_order="left")


def precision(comparison: Comparison) -> Measures:
    """Average 1 - level / top level over the quasi-identifiers' cells (Sweeney's Prec); height sums their mean levels.

    A range or a set stands at the lowest level with one label for all it covers, a row left out at the top.
    """
    climbed = mean_per_cell(comparison, lambda view: view.labels["level"] / view.height)
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


def _bits_of_labels(view: Coverage) -> pl.Series:
    """Measure the entropy of the originals under each label, weighted as the original is."""
    weight = pl.col("weight")
    bits = (
        view.pairs.with_columns(
            weight=pl.lit(pl.Series(view.column.counts, dtype=pl.Float64)).gather(pl.col("code"))
        )
        .filter(weight > 0)
        .group_by("label")
        .agg(bits=weight.entropy(base=2, normalize=True))
    )
    # A label that covers no known original leaves everything open.
    unknown = _entropy(view.column.counts)
    return view.labels.join(bits, on="label", how="left", maintain_order="left")["bits"].fill_null(unknown)


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def distortion(comparison: Comparison) -> Measures:
    """Average the cost of a cell over quasi-identifiers and over sensitive attributes, and add the two (paper 001).

    A cell costs (leaves under the label - 1) / leaves, so that even `*` costs less than 1.
    The ratio is the cost of all these cells over what they cost as `*`, which is also what rows left out cost.
    """
    kinds = {"qi_disr": comparison.coverages, "sa_disr": comparison.sensitive_coverages}
    costs = {key: _distortions(comparison, coverages) for key, coverages in kinds.items() if coverages}
    if not costs:
        return {}
    means = {key: fmean(by_attribute.values()) for key, by_attribute in costs.items()}
    most = sum(_cost_of_star(comparison, name) for by_attribute in costs.values() for name in by_attribute)
    total = sum(cost for by_attribute in costs.values() for cost in by_attribute.values())
    ratio = min(total / most, 1.0) if most else 0.0
    return {**means, "t_disr": sum(means.values()), "distortion_ratio": ratio}


def _distortions(comparison: Comparison, coverages: Coverages) -> dict[str, float]:
    return mean_per_cell(
        comparison, _distortion_of_labels, lambda name: _cost_of_star(comparison, name), coverages
    )


def _cost_of_star(comparison: Comparison, name: str) -> float:
    return 1 - 1 / domain_size(comparison.table[name], comparison.policy.lines(name))


def _distortion_of_labels(view: Coverage) -> pl.Series:
    """Measure each label: by its name in the hierarchy, the values in its range, its members, or what it covers."""
    if not _n_replaced(view):
        return pl.zeros(view.labels.height, pl.Float64, eager=True)
    size = n_leaves(view)
    named = pl.when("named").then("leaves")
    leaves = pl.coalesce(named, in_range(view), members(view), "covered", pl.lit(size))
    known = pl.when("hidden").then(size).when(IS_VALUE).then(1).otherwise(leaves)
    return _with_leaves(view).select(((known.clip(1, size) - 1) / size).alias("cost")).to_series()


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
    return int(view.labels.filter(~IS_VALUE)["rows"].sum())
