"""Regions: the known values of a column, generalized until they are large and varied enough; and buckets cut along them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from manyveils.methods.generalize.cutting import Cutting, cutting_of, style_of
from manyveils.methods.generalize.labels import recoding_of_groups
from manyveils.methods.generalize.mondrian import partition
from manyveils.policy import Promise
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Ids, Known, dense
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.keeping import Watch, all_kept, count_for, watch
from manyveils.promises.work import Work
from manyveils.release import Recoding
from manyveils.table import Attribute
from manyveils.table.levels import Levels


@dataclass(frozen=True)
class Region:
    """The known attributes of one column as one number per row, and how their values are published."""

    column: tuple[str, ...]
    of_row: Ids
    n_regions: int
    recodings: Mapping[str, Recoding]


def regions_of(work: Work, column: tuple[str, ...], order: Ids, *, column_k: int) -> Region:
    """The values of a column as they are, if each occurs often enough and keeps the promises; otherwise regions that do."""
    known = tuple(name for name in column if name in work.quasi)
    values, n_values = dense(work.table.codes(known), work.table.sizes(known), work.table.n_rows)
    large = (Promise(KAnonymity(column_k), work.quasi),) if column_k > 1 else ()
    watches = _watches(work, column, large)
    if keep_all(watches, values, n_values):
        return Region(column, values, n_values, {})
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    attributes = tuple(work.table[name] for name in known)
    leaves = tuple(len(work.policy.lines(a.name) or ()) or a.n_values for a in attributes)
    groups = _cut(work, cutting_of(attributes, leaves, "ranges"), order, watches, "generalizing")
    n_groups = int(groups.max()) + 1
    recodings = {
        attribute.name: recoding
        for attribute in attributes
        if (recoding := recoding_of_groups(attribute, groups, n_groups, style_of(attribute, "ranges")))
    }
    return Region(column, groups, n_groups, recodings)


def keep_all(watches: tuple[Watch, ...], groups: Ids, n_groups: int) -> bool:
    """Whether every group keeps every promise."""
    sizes = np.bincount(groups, minlength=n_groups)
    return bool(all_kept(watches, count_for(watches, groups, n_groups), sizes).all())


def _cut(work: Work, cutting: Cutting, order: Ids, watches: tuple[Watch, ...], stage: str) -> Ids:
    return partition(cutting, order, watches, relaxed=False, progress=partial(work.progress, stage))


def _watches(
    work: Work, column: tuple[str, ...], more: tuple[Promise, ...] = (), beside: Known | None = None
) -> tuple[Watch, ...]:
    """The promises about what stands in a column, and those about rows if it is judged."""
    promises = tuple(
        promise
        for promise in work.promises
        if (set(promise.protects) <= set(column) if promise.protects else _is_judged(work, column))
    )
    together = tuple(name for name in column if name in work.sensitive)
    return watch((*more, *promises), work.table, together, beside=beside)


def _is_judged(work: Work, column: tuple[str, ...]) -> bool:
    """Whether promises are judged from a column: it has a sensitive attribute, or no column has."""
    return not work.sensitive or bool(set(column) & set(work.sensitive))


def cut_buckets(work: Work, regions: tuple[Region, ...], order: Ids) -> Ids:
    """Cut buckets top-down along published values, as long as the whole sliced table keeps every promise.

    Claim: what a target's quasi-identifiers tell of a sensitive value is its share among the rows of one bucket
    that have the target's values in the sensitive column.
    Why: all rows with one published value of a column lie on one side of a cut, so a tuple whose values all occur
    in a bucket lies in it, and matches no other; then p(t,s) has one term, which a cut changes for its own rows only.
    Tested by: tests/claims/test_slice.py
    """
    attributes = tuple(attribute for region in regions for attribute in _cut_along(work, region))
    if not attributes:
        return np.zeros(work.table.n_rows, dtype=np.int64)
    cutting = cutting_of(attributes, tuple(attribute.n_values for attribute in attributes), "ranges")
    return _cut(work, cutting, order, bucket_watches(work, regions), "cutting buckets")


def _cut_along(work: Work, region: Region) -> tuple[Attribute, ...]:
    """The known attributes of a column; where they were generalized, the regions in their place."""
    if not region.recodings:
        return tuple(work.table[name] for name in region.column if name in work.quasi)
    name, domain = "+".join(region.column), pl.Series(np.arange(region.n_regions))
    return (Attribute(name, "ordinal", region.of_row.astype(np.int32), domain, Levels(())),)


def bucket_watches(work: Work, regions: tuple[Region, ...]) -> tuple[Watch, ...]:
    """What every bucket must keep for those who find a region of a judged column in it."""
    return tuple(
        watched
        for region in regions
        if _is_judged(work, region.column)
        for watched in _watches(work, region.column, beside=(region.of_row, region.n_regions))
    )
