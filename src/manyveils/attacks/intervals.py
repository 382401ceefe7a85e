"""95 % intervals: of how often an attack is right, and of a mean; a person's attributes count as one draw.

Whoever is easy to find out in one attribute is often so in others, so the people are the sample and not their
attributes: spread is taken from person to person.
"""

from math import sqrt

import numpy as np

from manyveils.attacks.people import Floats

NORMAL = 1.959964

Interval = tuple[float, float]


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
