"""How many people are expected to look like a value beside another that chance put into its bucket."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def expected_beside(
    starts: np.ndarray,
    values: np.ndarray,
    shares: np.ndarray,
    entry_starts: np.ndarray,
    kinds: np.ndarray,
    times: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """For each cell of a table of groups by values, how many people of the group are expected beside the value.

    Cells of group g are those from `starts[g]` on; each has a value and the share of the value's rows that it holds.
    The entries of value v, from `entry_starts[v]` on, say how often it stands in which kind of bucket; a kind's weight
    is how many buckets are like it, over their size.
    """
    expected = np.zeros(values.size)
    inside = np.zeros(weights.size)
    for group in range(starts.size - 1):
        first, stop = starts[group], starts[group + 1]
        for cell in range(first, stop):
            for entry in range(entry_starts[values[cell]], entry_starts[values[cell] + 1]):
                inside[kinds[entry]] += shares[cell] * times[entry]
        for cell in range(first, stop):
            for entry in range(entry_starts[values[cell]], entry_starts[values[cell] + 1]):
                expected[cell] += weights[kinds[entry]] * times[entry] * inside[kinds[entry]]
        for cell in range(first, stop):
            for entry in range(entry_starts[values[cell]], entry_starts[values[cell] + 1]):
                inside[kinds[entry]] = 0.0
    return expected
