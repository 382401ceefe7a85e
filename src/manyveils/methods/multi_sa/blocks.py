"""The largest part of a table that can be published, and its division into blocks as small as can be found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from manyveils.methods.multi_sa.caps import Cap, keeps, largest, smallest
from manyveils.promises.entries import Ids

# Programs over more combinations take longer than they gain.
MOST_AMONG = 150
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Choice:
    """How many rows of each combination are published; no choice has more than `bound`."""

    amounts: Ids
    bound: int
    timed_out: bool = False

    @property
    def gap(self) -> float:
        """The share of its rows by which the choice may fall short of the best one."""
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
    solved = largest(counts, caps, seconds)
    amounts = trimmed(np.zeros_like(counts) if solved.amounts is None else solved.amounts, caps)
    # The solver's bound is a little off a whole number, and without limit if it had no time to find one.
    n_rows = int(counts.sum())
    bound = int(solved.bound + 1e-4) if solved.bound < n_rows else n_rows
    return Choice(amounts, max(bound, int(amounts.sum())), solved.timed_out)


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


@dataclass(frozen=True)
class Block:
    """A bucket by the rows it has of each combination, and how many such buckets there are."""

    combinations: Ids
    amounts: Ids
    times: int


@dataclass(frozen=True)
class Division:
    """Blocks, and how many rows are in large ones because time ran out."""

    blocks: tuple[Block, ...]
    coarse: int


def divide(
    amounts: Ids, caps: tuple[Cap, ...], codes: tuple[Ids, ...], deadline: float, progress: Progress
) -> Division:
    """Take off the smallest block that holds the rarest combination, as often as it goes, until nothing is left.

    `codes` are the values of the combinations, column by column.

    Claim: every row is in one block, and every block is within every cap.
    Why: a block is taken off only if it and the rest are within the caps; so the rest, which may be the whole, is always
    a block too.
    Tested by: tests/claims/test_multi_sa.py
    """
    blocks: list[Block] = []
    left, n_rows = amounts.copy(), int(amounts.sum())
    while left.any():
        block = _next(left, caps, codes, deadline)
        if block is None:
            return Division((*blocks, *_coarsely(left, caps)), int(left.sum()))
        times = _times(left, block, caps)
        blocks.append(_taken(block, times))
        left -= times * block
        progress(1 - int(left.sum()) / n_rows)
    return Division(tuple(blocks), 0)


def _coarsely(left: Ids, caps: tuple[Cap, ...]) -> Iterator[Block]:
    """Equal shares of what is left, many at first, then fewer; each with a rest within the caps, which comes last."""
    times = int(left.max())
    while times > 1:
        share = trimmed(left // times, caps)
        if share.any() and keeps(left - times * share, caps):
            yield _taken(share, times)
            left = left - times * share
        times //= 2
    if left.any():
        yield _taken(left, 1)


def _taken(amounts: Ids, times: int) -> Block:
    members = np.flatnonzero(amounts)
    return Block(members, amounts[members], times)


def _next(left: Ids, caps: tuple[Cap, ...], codes: tuple[Ids, ...], deadline: float) -> Ids | None:
    """The smallest block around the rarest combination: looked for nearby, then everywhere, while there is time."""
    live = np.flatnonzero(left)
    seed = int(live[np.argmin(left[live])])
    near = around(seed, live, left, codes)
    for among in (near, live) if near.size < live.size else (live,):
        seconds = deadline - perf_counter()
        if seconds <= 0:
            return None
        block = smallest(left, caps, among, seed, seconds).amounts
        # Solvers round; what is published rests on whole numbers.
        if block is not None and block.any() and keeps(block, caps) and keeps(left - block, caps):
            return block
    return None


def around(seed: int, live: Ids, left: Ids, codes: tuple[Ids, ...]) -> Ids:
    """The combinations made of the commonest values beside the seed's own, so many that a program is quick.

    A value is as common as the combination that has it and is otherwise like the seed.
    """
    differs = np.array([column[live] != column[seed] for column in codes])
    ranks = np.zeros(live.size, dtype=np.int64)
    for column, is_other in zip(codes, differs, strict=True):
        beside = live[differs.sum(axis=0) - is_other == 0]
        weights = np.bincount(column[beside], weights=left[beside], minlength=int(column.max()) + 1)
        weights[column[seed]] = np.inf
        rank = np.empty(weights.size, dtype=np.int64)
        rank[np.argsort(-weights, kind="stable")] = np.arange(weights.size)
        ranks = np.maximum(ranks, rank[column[live]])
    widest = int(np.searchsorted(np.cumsum(np.bincount(ranks)), MOST_AMONG, side="right"))
    return live[ranks < max(widest, 2)]


def _times(left: Ids, block: Ids, caps: tuple[Cap, ...]) -> int:
    """How often a block can be taken off before it runs out or the rest exceeds a share."""
    members = block > 0
    times = int((left[members] // block[members]).min())
    for cap in caps:
        spent = cap.slack(block)
        uses = spent > 0
        times = min([times, *(cap.slack(left)[uses] // spent[uses]).tolist()])
    return times
