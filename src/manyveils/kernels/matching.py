"""What someone who knows a target's values makes of buckets whose columns are published apart."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def weigh_matches(
    bucket_starts: np.ndarray,
    rows: np.ndarray,
    parts: np.ndarray,
    n_ids: np.ndarray,
    pairs: np.ndarray,
    targets: np.ndarray,
    lead: int,
    last: int,
    target_starts: np.ndarray,
    target_list: np.ndarray,
    pair_starts: np.ndarray,
    entry_starts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """For every target and every pair of its last part, the weight of the buckets that match the target.

    Also, for every target, how many rows it could be, by its value in the last column.

    `parts[i, row]` is the value of column i in a row, `pairs[row]` numbers (value of the last column, protected
    value), pairs of one value next to each other from `pair_starts`. `targets[i, t]` are the values of target t;
    the targets with value v in column `lead` are listed from `target_starts[v]`.
    """
    n_columns = parts.shape[0]
    weights = np.zeros(entry_starts[-1])
    candidates = np.zeros(targets.shape[1], np.int64)
    counts = np.zeros((n_columns, n_ids.max()), np.int64)
    pair_counts = np.zeros(pair_starts[-1], np.int64)
    for bucket in range(bucket_starts.size - 1):
        start, stop = bucket_starts[bucket], bucket_starts[bucket + 1]
        size = stop - start
        for index in range(start, stop):
            row = rows[index]
            pair_counts[pairs[row]] += 1
            for column in range(n_columns):
                counts[column, parts[column, row]] += 1
        for index in range(start, stop):
            value = parts[lead, rows[index]]
            if counts[lead, value] < 0:
                continue
            for entry in range(target_starts[value], target_starts[value + 1]):
                target = target_list[entry]
                weight = 1.0 / size
                for column in range(n_columns):
                    if column != last:
                        weight *= abs(counts[column, targets[column, target]]) / size
                own = targets[last, target]
                if weight == 0.0 or counts[last, own] == 0:
                    continue
                candidates[target] += abs(counts[last, own])
                for pair in range(pair_starts[own], pair_starts[own + 1]):
                    weights[entry_starts[target] + pair - pair_starts[own]] += weight * pair_counts[pair]
            # A value that was served is marked, so that each target is weighed once a bucket.
            counts[lead, value] = -counts[lead, value]
        for index in range(start, stop):
            row = rows[index]
            pair_counts[pairs[row]] = 0
            for column in range(n_columns):
                counts[column, parts[column, row]] = 0
    return weights, candidates
