"""Buckets of a sliced table: by strict cuts, at random, or so that every tuple matches many buckets."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from manyveils.errors import PolicyError, Problem
from manyveils.methods.generalize.cutting import cutting_of
from manyveils.methods.generalize.mondrian import partition
from manyveils.methods.slice.posterior import Belief, beliefs
from manyveils.methods.slice.regions import Region, is_judged, promises_in
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    Linkability,
)
from manyveils.promises.entries import Ids
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import Watch, all_kept, count_for, watch
from manyveils.promises.work import Work
from manyveils.table import Attribute
from manyveils.table.levels import Levels

TIE = 1e-12
ON_BELIEFS = (KAnonymity, DistinctDiversity, FrequencyDiversity, CappedShare, Linkability)


def cut_buckets(work: Work, regions: tuple[Region, ...], order: Ids) -> Ids:
    """Cut buckets top-down along published values, as long as the whole sliced table keeps every promise.

    Claim: what a target's quasi-identifiers tell of a sensitive value is its share among the rows of one bucket
    that have the target's values in the sensitive column.
    Why: all rows with one published value of a column lie on one side of a cut, so a tuple whose values all occur
    in a bucket lies in it, and matches no other; then p(t,s) has one term, which a cut changes for its own rows only.
    Tested by: tests/claims/test_slice.py
    """
    columns = tuple(column for region in regions for column in _cut_along(work, region))
    if not columns:
        return np.zeros(work.table.n_rows, dtype=np.int64)
    cutting = cutting_of(columns, tuple(column.n_values for column in columns), "ranges")
    watches = _all_watches(work, regions)
    return partition(
        cutting, order, watches, relaxed=False, progress=lambda share: work.progress("cutting buckets", share)
    )


def _cut_along(work: Work, region: Region) -> tuple[Attribute, ...]:
    """The known attributes of a column; where they were generalized, the regions in their place."""
    known = tuple(work.table[name] for name in region.column if name in work.quasi)
    if not region.recodings:
        return known
    domain = pl.Series(np.arange(region.n_regions))
    return (
        Attribute("+".join(region.column), "ordinal", region.of_row.astype(np.int32), domain, Levels(())),
    )


def _all_watches(work: Work, regions: tuple[Region, ...]) -> tuple[Watch, ...]:
    judged = (region for region in regions if is_judged(work, region.column))
    return tuple(each for region in judged for each in _watches(work, region))


def _watches(work: Work, region: Region) -> tuple[Watch, ...]:
    rows = tuple(promise for promise in work.promises if not promise.protects)
    together = tuple(name for name in region.column if name in work.sensitive)
    beside = region.of_row, region.n_regions
    return watch((*rows, *promises_in(work, region.column)), work.table, together, beside=beside)


def group_buckets(work: Work, regions: tuple[Region, ...], order: Ids, *, design: str, size: int) -> Ids:
    """Group rows into buckets of a size, larger ones if the beliefs of targets ask for it."""
    _refuse_other_promises(work)
    n_rows = work.table.n_rows
    size = min(size, n_rows)
    while True:
        n_buckets = max(n_rows // size, 1)
        buckets = (
            _spread(regions, order, n_buckets)
            if design == "membership"
            else _chunks(order, n_buckets, n_rows)
        )
        if _keeps(work, regions, buckets):
            return buckets
        if n_buckets == 1:
            raise refuse(work, watch(work.promises, work.table, ()))
        size *= 2


def _chunks(order: Ids, n_buckets: int, n_rows: int) -> Ids:
    buckets = np.empty(n_rows, dtype=np.int64)
    buckets[order] = np.arange(n_rows) * n_buckets // n_rows
    return buckets


def _spread(regions: tuple[Region, ...], order: Ids, n_buckets: int) -> Ids:
    """Deal the rows of each value in turn, so that a value stands in as many buckets as it has rows.

    The column whose values are rarest is dealt first; a tuple matches as many buckets as its rarest value allows.
    """
    rarest = sorted(regions, key=lambda region: region.n_regions)
    keys = tuple(region.of_row[order] for region in rarest)
    dealt = order[np.lexsort(keys)]
    buckets = np.empty(order.size, dtype=np.int64)
    buckets[dealt] = np.arange(order.size) % n_buckets
    return buckets


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


def _keeps(work: Work, regions: tuple[Region, ...], buckets: Ids) -> bool:
    """Whether the beliefs of every target keep every promise.

    Where one column holds all that is known, it finds the bucket, and every bucket is judged by itself.
    """
    if sum(bool(set(region.column) & set(work.quasi)) for region in regions) < 2:
        watches = _all_watches(work, regions)
        sizes = np.bincount(buckets)
        return bool(all_kept(watches, count_for(watches, buckets, sizes.size), sizes).all())
    return all(_kept(work, promise, belief) for promise, belief in _held(work, regions, buckets))


def _held(work: Work, regions: tuple[Region, ...], buckets: Ids) -> Iterator[tuple[Promise, Belief]]:
    for place, region in enumerate(regions):
        for name in region.column:
            concerned = [
                p
                for p in work.promises
                if p.protects == (name,) or (not p.protects and name in work.sensitive)
            ]
            if concerned:
                belief = beliefs(regions, place, work.table[name].codes.astype(np.int64), buckets)
                yield from ((promise, belief) for promise in concerned)


def _kept(work: Work, promise: Promise, belief: Belief) -> bool:
    guarantee = promise.guarantee
    if isinstance(guarantee, KAnonymity):
        return bool((belief.candidates >= guarantee.k).all())
    texts = work.table[promise.protects[0]].texts
    sensitive = np.array([text not in promise.insensitive for text in texts])[belief.values]
    most = float(belief.shares[sensitive].max(initial=0.0))
    match guarantee:
        case FrequencyDiversity(l=l):
            return most <= 1 / l + TIE
        case CappedShare(alpha=bound, values=values):
            listed = np.array([not values or text in values for text in texts])[belief.values]
            return float(belief.shares[sensitive & listed].max(initial=0.0)) <= float(bound) + TIE
        case Linkability(epsilon=bound):
            return most <= float(bound) + TIE
        case DistinctDiversity(l=l):
            possible = np.bincount(belief.targets[belief.shares > 0], minlength=belief.candidates.size)
            harmless = (
                np.bincount(belief.targets[(belief.shares > 0) & sensitive], minlength=possible.size) == 0
            )
            return bool(((possible >= l) | harmless).all())
        case _:
            return False
