"""Between which numbers a count must lie, whatever the assignment of rows inside buckets and across views."""

from dataclasses import dataclass

import numpy as np

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.keys import Ids
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
    least a + b - n of them; a label that covers only some of the originals a predicate holds for may or may not count;
    and whole views are columns of the table in the same way.
    Tested by: tests/claims/test_estimate.py
    """
    if not masks:
        return Range(n_rows, n_rows)
    views = [view for view in estimate.views if not {*view.attributes}.isdisjoint(masks)]
    within = [(frozenset(masks) & {*view.attributes}, _within(view, masks)) for view in views]
    high = min((view.high for _, view in within), default=n_rows)
    return Range(_together(within, {*masks}, n_rows), high)


def _together(within: list[tuple[frozenset[str], Range]], names: set[str], n_rows: int) -> int:
    """The least that must hold together: views are taken one by one, those with the tightest lower bound first."""
    missing = 0
    for shown, view in sorted(within, key=lambda pair: (n_rows - pair[1].low) / len(pair[0])):
        if shown & names:
            names = names - shown
            missing += n_rows - view.low
    return max(n_rows - missing, 0) if not names else 0


def _within(view: PublishedView, masks: Masks) -> Range:
    sure = possible = view.sizes
    for column in view.columns:
        if not {*column.attributes}.isdisjoint(masks):
            least, most = _rows_held(column, masks, view.n_buckets)
            sure = np.maximum(sure + least - view.sizes, 0)
            possible = np.minimum(possible, most)
    return Range(int(sure.sum()), int(possible.sum()))


def _rows_held(column: PublishedColumn, masks: Masks, n_buckets: int) -> tuple[Ids, Ids]:
    """Rows of each bucket for which the predicates hold for sure, and for which they may hold."""
    held = column.held(masks)
    if held is not None:
        rows = column.rows_held(held, n_buckets)
        return rows, rows
    sure, possible = column.counts, column.counts
    for name in column.attributes:
        if name in masks:
            shares = column.covers[name].share_in(masks[name])[column.labels[name]]
            sure, possible = sure * (shares == 1), possible * (shares > 0)
    least, most = (column.per_bucket(counts, n_buckets).astype(np.int64) for counts in (sure, possible))
    return least, most
