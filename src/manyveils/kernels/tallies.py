"""Statistics of groups from (owner, value, count) entries in order of value."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def largest(owners: np.ndarray, counts: np.ndarray, n_owners: int, depth: int) -> np.ndarray:
    """The `depth` largest counts of each owner, largest first, zeros where there are fewer."""
    top = np.zeros((n_owners, depth), np.int64)
    for entry in range(owners.size):
        row, count = top[owners[entry]], counts[entry]
        rank = depth
        while rank > 0 and row[rank - 1] < count:
            rank -= 1
        if rank < depth:
            for shift in range(depth - 1, rank, -1):
                row[shift] = row[shift - 1]
            row[rank] = count
    return top


@largest.of_few
def _largest_few(owners: np.ndarray, counts: np.ndarray, n_owners: int, depth: int) -> np.ndarray:
    order = np.lexsort((-counts, owners))
    owners, counts = owners[order], counts[order]
    rank = np.arange(owners.size) - np.searchsorted(owners, owners)
    shown = rank < depth
    top = np.zeros((n_owners, depth), np.int64)
    top[owners[shown], rank[shown]] = counts[shown]
    return top


@kernel
def differences(
    owners: np.ndarray, values: np.ndarray, counts: np.ndarray, sizes: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """For each owner, the sum over all values of |share difference|, times size and total."""
    total = reference.sum()
    distance = sizes * total
    for entry in range(owners.size):
        owner = owners[entry]
        expected = reference[values[entry]] * sizes[owner]
        distance[owner] += abs(counts[entry] * total - expected) - expected
    return distance


@kernel
def largest_difference(
    owners: np.ndarray, values: np.ndarray, counts: np.ndarray, sizes: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """For each owner, the largest |share difference| of any value, times size and total.

    People have several values or none: the last number of the reference is that of all people, and the others fall.
    """
    total = reference[reference.size - 1]
    distance = np.zeros(sizes.size, np.int64)
    # The commonest value that the owner does not have: entries come in order of value.
    lacking = np.zeros(sizes.size, np.int64)
    for entry in range(owners.size):
        owner, value = owners[entry], values[entry]
        if value == lacking[owner]:
            lacking[owner] += 1
        difference = abs(counts[entry] * total - reference[value] * sizes[owner])
        distance[owner] = max(distance[owner], difference)
    for owner in range(sizes.size):
        if lacking[owner] < reference.size - 1:
            distance[owner] = max(distance[owner], reference[lacking[owner]] * sizes[owner])
    return distance


@kernel
def _gap(
    cumulative: np.ndarray, prefix: np.ndarray, start: int, stop: int, counted: int, size: int, total: int
) -> int:
    """Sum |held·total - cumulative[v]·size| over start <= v < stop; cumulative never falls."""
    low, high = start, stop
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] * size <= counted * total:
            low = middle + 1
        else:
            high = middle
    below = counted * total * (low - start) - (prefix[low] - prefix[start]) * size
    above = (prefix[stop] - prefix[low]) * size - counted * total * (stop - low)
    return below + above


@kernel
def ordered_distance(
    owners: np.ndarray, values: np.ndarray, counts: np.ndarray, sizes: np.ndarray, cumulative: np.ndarray
) -> np.ndarray:
    """For each owner, the sum over values of |cumulative share difference|, times size and total.

    `cumulative` is the table's running count, value by value.
    """
    n_values = cumulative.size
    total = cumulative[n_values - 1]
    prefix = np.zeros(n_values + 1, cumulative.dtype)
    for value in range(n_values):
        prefix[value + 1] = prefix[value] + cumulative[value]
    counted = np.zeros(sizes.size, cumulative.dtype)
    reached = np.zeros(sizes.size, np.int64)
    distance = np.zeros(sizes.size, cumulative.dtype)
    for entry in range(owners.size):
        owner, value = owners[entry], values[entry]
        distance[owner] += _gap(
            cumulative, prefix, reached[owner], value, counted[owner], sizes[owner], total
        )
        counted[owner] += counts[entry]
        reached[owner] = value
    for owner in range(sizes.size):
        distance[owner] += _gap(
            cumulative, prefix, reached[owner], n_values, counted[owner], sizes[owner], total
        )
    return distance


@kernel
def most_alike(
    starts: np.ndarray, numbers: np.ndarray, counts: np.ndarray, concerned: np.ndarray, reach: float
) -> np.ndarray:
    """For each run of sorted numbers, the most rows within `reach` of a number that is asked about."""
    most = np.zeros(starts.size - 1, np.int64)
    for group in range(starts.size - 1):
        low, high, within = starts[group], starts[group], 0
        for entry in range(starts[group], starts[group + 1]):
            while high < starts[group + 1] and numbers[high] <= numbers[entry] + reach:
                within += counts[high]
                high += 1
            while numbers[low] < numbers[entry] - reach:
                within -= counts[low]
                low += 1
            if concerned[entry] and within > most[group]:
                most[group] = within
    return most
