"""Between which numbers a count must lie, whatever the assignment of rows inside buckets and across views."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.cover import Ids
from manyveils.reading.model import Estimate
from manyveils.reading.views import PublishedView


@dataclass(frozen=True)
class Range:
    """The least and the most rows for which predicates can hold."""

    low: int
    high: int


def bounds(estimate: Estimate, masks: Masks, n_rows: int) -> Range:
    """Bounds on the published rows for which all predicates hold (Fréchet, inside buckets and across views).

    Claim: whatever table the release was made from, its published rows have a count within the bounds.
    Why: inside a bucket of n rows, columns that hold for a and b rows hold together for at most min(a, b) and at
    least a + b - n of them; a label that covers only some of what is asked may or may not count; and whole views
    are columns of the table in the same way.
    Tested by: tests/claims/test_estimate.py
    """
    if not masks:
        return Range(n_rows, n_rows)
    each = [
        (frozenset(masks) & {*shape.attributes}, _within(shape, masks))
        for shape in estimate.shapes
        if not {*shape.attributes}.isdisjoint(masks)
    ]
    high = min((found.high for _, found in each), default=n_rows)
    return Range(_together(each, frozenset(masks), n_rows), high)


def _together(each: list[tuple[frozenset[str], Range]], asked: frozenset[str], n_rows: int) -> int:
    """The least that must hold together: views are taken one by one, those with the tightest lower bound first."""
    left, missing = set(asked), 0
    for names, found in sorted(each, key=lambda pair: (n_rows - pair[1].low) / len(pair[0])):
        if names & left:
            left -= names
            missing += n_rows - found.low
    return max(n_rows - missing, 0) if not left else 0


def _within(shape: PublishedView, masks: Masks) -> Range:
    sure, possible = shape.sizes.copy(), shape.sizes.copy()
    for part in shape.parts:
        if {*part.attributes}.isdisjoint(masks):
            continue
        least, most = _held(part, masks, shape.n_buckets)
        sure = np.maximum(sure + least - shape.sizes, 0)
        possible = np.minimum(possible, most)
    return Range(int(sure.sum()), int(possible.sum()))


def _held(part: PublishedColumn, masks: Masks, n_buckets: int) -> tuple[Ids, Ids]:
    """Rows of each bucket for which the predicates hold for sure, and for which they may hold."""
    held = part.held(masks)
    if held is not None:
        rows = part.rows_held(held, n_buckets)
        return rows, rows
    asked = [name for name in part.attributes if name in masks]
    shares = {name: part.covers[name].share_in(masks[name]) for name in asked}
    possible = _rows(part, {name: shares[name] > 0 for name in asked}, n_buckets)
    return _rows(part, {name: shares[name] == 1 for name in asked}, n_buckets), possible


def _rows(part: PublishedColumn, holds: Mapping[str, NDArray[np.bool_]], n_buckets: int) -> Ids:
    """Rows of each bucket whose labels all hold."""
    counts = part.counts
    for name, held in holds.items():
        counts = counts * held[part.labels[name]]
    return part.per_bucket(counts, n_buckets).astype(np.int64)
