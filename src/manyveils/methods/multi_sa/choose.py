"""The largest part of a table that can be published."""

from dataclasses import dataclass

import numpy as np

from manyveils.methods.multi_sa.caps import Cap
from manyveils.methods.multi_sa.program import largest
from manyveils.promises.entries import Ids


@dataclass(frozen=True)
class Choice:
    """How many rows of each combination are published; no choice has more than `bound`."""

    amounts: Ids
    bound: int
    timed_out: bool = False

    @property
    def gap(self) -> float:
        """By how much of itself the choice may fall short of the best one."""
        chosen = int(self.amounts.sum())
        return (self.bound - chosen) / max(chosen, 1)


def largest_part(counts: Ids, caps: tuple[Cap, ...], seconds: float) -> Choice:
    """Choose as many rows as one bucket within every cap can have.

    Claim: no set of buckets within the caps holds more than `bound` rows, and nothing that is left out could make a
    bucket of its own once the gap is 0.
    Why: the caps are linear and without constants. So buckets within them are within them as one, and the best single
    bucket is as good as any set of buckets; and a bucket made of what is left out could join the choice.
    Tested by: tests/claims/test_multi_sa.py
    """
    if all(cap.is_simple for cap in caps):
        amounts = trimmed(counts, caps)
        return Choice(amounts, int(amounts.sum()))
    found = largest(counts, caps, seconds)
    amounts = trimmed(np.zeros_like(counts) if found.amounts is None else found.amounts, caps)
    # The solver's bound is a little off a whole number, and without limit if it had no time to find one.
    n_rows = int(counts.sum())
    bound = int(found.bound + 1e-4) if found.bound < n_rows else n_rows
    return Choice(amounts, max(bound, int(amounts.sum())), found.timed_out)


def trimmed(amounts: Ids, caps: tuple[Cap, ...]) -> Ids:
    """Cut down what exceeds its share until nothing does.

    Claim: if every cap is simple, no larger amounts are within the caps.
    Why: a cap then bounds one combination by a share of a sum. Of two choices within the caps, the larger amount of
    every combination is within them too, so there is one choice above all others; its amounts stay
    below what is cut down, for their own sums allow them already, and the sums that decide the cut are never smaller.
    Tested by: tests/claims/test_multi_sa.py
    """
    while True:
        cut = amounts
        for cap in caps:
            cut = _cut(cut, cap)
        if np.array_equal(cut, amounts):
            return cut
        amounts = cut


def _cut(amounts: Ids, cap: Cap) -> Ids:
    """Every cell cut to its share of the line as it is; the first combinations of a cell keep their rows."""
    if cap.is_simple:
        return np.minimum(amounts, cap.allowed(amounts)[cap.cell_of])
    order = np.argsort(cap.cell_of, kind="stable")
    cells, ordered = cap.cell_of[order], amounts[order]
    before = np.cumsum(ordered) - ordered
    before -= before[np.searchsorted(cells, cells)]
    cut = np.empty_like(amounts)
    cut[order] = np.clip(cap.allowed(amounts)[cells] - before, 0, ordered)
    return cut
