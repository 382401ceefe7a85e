"""What chance leaves open of a success: 95 % intervals, and how many are named rightly while few are named wrongly."""

from math import sqrt

import numpy as np

from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Floats

Interval = tuple[float, float]

NORMAL = 1.959964
# How many targets may be named wrongly.
FALSE_POSITIVES = (0.001, 0.01)


def wilson(right: float, n: float) -> Interval:
    """A 95 % interval for a share of n independent tries (Wilson, 1927).

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    if n <= 0:
        return 0.0, 1.0
    share, z2 = right / n, NORMAL**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL * sqrt(max(share * (1 - share), 0.0) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def of_hits(hits: Floats, targets: Floats, luck: float) -> Interval:
    """Wilson's interval for as many independent tries as would vary as much as these people do.

    `hits` and `targets` are sums over a person's attributes; `luck` is the variance of guesses that chance decides.

    >>> [round(end, 3) for end in of_hits(np.array([1.0] * 5 + [0.0] * 5), np.ones(10), 0.0)]
    [0.237, 0.763]
    """
    n, people = float(targets.sum()), float(np.count_nonzero(targets))
    share = float(hits.sum()) / max(n, 1.0)
    spread = float(((hits - share * targets) ** 2).sum()) + luck
    tries = n * n * share * (1 - share) / spread if spread > 0 else people
    # With all or nobody right nothing varies, and people are all there is to count.
    tries = min(tries, n) if 0 < share < 1 else people
    return wilson(share * tries, tries)


def of_mean(sums: Floats, targets: Floats) -> Interval:
    """The normal interval of a mean over all targets; it ends at nothing and at certainty.

    >>> [round(end, 3) for end in of_mean(np.array([0.2, 0.4, 0.3, 0.3]), np.ones(4))]
    [0.231, 0.369]
    """
    n = float(targets.sum())
    if n <= 0:
        return 0.0, 1.0
    mean = float(sums.sum()) / n
    half = NORMAL * sqrt(float(((sums - mean * targets) ** 2).sum())) / n
    return max(0.0, mean - half), min(1.0, mean + half)


def named_rightly(best: Floats, right: Floats, rate: float) -> float:
    """The share of targets that are named rightly if those named wrongly may be such a share; equal beliefs go together.

    >>> named_rightly(np.array([0.9, 0.9, 0.6, 0.5]), np.array([1.0, 1.0, 0.0, 1.0]), 0.25)
    0.75
    >>> named_rightly(np.array([0.9, 0.9, 0.6, 0.5]), np.array([1.0, 0.0, 1.0, 1.0]), 0.0)
    0.0
    """
    steps, step_of = np.unique(-np.round(best, 9), return_inverse=True)
    wrong = np.cumsum(np.bincount(step_of, weights=1.0 - right, minlength=steps.size))
    hits = np.cumsum(np.bincount(step_of, weights=right, minlength=steps.size))
    allowed = np.count_nonzero(wrong <= rate * best.size + TOLERANCE)
    return float(hits[allowed - 1] / best.size) if allowed else 0.0
