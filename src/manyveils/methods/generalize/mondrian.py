"""Partition rows top-down into groups that keep every promise, each losing as little as it can in its style."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.cuts import divide, propose
from manyveils.kernels.segments import mark, parts_left
from manyveils.methods.generalize.cutting import Cutting
from manyveils.promises.crowds import persons_of
from manyveils.promises.entries import Entries, Ids, Kept, Subject, for_each_once
from manyveils.promises.headcounts import Headcount, headcount
from manyveils.promises.keeping import Watch, all_kept
from manyveils.release.dealing import ranks_within
from manyveils.table.order import in_order

# Which groups keep every promise, of groups numbered row by row from 0 (-1 for rows in none), and how many there are.
Judged = Callable[[Ids, int], Kept]


@dataclass(frozen=True)
class Segments:
    """Groups of rows as runs of one list of rows."""

    rows: NDArray[np.integer]
    starts: Ids
    stops: Ids

    def group_of_row(self, n_rows: int) -> NDArray[np.int32]:
        """The number of each row's group; -1 for rows outside."""
        groups = np.full(n_rows, -1, dtype=np.int32)
        self.mark(groups, 0)
        return groups

    def mark(self, groups: NDArray[np.int32], first: int) -> None:
        """Write the number of its group to each row, numbered from `first`; rows outside keep what they have."""
        mark(groups, self.rows, self.starts, self.stops, first)

    def listed(self) -> Ids:
        """The rows of all groups, group after group."""
        return np.asarray(self.rows[np.repeat(self.starts, self.sizes) + ranks_within(self.sizes)])

    @property
    def sizes(self) -> Ids:
        """Rows per group."""
        return self.stops - self.starts

    def some(self, which: NDArray[np.bool_]) -> "Segments":
        """Only some of the groups."""
        return Segments(self.rows, self.starts[which], self.stops[which])


@dataclass(frozen=True)
class Proposals:
    """The best cut of every group along every attribute, and which of them are still to be tried."""

    gains: NDArray[np.float64]
    levels: Ids
    cuts: Ids
    takes: Ids

    def some(self, which: NDArray[np.bool_]) -> "Proposals":
        """The proposals of some groups."""
        return Proposals(self.gains[which], self.levels[which], self.cuts[which], self.takes[which])


@dataclass(frozen=True, repr=False)
class Cuts:
    """The cuts that led to groups: of every part there ever was the one it was cut from, and the part that each group is.

    Part 0 is the whole table, and parts come after those they were cut from.
    """

    parents: Ids
    groups: Ids

    def and_of(self, lefts: Ids) -> "Cuts":
        """These cuts and one of each of some groups, which keep their number on one side; the other sides come last."""
        above, first = self.groups[lefts], self.parents.size
        groups = np.append(self.groups, first + lefts.size + np.arange(lefts.size))
        groups[lefts] = first + np.arange(lefts.size)
        return Cuts(np.concatenate([self.parents, above, above]), groups)

    def without(self, undone: NDArray[np.bool_]) -> Ids:
        """The part that each group belongs to once the cuts of some parts are undone."""
        parts: Ids = parts_left(self.parents, undone)[self.groups]
        return parts


NO_CUTS = Cuts(np.full(1, -1), np.zeros(1, dtype=np.int64))


def partition(
    cutting: Cutting,
    order: Ids,
    watches: tuple[Watch, ...],
    *,
    relaxed: bool,
    progress: Callable[[float], None],
    judged: Judged | None = None,
) -> Ids:
    """The group of every row, as `cut_apart` says."""
    return cut_apart(cutting, order, watches, relaxed=relaxed, progress=progress, judged=judged)[0]


def cut_apart(
    cutting: Cutting,
    order: Ids,
    watches: tuple[Watch, ...],
    *,
    relaxed: bool,
    progress: Callable[[float], None],
    judged: Judged | None = None,
) -> tuple[Ids, Cuts]:
    """Cut all groups round by round, each along the attribute that gains most, as long as both parts keep every promise.

    `order` lists all rows; where equal rows must be told apart, its order decides. Without `judged`, promises are
    decided on the rows; with it, what is cut may be anything that has codes, as persons are of whom some row stands
    for all.

    Claim: every group keeps every promise if the whole table does.
    Why: a group is replaced by two parts only after both were found to keep every promise.
    Tested by: tests/claims/test_mondrian.py
    """
    n_rows = order.size
    least = max((watched.promise.guarantee.least_rows for watched in watches), default=1)
    # Laid out in that order once, rows are read nearly one after another in every round.
    cutting = replace(cutting, codes=_narrow(cutting.codes)[:, order])
    evidence = Asking(judged, order) if judged else _evidence(watches, order)
    active = Segments(np.arange(n_rows, dtype=np.int32), np.array([0]), np.array([n_rows]))
    proposals = _propose(cutting, active, least, relaxed=relaxed)
    groups = np.zeros(n_rows, dtype=np.int32)
    n_groups, cuts = 1, NO_CUTS
    while True:
        open_ = proposals.gains.max(axis=1, initial=0.0) > 0
        active, proposals = active.some(open_), proposals.some(open_)
        if not active.starts.size:
            break
        evidence = evidence.of_active(active, n_rows)
        progress(1 - int(active.sizes.sum()) / n_rows)
        fine, chosen = _try(cutting, active, proposals, evidence, n_rows, relaxed=relaxed)
        left = _chosen(proposals.takes, chosen)
        # The left part keeps the group's number, the right part gets a new one.
        right = Segments(active.rows, active.starts[fine] + left[fine], active.stops[fine])
        cuts = cuts.and_of(groups[active.rows[active.starts[fine]]])
        right.mark(groups, n_groups)
        n_groups += right.starts.size
        # A refused cut is not tried again; the attribute's gain is spent.
        proposals.gains[np.flatnonzero(~fine), chosen[~fine]] = 0.0
        refused, parted = active.some(~fine), _halves(active, left, fine)
        proposals = _joined(proposals.some(~fine), _propose(cutting, parted, least, relaxed=relaxed))
        starts, stops = np.append(refused.starts, parted.starts), np.append(refused.stops, parted.stops)
        active = Segments(active.rows, starts, stops)
    of_row = np.empty(n_rows, dtype=np.int64)
    of_row[order] = groups
    return of_row, cuts


