"""How strongly two attributes go together: Cramér's V, without the part that small samples show by chance."""

from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
# The columns of an attribute, each as the bin of every row and the number of bins.
Binned = dict[str, list[tuple[Ids, int]]]


def matrix(binned: Binned, *, n_people: int) -> list[list[float]]:
    """The association of every two attributes; of an attribute with several columns, that of the one that tells most.

    `n_people` is how many people are behind the rows, which may be drawn from what is known of fewer.
    """
    names = list(binned)
    found = np.eye(len(names))
    for one, other in combinations(range(len(names)), 2):
        strength = max(
            (
                cramers_v(left, right, n_people=n_people)
                for left in binned[names[one]]
                for right in binned[names[other]]
            ),
            default=0.0,
        )
        found[one, other] = found[other, one] = strength
    return found.round(6).tolist()


def cramers_v(one: tuple[Ids, int], other: tuple[Ids, int], *, n_people: int) -> float:
    """Cramér's V with Bergsma's correction (2013): 0 for unrelated columns, 1 where one settles the other.

    >>> codes = np.arange(600) % 3
    >>> round(cramers_v((codes, 3), (codes, 3), n_people=600), 9)
    1.0
    >>> cramers_v((codes, 3), (codes * 0, 1), n_people=600)
    0.0
    """
    (left, n_left), (right, n_right) = one, other
    counts = np.bincount(left * n_right + right, minlength=n_left * n_right).reshape(n_left, n_right)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    rows, columns = counts.shape
    if n_people < 2 or min(rows, columns) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / left.size
    phi = float(((counts - expected) ** 2 / expected).sum()) / left.size
    phi = max(phi - (rows - 1) * (columns - 1) / (n_people - 1), 0.0)
    least = min(rows - (rows - 1) ** 2 / (n_people - 1), columns - (columns - 1) ** 2 / (n_people - 1)) - 1
    return min(sqrt(phi / least), 1.0) if least > 1e-12 else 0.0
