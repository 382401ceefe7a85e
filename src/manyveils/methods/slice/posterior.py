"""The belief of someone who knows a target's quasi-identifiers, where several buckets may match."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.matching import weigh_matches
from manyveils.methods.slice.regions import Region
from manyveils.promises.entries import Ids, dense


@dataclass(frozen=True)
class Belief:
    """For every distinct target, the probability of each protected value, and how many rows the target could be."""

    targets: Ids
    values: Ids
    shares: NDArray[np.float64]
    candidates: Ids


def beliefs(regions: tuple[Region, ...], last: int, protected: Ids, buckets: Ids) -> Belief:
    """What the sliced table tells of the protected values of each target (systems.md, p(t,s)).

    `last` is the column that holds the protected value; `protected` is that value of every row.
    """
    n_rows = buckets.size
    parts = np.stack([region.of_row for region in regions])
    n_ids = np.array([region.n_regions for region in regions])
    target_of_row, n_targets = dense(tuple(parts), tuple(int(n) for n in n_ids), n_rows)
    example = np.empty(n_targets, dtype=np.int64)
    example[target_of_row] = np.arange(n_rows)
    targets = parts[:, example]
    lead = int(np.argmax(n_ids))
    by_lead = np.argsort(targets[lead], kind="stable")
    target_starts = np.searchsorted(targets[lead][by_lead], np.arange(n_ids[lead] + 1))
    n_values = int(protected.max()) + 1
    pairs, pair_of_row = np.unique(parts[last] * n_values + protected, return_inverse=True)
    pair_starts = np.searchsorted(pairs // n_values, np.arange(n_ids[last] + 1))
    per_target = np.diff(pair_starts)[targets[last]]
    entry_starts = np.append(0, np.cumsum(per_target))
    rows = np.argsort(buckets, kind="stable")
    bucket_starts = np.searchsorted(buckets[rows], np.arange(int(buckets.max()) + 2))
    weights, candidates = weigh_matches(
        bucket_starts,
        rows,
        parts,
        n_ids,
        pair_of_row.astype(np.int64),
        targets,
        lead,
        last,
        target_starts,
        by_lead,
        pair_starts,
        entry_starts,
    )
    owners = np.repeat(np.arange(n_targets), per_target)
    within = np.arange(owners.size) - entry_starts[owners]
    values = pairs[pair_starts[targets[last][owners]] + within] % n_values
    totals = np.bincount(owners, weights=weights, minlength=n_targets)
    return Belief(owners, values, weights / totals[owners], candidates)
