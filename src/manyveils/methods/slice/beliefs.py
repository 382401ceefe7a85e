"""Buckets of a given size, judged by the beliefs of someone who knows a target's quasi-identifiers.

Several buckets may match a target where buckets are drawn at random, or so that every tuple matches many of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.kernels.matching import weigh_matches
from manyveils.methods.slice.regions import Region, bucket_watches, keep_all
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Linkability,
)
from manyveils.promises.entries import Ids, dense
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work

TOLERANCE = 1e-12
ON_BELIEFS = (KAnonymity, DistinctDiversity, FrequencyDiversity, CappedShare, Linkability)


def group_buckets(work: Work, regions: tuple[Region, ...], order: Ids, *, design: str, size: int) -> Ids:
    """Group rows into buckets of a size, larger ones if the beliefs of targets ask for it."""
    _refuse_other_promises(work)
    n_rows = work.table.n_rows
    size = min(size, n_rows)
    while True:
        n_buckets = max(n_rows // size, 1)
        buckets = np.empty(n_rows, dtype=np.int64)
        if design == "membership":
            buckets[_spread(regions, order)] = np.arange(n_rows) % n_buckets
        else:
            buckets[order] = np.arange(n_rows) * n_buckets // n_rows
        if _are_kept(work, regions, buckets):
            return buckets
        if n_buckets == 1:
            raise refuse(work, watch(work.promises, work.table, ()))
        size *= 2


def _spread(regions: tuple[Region, ...], order: Ids) -> Ids:
    """The order in which dealing rows in turn brings every value into as many buckets as it has rows.

    The column whose values are rarest is dealt first; a tuple matches as many buckets as its rarest value allows.
    """
    rarest_last = sorted(regions, key=lambda region: region.n_regions)
    dealt: Ids = order[np.lexsort(tuple(region.of_row[order] for region in rarest_last))]
    return dealt


def _refuse_other_promises(work: Work) -> None:
    problems = [
        Problem(
            f"{work.policy.name}: publish.partition",
            f'{promise.guarantee.kind} needs partition = "mondrian".',
        )
        for promise in work.promises
        if not isinstance(promise.guarantee, ON_BELIEFS) or promise.conditional or len(promise.protects) > 1
    ]
    if problems:
        raise PolicyError(dict.fromkeys(problems))


def _are_kept(work: Work, regions: tuple[Region, ...], buckets: Ids) -> bool:
    """Whether the beliefs of every target keep every promise.

    Where one column holds all that is known, it finds the bucket, and every bucket is judged by itself.
    """
    if sum(bool(set(region.column) & set(work.quasi)) for region in regions) < 2:
        return keep_all(bucket_watches(work, regions), buckets, int(buckets.max()) + 1)
    return all(_is_kept(work, promise, belief) for promise, belief in _judged(work, regions, buckets))


@dataclass(frozen=True)
class Belief:
    """For every distinct target, the probability of each protected value, and how many rows the target could be."""

    targets: Ids
    values: Ids
    shares: NDArray[np.float64]
    candidates: Ids


def _judged(work: Work, regions: tuple[Region, ...], buckets: Ids) -> Iterator[tuple[Promise, Belief]]:
    """Every promise with each belief it speaks of."""
    for number, region in enumerate(regions):
        for name in region.column:
            promises = [
                promise
                for promise in work.promises
                if promise.protects == (name,) or (not promise.protects and name in work.sensitive)
            ]
            if promises:
                belief = beliefs(regions, number, work.table[name].codes.astype(np.int64), buckets)
                yield from ((promise, belief) for promise in promises)


def _is_kept(work: Work, promise: Promise, belief: Belief) -> bool:
    guarantee, bound = promise.guarantee, 1.0
    if isinstance(guarantee, KAnonymity):
        return bool((belief.candidates >= guarantee.k).all())
    texts = work.table[promise.protects[0]].texts
    concerned = np.array([text not in promise.insensitive for text in texts])[belief.values]
    match guarantee:
        case DistinctDiversity(l=l):
            occurs = belief.shares > 0
            n_values, n_concerned = (
                np.bincount(belief.targets[which], minlength=belief.candidates.size)
                for which in (occurs, occurs & concerned)
            )
            return bool(((n_values >= l) | (n_concerned == 0)).all())
        case FrequencyDiversity(l=l):
            bound = 1 / l
        case Linkability(epsilon=epsilon):
            bound = float(epsilon)
        case CappedShare(alpha=alpha, values=values):
            bound = float(alpha)
            concerned &= np.array([not values or text in values for text in texts])[belief.values]
    return float(belief.shares[concerned].max(initial=0.0)) <= bound + TOLERANCE


def beliefs(regions: tuple[Region, ...], last: int, protected: Ids, buckets: Ids) -> Belief:
    """What the sliced table tells of the protected values of each target (systems.md, p(t,s)).

    `last` is the column that holds the protected value; `protected` is that value of every row.
    """
    parts = np.stack([region.of_row for region in regions])
    n_ids = np.array([region.n_regions for region in regions])
    target_of_row, n_targets = dense(tuple(parts), tuple(int(n) for n in n_ids), buckets.size)
    example = np.empty(n_targets, dtype=np.int64)
    example[target_of_row] = np.arange(buckets.size)
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
    in_buckets = bucket_starts, rows, parts, n_ids, pair_of_row.astype(np.int64)
    of_targets: tuple[Any, ...] = targets, lead, last, target_starts, by_lead, pair_starts, entry_starts
    weights, candidates = weigh_matches(*in_buckets, *of_targets)
    owners = np.repeat(np.arange(n_targets), per_target)
    within = np.arange(owners.size) - entry_starts[owners]
    values = pairs[pair_starts[targets[last][owners]] + within] % n_values
    totals = np.bincount(owners, weights=weights, minlength=n_targets)
    return Belief(owners, values, weights / totals[owners], candidates)
