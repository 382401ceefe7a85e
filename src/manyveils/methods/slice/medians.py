"""Buckets as paper 003 has them: halved at medians, as long as what the whole sliced table tells keeps every promise."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.methods.slice.buckets import Region, cut_along, failing_rows, refuse_other_promises
from manyveils.promises.entries import Ids
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work


def halve_buckets(work: Work, regions: tuple[Region, ...], order: Ids) -> Ids:
    """Halve buckets round by round along their widest attribute, or the next; equal values may be parted, so targets match several.

    A round halves all buckets that may still be cut, and takes back the cuts of those that hold a row which is known
    too well then; these are tried along their next attribute. The paper halves one bucket after the other.

    Claim: the sliced table keeps every promise.
    Why: a round ends only when no row is known too well, at the latest when all its cuts have been taken back.
    Tested by: tests/claims/test_slice_medians.py
    """
    _refuse_persons(work)
    refuse_other_promises(work)
    buckets = np.zeros(work.table.n_rows, dtype=np.int64)
    failing = partial(failing_rows, work, regions)
    if failing(buckets).any():
        raise refuse(work, watch(work.promises, work.table, ()))
    attributes = [attribute for region in regions for attribute in cut_along(work, region)]
    turns = np.argsort(order)
    codes = [attribute.codes.astype(np.int64) for attribute in attributes]
    # Of each bucket, how many of its attributes have been tried, the widest first.
    n_tried = np.zeros(1, dtype=np.int64)
    while (may_be_cut := n_tried < len(codes)).any():
        is_upper, has_halves = _halves(codes, turns, buckets, n_tried)
        cut = may_be_cut & has_halves
        n_tried[may_be_cut & ~has_halves] = len(codes)
        while cut.any():
            bad = np.unique(buckets[failing(_parted(buckets, is_upper, cut))])
            if not bad.size:
                break
            still = cut.copy()
            still[bad] = False
            # Where cuts of other buckets are to blame, all are taken back.
            still = still if still.sum() < cut.sum() else np.zeros_like(cut)
            n_tried[cut & ~still] += 1
            cut = still
        buckets = _parted(buckets, is_upper, cut)
        n_tried = np.append(np.where(cut, 0, n_tried), np.zeros(int(cut.sum()), dtype=np.int64))
        work.progress("halving buckets", 1 - (n_tried < len(codes)).mean())
    return buckets


def _refuse_persons(work: Work) -> None:
    what = "halves rows, and persons have several."
    PolicyError.refuse(
        [Problem(f"{work.policy.name}: publish.partition", what, 'Use partition = "mondrian".')]
        if work.table.persons is not None
        else []
    )


def _parted(buckets: Ids, is_upper: NDArray[np.bool_], cut: NDArray[np.bool_]) -> Ids:
    """The buckets with some of them cut: upper halves get new numbers, after all others."""
    number = cut.size + np.cumsum(cut) - 1
    return np.where(is_upper & cut[buckets], number[buckets], buckets)


def _halves(
    codes: list[Ids], turns: Ids, buckets: Ids, n_tried: Ids
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are in the upper half of their bucket along its next attribute, and which buckets have two halves."""
    n_buckets = n_tried.size
    sizes = np.bincount(buckets, minlength=n_buckets)
    widths = np.zeros((len(codes), n_buckets))
    for width, code in zip(widths, codes, strict=True):
        low, high = np.full(n_buckets, code.size), np.zeros(n_buckets, dtype=np.int64)
        np.minimum.at(low, buckets, code)
        np.maximum.at(high, buckets, code)
        width[:] = (high - low) / max(int(code.max(initial=0)), 1)
    ordered_by_width = np.argsort(-widths, axis=0, kind="stable")
    chosen = ordered_by_width[np.minimum(n_tried, len(codes) - 1), np.arange(n_buckets)]
    along = np.stack(codes)[chosen[buckets], np.arange(buckets.size)]
    ordered = np.lexsort((turns, along, buckets))
    starts = np.cumsum(sizes) - sizes
    ranks = np.empty(buckets.size, dtype=np.int64)
    ranks[ordered] = np.arange(buckets.size) - starts[buckets[ordered]]
    return ranks >= (sizes[buckets] + 1) // 2, (widths[chosen, np.arange(n_buckets)] > 0) & (sizes > 1)
