"""The size of groups: on average, and against the smallest that k allows."""

from manyveils.policy import Policy
from manyveils.policy.guarantees import KAnonymity
from manyveils.policy.promises import promises_of
from manyveils.utility.comparison import Comparison, Measures, mean_over_views


def class_size(comparison: Comparison) -> Measures:
    """Divide the published rows by the number of groups; with a k, also all rows by k times that."""
    average = mean_over_views(comparison, lambda sizes: float(sizes.sum()) / max(len(sizes), 1))
    k, n_rows = _smallest_allowed(comparison.policy), comparison.n_rows
    if k is None:
        return {"average_class_size": average}
    against_k = mean_over_views(comparison, lambda sizes: n_rows / (k * max(len(sizes), 1)))
    return {"average_class_size": average, "c_avg": against_k}


def _smallest_allowed(policy: Policy) -> int | None:
    """The largest k that is promised, by whichever key of the policy."""
    promised = (promise.guarantee for promise in promises_of(policy))
    return max((each.k for each in promised if isinstance(each, KAnonymity)), default=None)