def _narrow(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """The same codes in as few bytes as hold them: with more rows than a cache holds, reading them is most of the work."""
    return codes.astype(np.int16) if codes.max(initial=0) <= np.iinfo(np.int16).max else codes


@dataclass(frozen=True, repr=False)
class Tallied:
    """Promises to rows: every row as an entry of its own, in order of code, so that any grouping is counted in one pass."""

    watches: tuple[Watch, ...]
    entries: tuple[Entries | None, ...]

    def of_active(self, active: Segments, n_rows: int) -> "Tallied":
        """Drop the rows of finished groups from the entries, once they are most of them."""
        largest = max((counted.owners.size for counted in self.entries if counted is not None), default=0)
        if 2 * int(active.sizes.sum()) > largest:
            return self
        is_active = active.group_of_row(n_rows) >= 0
        some = for_each_once(self.entries, lambda counted: counted.some(is_active[counted.owners]))
        return Tallied(self.watches, some)

    def kept(self, parts: Segments, n_rows: int) -> Kept:
        """Which parts keep every promise."""
        entries = self.entries
        if any(counted is not None for counted in entries):
            owner = parts.group_of_row(n_rows)
            entries = for_each_once(entries, lambda counted: counted.under(owner, parts.starts.size))
        return all_kept(self.watches, entries, parts.sizes)


@dataclass(frozen=True, repr=False)
class Counting:
    """Promises to persons with several rows, and where each of the rows they are counted from stands among all."""

    promised: Headcount
    places: Ids

    def of_active(self, active: Segments, n_rows: int) -> "Counting":
        """Drop the rows of finished groups, once they are most of them."""
        if 2 * int(active.sizes.sum()) > self.places.size:
            return self
        is_active = active.group_of_row(n_rows)[self.places] >= 0
        return Counting(self.promised.among(is_active), self.places[is_active])

    def kept(self, parts: Segments, n_rows: int) -> Kept:
        """Which parts keep every promise."""
        return self.promised.kept(parts.group_of_row(n_rows)[self.places].astype(np.int64), parts.starts.size)


@dataclass(frozen=True, repr=False)
class Asking:
    """Promises that somebody else decides, and the row at each place of the order."""

    judged: Judged
    order: Ids

    def of_active(self, active: Segments, n_rows: int) -> "Asking":
        """The same: rows of finished groups are in none of those asked about."""
        return self

    def kept(self, parts: Segments, n_rows: int) -> Kept:
        """Which parts keep every promise."""
        groups = np.empty(n_rows, dtype=np.int64)
        groups[self.order] = parts.group_of_row(n_rows)
        return self.judged(groups, parts.starts.size)


def _evidence(watches: tuple[Watch, ...], rows: Ids) -> Tallied | Counting:
    """What promises are decided on, for listed rows, which are all there are."""
    persons = persons_of(watches[0].table) if watches else None
    if persons is not None:
        place_of = np.empty(rows.size, dtype=np.int64)
        place_of[rows] = np.arange(rows.size)
        return Counting(headcount(persons, watches), place_of[persons.order])

    def entries_of(subject: Subject) -> Entries:
        listed = subject.of_rows(rows)
        order = in_order(listed.codes)
        owners = order if listed.rows is None else listed.rows[order]
        return Entries(owners, listed.codes[order], np.ones(order.size, dtype=np.int64))

    return Tallied(watches, for_each_once([watched.subject for watched in watches], entries_of))


def _propose(cutting: Cutting, segments: Segments, least: int, *, relaxed: bool) -> Proposals:
    runs = segments.rows, segments.starts, segments.stops
    return Proposals(*propose(cutting.codes, *runs, least, relaxed, *cutting.measures))


def _chosen(values: Ids, chosen: Ids) -> Ids:
    return values[np.arange(chosen.size), chosen]


def _try(
    cutting: Cutting,
    active: Segments,
    proposals: Proposals,
    evidence: Tallied | Counting | Asking,
    n_rows: int,
    *,
    relaxed: bool,
) -> tuple[NDArray[np.bool_], Ids]:
    """Cut every active group along its best attribute; say which cuts keep every promise on both sides."""
    chosen = np.argmax(proposals.gains, axis=1)
    takes = _chosen(proposals.takes, chosen)
    cuts = _chosen(proposals.levels, chosen), _chosen(proposals.cuts, chosen), takes
    runs = active.rows, active.starts, active.stops
    divide(cutting.codes, *runs, chosen, *cuts, cutting.labels, cutting.label_starts, relaxed)
    parts = _halves(active, takes, np.ones(chosen.size, dtype=bool))
    fine, n = evidence.kept(parts, n_rows), chosen.size
    return fine[:n] & fine[n:], chosen


def _halves(segments: Segments, left: Ids, which: NDArray[np.bool_]) -> Segments:
    """The left parts of some groups, then their right parts."""
    middles = segments.starts + left
    return Segments(
        segments.rows,
        np.concatenate([segments.starts[which], middles[which]]),
        np.concatenate([middles[which], segments.stops[which]]),
    )


def _joined(first: Proposals, second: Proposals) -> Proposals:
    pairs = zip(vars(first).values(), vars(second).values(), strict=True)
    return Proposals(*map(np.concatenate, pairs))
