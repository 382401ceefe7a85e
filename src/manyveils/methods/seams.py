"""Where a release falls apart by itself: values that no bucket mixes.

Whoever looks for a person in buckets need not look on the other side of a seam, so both sides are judged apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.parting import Cut, Cuts

Numbers = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Boxes:
    """Buckets by the lowest and highest code that each has of some columns, and their rows."""

    low: Mapping[str, Numbers]
    high: Mapping[str, Numbers]
    rows: Numbers
    sizes: Mapping[str, int]

    def some(self, which: NDArray[np.intp]) -> "Boxes":
        """Some of the buckets."""
        return Boxes(
            {name: each[which] for name, each in self.low.items()},
            {name: each[which] for name, each in self.high.items()},
            self.rows[which],
            self.sizes,
        )


def seams_of(boxes: Boxes, most_rows: int) -> Cuts:
    """Cut along seams until no part has more rows than may be, or none is left.

    Claim: every bucket lies in one part, and so does everybody whom it may hold.
    Why: at a seam no bucket has values of both sides, so a bucket matches only people of its own side.
    Tested by: tests/claims/test_seams.py
    """
    made: list[Cut] = []
    waiting = [(0, np.arange(boxes.rows.size))]
    while waiting:
        part, members = waiting.pop()
        inside = boxes.some(members)
        if int(inside.rows.sum()) <= most_rows:
            continue
        best = max((_seam(inside, name) for name in boxes.low), default=(0, "", 0))
        balance, column, last = best
        if not balance:
            continue
        left = np.arange(boxes.sizes[column]) <= last
        new = len(made) + 1
        made.append(Cut(part, new, column, left))
        is_left = inside.high[column] <= last
        waiting += [(part, members[is_left]), (new, members[~is_left])]
    return Cuts(tuple(made))


def _seam(boxes: Boxes, column: str) -> tuple[int, str, int]:
    """The seam of a column that divides the rows best: rows on the smaller side, column, last code on the left."""
    order = np.argsort(boxes.low[column], kind="stable")
    low, high = boxes.low[column][order], np.maximum.accumulate(boxes.high[column][order])
    ends = np.flatnonzero(low[1:] > high[:-1])
    if not ends.size:
        return 0, column, 0
    before = np.cumsum(boxes.rows[order])
    smaller = np.minimum(before[ends], before[-1] - before[ends])
    best = int(np.argmax(smaller))
    return int(smaller[best]), column, int(high[ends[best]])
