"""Regions of a column, which are large and varied enough, and buckets: cut along them, or judged by beliefs about targets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.kernels.matching import weigh_matches
from manyveils.methods.generalize.cutting import Cutting, cutting_of
from manyveils.methods.generalize.labels import label_groups
from manyveils.methods.generalize.mondrian import Judged, partition
from manyveils.methods.persons import judge_of, units_of
from manyveils.policy import Promise, guarantees
from manyveils.promises.entries import Ids, Known, dense, examples, numbered
from manyveils.promises.explain import breaks_as_one_group, refuse
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import Watch, watch
from manyveils.promises.work import Work
from manyveils.release import Recoding
from manyveils.release.dealing import ranks_within
from manyveils.table import Attribute
from manyveils.table.levels import Levels

TOLERANCE = 1e-12
ON_BELIEFS = (
    guarantees.LeastSize,
    guarantees.DistinctDiversity,
    guarantees.FrequencyDiversity,
    guarantees.CappedShare,
    guarantees.Linkability,
)


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
    values, n_values = numbered(work.table, known)
    large = (Promise(guarantees.KAnonymity(column_k), work.quasi),) if column_k > 1 else ()
    watches = _watches(work, column, large)
    if keep_all(watches, values, n_values):
        return Region(column, values, n_values, {})
    if breaks_as_one_group(watches, work.table.n_rows):
        raise refuse(work, watches)
    attributes = tuple(work.table[name] for name in known)
    cutting = cutting_of(attributes, tuple(map(work.n_leaves, known)), "ranges")
    judged = None if work.table.persons is None else partial(kept_by_groups, watches)
    groups = _cut(work, cutting, order, watches, "generalizing", judged)
    return Region(column, groups, int(groups.max()) + 1, label_groups(work, groups, "ranges", known))


def keep_all(watches: tuple[Watch, ...], groups: Ids, n_groups: int) -> bool:
    """Whether every group keeps every promise."""
    return bool(kept_by_groups(watches, groups, n_groups).all())


def _cut(
    work: Work,
    cutting: Cutting,
    order: Ids,
    watches: tuple[Watch, ...],
    stage: str,
    judged: Judged | None = None,
) -> Ids:
    progress = partial(work.progress, stage)
    return partition(cutting, order, watches, relaxed=False, progress=progress, judged=judged)


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
    attributes = tuple(attribute for region in regions for attribute in cut_along(work, region))
    if not attributes:
        return np.zeros(work.table.n_rows, dtype=np.int64)
    n_values = tuple(attribute.n_values for attribute in attributes)
    room = (Promise(guarantees.KAnonymity(work.room), work.quasi),) if work.room > 1 else ()
    watches = (*bucket_watches(work, regions), *watch(room, work.table, ()))
    stage = "cutting buckets"
    if work.table.persons is None:
        return _cut(work, cutting_of(attributes, n_values, "ranges"), order, watches, stage)
    people = units_of(work, "slice.persons")
    standing = cutting_of(tuple(map(people.standing, attributes)), n_values, "ranges")
    judged = judge_of(watches, people.of_row)
    return _cut(work, standing, people.order, watches, stage, judged)[people.of_row]


def cut_along(work: Work, region: Region) -> tuple[Attribute, ...]:
    """What buckets are cut along: the known attributes of a column; where they were generalized, the regions in their place."""
    if not region.recodings:
        return tuple(work.table[name] for name in region.column if name in work.quasi)
    name, domain = "+".join(region.column), pl.Series(np.arange(region.n_regions))
    return (Attribute(name, "ordinal", region.of_row.astype(np.int32), domain, Levels(())),)


def bucket_watches(work: Work, regions: tuple[Region, ...], *, overlap: bool = False) -> tuple[Watch, ...]:
    """What every bucket must keep for those who find a region of a judged column in it.

    Labels may overlap, as `*` does with any other; a target then matches several buckets. So do the values of a person
    that stand beside those by which she came into a bucket, and buckets of persons who stay together.
    """
    if overlap or work.table.persons is not None or any(region.recodings for region in regions):
        work = replace(work, promises=tuple(promise.for_mixtures() for promise in work.promises))
    return tuple(
        watched
        for region in regions
        if _is_judged(work, region.column)
        for watched in _watches(work, region.column, beside=(region.of_row, region.n_regions))
    )


def group_buckets(work: Work, regions: tuple[Region, ...], order: Ids, *, design: str, size: int) -> Ids:
    """Group rows into buckets of a size, larger ones if the beliefs of targets ask for it.

    Several buckets may match a target, since they are drawn at random, or so that every tuple matches many of them.
    """
    refuse_other_promises(work)
    rows = np.arange(work.table.n_rows)
    of_row, standing = rows, rows
    if work.table.persons is not None:
        people = units_of(work, "slice.persons")
        of_row, standing, order = people.of_row, people.row_of_each, people.order
    n = order.size
    size = min(size, n)
    while True:
        n_buckets = max(n // size, 1)
        of_unit = np.empty(n, dtype=np.int64)
        if design == "membership":
            of_unit[_spread(regions, order, standing)] = np.arange(n) % n_buckets
        else:
            of_unit[order] = np.arange(n) * n_buckets // n
        buckets = of_unit[of_row]
        if _are_kept(work, regions, buckets):
            return buckets
        if n_buckets == 1:
            raise refuse(work, watch(work.promises, work.table, ()))
        size *= 2


def _spread(regions: tuple[Region, ...], order: Ids, standing: Ids) -> Ids:
    """The order in which dealing rows in turn brings every value into as many buckets as it has rows.

    What is dealt may be persons too; `standing` is the row that stands for each.
    The column whose values are rarest is dealt first; a tuple matches as many buckets as its rarest value allows.
    """
    rarest_last = sorted(regions, key=lambda region: region.n_regions)
    dealt: Ids = order[np.lexsort(tuple(region.of_row[standing[order]] for region in rarest_last))]
    return dealt


def refuse_other_promises(work: Work) -> None:
    """Refuse promises that beliefs over several buckets are not held against."""
    where = f"{work.policy.name}: publish.partition"
    problems = (
        Problem(where, f'{promise.guarantee.kind} needs partition = "mondrian".')
        for promise in work.promises
        if not isinstance(promise.guarantee, ON_BELIEFS)
        or isinstance(promise.guarantee, guarantees.KeyAnonymity)
        or promise.conditional
        or len(promise.protects) > 1
    )
    PolicyError.refuse(dict.fromkeys(problems))


def _are_kept(work: Work, regions: tuple[Region, ...], buckets: Ids) -> bool:
    """Whether the beliefs of every target keep every promise.

    Where one column holds all that is known, it finds the bucket, and every bucket is judged by itself. So it is where
    persons are counted: what holds in every bucket holds for those who weigh several.
    """
    if work.table.persons is not None or _finds_the_bucket(work, regions):
        return keep_all(bucket_watches(work, regions), buckets, int(buckets.max()) + 1)
    return not any(
        _failing(work, promise, belief).any() for promise, belief in _judged(work, regions, buckets)
    )


def _finds_the_bucket(work: Work, regions: tuple[Region, ...]) -> bool:
    """Whether one column holds all that is known."""
    return sum(bool(set(region.column) & set(work.quasi)) for region in regions) < 2


def failing_rows(work: Work, regions: tuple[Region, ...], buckets: Ids) -> NDArray[np.bool_]:
    """The rows whose targets know too much, or too few rows that may be theirs."""
    if _finds_the_bucket(work, regions):
        kept = kept_by_groups(bucket_watches(work, regions), buckets, int(buckets.max()) + 1)
        return np.asarray(~kept[buckets])
    target_of_row, n_targets = dense(
        tuple(region.of_row for region in regions),
        tuple(region.n_regions for region in regions),
        buckets.size,
    )
    failing = np.zeros(n_targets, dtype=bool)
    for promise, belief in _judged(work, regions, buckets):
        failing |= _failing(work, promise, belief)
    return np.asarray(failing[target_of_row])


@dataclass(frozen=True)
class Belief:
    """For every distinct target, the probability of each protected value, and how many rows the target could be."""

    targets: Ids
    values: Ids
    shares: NDArray[np.float64]
    candidates: Ids


def _judged(work: Work, regions: tuple[Region, ...], buckets: Ids) -> Iterator[tuple[Promise, Belief]]:
    """Every promise with each belief it speaks of; where nothing is sensitive, promises about rows speak of every column."""
    about_rows = () if work.sensitive else tuple(promise for promise in work.promises if not promise.protects)
    for number, region in enumerate(regions):
        if about_rows:
            belief = beliefs(regions, number, np.zeros_like(buckets), buckets)
            yield from ((promise, belief) for promise in about_rows)
        for name in region.column:
            promises = [
                promise
                for promise in work.promises
                if promise.protects == (name,) or (not promise.protects and name in work.sensitive)
            ]
            for level in dict.fromkeys(promise.guarantee.level for promise in promises):
                protected = work.table[name].at_level(level).codes.astype(np.int64)
                belief = beliefs(regions, number, protected, buckets)
                yield from ((promise, belief) for promise in promises if promise.guarantee.level == level)


def _failing(work: Work, promise: Promise, belief: Belief) -> NDArray[np.bool_]:
    """The targets of whom a promise is not kept."""
    guarantee = promise.guarantee
    if isinstance(guarantee, guarantees.LeastSize):
        return np.asarray(belief.candidates < guarantee.least_rows)
    attribute = work.table[promise.protects[0]]
    texts = attribute.at_level(guarantee.level).texts
    is_sensitive = np.array([text not in promise.insensitive for text in attribute.texts])
    concerned = attribute.labels_of(is_sensitive, guarantee.level)[belief.values]
    if isinstance(guarantee, guarantees.DistinctDiversity):
        occurs = belief.shares > 0
        n_values = np.bincount(belief.targets[occurs], minlength=belief.candidates.size)
        ls = np.array([guarantee.l_for(text) for text in texts])[belief.values]
        fails = (n_values[belief.targets] < ls) & occurs & concerned
    else:
        bounds = np.array([guarantee.most_belief(1.0, text) for text in texts])[belief.values]
        fails = (belief.shares > bounds + TOLERANCE) & concerned
    failing = np.zeros(belief.candidates.size, dtype=bool)
    failing[belief.targets[fails]] = True
    return failing


def beliefs(regions: tuple[Region, ...], last: int, protected: Ids, buckets: Ids) -> Belief:
    """What the sliced table tells of the protected values of each target (systems.md, p(t,s)).

    `last` is the column that holds the protected value; `protected` is that value of every row.
    """
    parts = np.stack([region.of_row for region in regions])
    n_ids = np.array([region.n_regions for region in regions])
    target_of_row, n_targets = dense(tuple(parts), tuple(int(n) for n in n_ids), buckets.size)
    targets = parts[:, examples(target_of_row, n_targets)]
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
    values = pairs[pair_starts[targets[last][owners]] + ranks_within(per_target)] % n_values
    totals = np.bincount(owners, weights=weights, minlength=n_targets)
    return Belief(owners, values, weights / totals[owners], candidates)
