"""Measures of groups: how large they are, what that costs, and how many rows are in none."""

from collections.abc import Callable
from statistics import fmean

from manyveils.policy import Policy
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promises import promises_of
from manyveils.reading.cover import Ids
from manyveils.utility.comparison import Comparison, Measures


def discernibility(comparison: Comparison) -> Measures:
    """Sum the squared sizes of the groups, and the table's size for every row left out (Bayardo and Agrawal)."""
    n_rows = comparison.n_rows

    def penalty(sizes: Ids) -> float:
        return float((sizes * sizes).sum()) + (n_rows - int(sizes.sum())) * n_rows

    return {"discernibility": _mean_over_views(comparison, penalty)}


def class_size(comparison: Comparison) -> Measures:
    """Divide the published rows by the number of groups; with a k, also all rows by k times that number."""
    measures: Measures = {
        "average_class_size": _mean_over_views(
            comparison, lambda sizes: float(sizes.sum()) / max(len(sizes), 1)
        )
    }
    k, n_rows = promised_k(comparison.policy), comparison.n_rows
    if k is not None:
        measures["c_avg"] = _mean_over_views(comparison, lambda sizes: n_rows / (k * max(len(sizes), 1)))
    return measures


def suppressed_share(comparison: Comparison) -> Measures:
    """Divide the rows left out by all rows."""
    return {"suppressed_share": comparison.release.suppressed / comparison.n_rows}


def promised_k(policy: Policy) -> int | None:
    """The largest k that the policy promises, under whichever key."""
    guarantees = (promise.guarantee for promise in promises_of(policy))
    return max((guarantee.k for guarantee in guarantees if isinstance(guarantee, KAnonymity)), default=None)


def _mean_over_views(comparison: Comparison, measured: Callable[[Ids], float]) -> float:
    """Average what is measured of group sizes: over the columns of a view, then over views."""
    views = [fmean(map(measured, columns)) for columns in comparison.groups.values()]
    return fmean(views) if views else 0.0
