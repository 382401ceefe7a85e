"""Which buckets match a target in every column, found column by column.

Targets that seek the same in the columns looked at so far share one list of buckets; each further column parts
them and shortens the lists. So the work grows with the buckets that still match, not with targets times buckets.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids, combined, ranges
from manyveils.reading.slices import NO_UNIT, Slice, Slices, slices_of
from manyveils.release import View

MOST_PAIRS = 1_000_000
FEW_PAIRS = 8_000_000
FEW_PER_TARGET = 8
SAMPLED = 1_000


@dataclass(frozen=True, repr=False)
class Pairs:
    """Targets with the buckets that match them in every column; the pairs of one target follow each other."""

    target: Ids
    bucket: Ids

    def some(self, which: Ids | slice) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.target[which], self.bucket[which])


@dataclass(frozen=True, repr=False)
class Search:
    """A sliced view, and about how many pairs of targets and buckets match in it.

    `coarser` has the few pairs of those who know less, which are looked through where there are any.
    """

    slices: Slices
    n_pairs: int
    coarser: "Search | None" = None

    def pairs(self) -> Iterable[Pairs]:
        """The matching buckets of all targets, a bounded number of pairs at a time."""
        return (self.few,) if self.n_pairs <= FEW_PAIRS else self._found()

    def pairs_of(self, targets: Ids) -> Iterator[Pairs]:
        """The matching buckets of some targets, a bounded number of pairs at a time."""
        return _found(self.slices.columns, targets)

    @cached_property
    def few(self) -> Pairs:
        """All pairs, by target and bucket."""
        found = list(self._found())
        target, bucket = (
            np.concatenate([getattr(pairs, name) for pairs in found] or [np.zeros(0, dtype=np.int64)])
            for name in ("target", "bucket")
        )
        order = np.argsort(target * self.slices.n_buckets + bucket, kind="stable")
        return Pairs(target[order], bucket[order])

    @property
    def is_narrow(self) -> bool:
        """Whether so few buckets match that it is quickest to look only through them if more is known."""
        return self.n_pairs <= min(FEW_PAIRS, FEW_PER_TARGET * len(self.slices.rows))

    def weights(self, pairs: Pairs) -> Floats:
        """The weight of each pair: the product of the shares of the bucket's rows that match in each column."""
        weights = np.ones(len(pairs.target))
        for column in self.slices.columns:
            weights *= column.units.shares[column.matching(pairs.target, pairs.bucket)]
        return weights

    def _found(self) -> Iterator[Pairs]:
        if self.coarser is None:
            return _found(self.slices.columns, np.arange(len(self.slices.rows)))
        return _found_within(self.coarser, self.slices)


def search_of(evidence: Evidence, view: View, known: frozenset[str]) -> Search:
    """How those who know some attributes search a view."""
    question = ("search", view.name, tuple(sorted(known)), ())
    return evidence.remembered(question, lambda: _search(evidence, view, known))


def _search(evidence: Evidence, view: View, known: frozenset[str]) -> Search:
    slices = slices_of(evidence, view, known)
    less = known & {*evidence.table.expand(evidence.policy.quasi)}
    if less and less < known:
        coarser = search_of(evidence, view, less)
        if coarser.is_narrow:
            n_matching = np.bincount(coarser.few.target, minlength=len(coarser.slices.rows))
            return Search(slices, int(n_matching[_coarser_targets(coarser, slices)].sum()), coarser)
    return Search(slices, _n_pairs(slices))


def _n_pairs(slices: Slices) -> int:
    """About how many pairs there are: those of targets evenly spaced, times what each of these stands for."""
    n_targets = len(slices.rows)
    sample = np.arange(0, n_targets, max(n_targets // SAMPLED, 1))
    n_pairs = sum(len(pairs.target) for pairs in _found(slices.columns, sample))
    return n_pairs * n_targets // max(len(sample), 1)


def _coarser_targets(coarser: Search, slices: Slices) -> Ids:
    """The target that each target is for someone who knows less."""
    return coarser.slices.of_row[slices.examples]


@dataclass(frozen=True, repr=False)
class _Paths:
    """Targets that are alike in some columns as one path; paths are numbered in the order of targets.

    `what` is what each path seeks in the last of these columns, and `parent` the path it has without it.
    """

    column: Slice
    what: Ids
    parent: Ids

    @cached_property
    def firsts(self) -> Ids:
        """The first path of each parent, and past the last."""
        return _starts(self.parent)

    @cached_property
    def starts(self) -> Ids:
        """Where the units start that each path seeks."""
        return self.column.starts[self.what]

    @cached_property
    def lengths(self) -> Ids:
        """How many units each path seeks."""
        return self.column.starts[self.what + 1] - self.starts


def _found(columns: Sequence[Slice], targets: Ids) -> Iterator[Pairs]:
    """The pairs of some targets."""
    if not len(targets):
        return
    ordered = sorted((column.some(targets) for column in columns), key=_rank)
    order = np.argsort(combined([column.of_target for column in ordered]), kind="stable")
    first, *others = _paths(
        [column.some(order) for column in ordered], np.zeros(len(targets), dtype=np.int64)
    )
    units, paths = ranges(first.starts, first.lengths), np.arange(len(first.what))
    listed = Pairs(np.repeat(paths, first.lengths), first.column.buckets[units])
    # Targets are different in some column, so the last paths are the targets in their order.
    for pairs in _narrowed(others, listed):
        yield Pairs(targets[order[pairs.target]], pairs.bucket)


def _found_within(coarser: Search, slices: Slices) -> Iterator[Pairs]:
    """The pairs of all targets among those of the targets they are for someone who knows less."""
    above = _coarser_targets(coarser, slices)
    before = dict(zip(coarser.slices.tables, coarser.slices.columns, strict=True))
    named = zip(slices.tables, slices.columns, strict=True)
    # Where nothing more is known of a column, it has been looked through.
    more = [
        column for table, column in named if table not in before or column.units is not before[table].units
    ]
    order = np.argsort(combined([above, *(column.of_target for column in more)]), kind="stable")
    for pairs in _narrowed(_paths([column.some(order) for column in more], above[order]), coarser.few):
        yield Pairs(order[pairs.target], pairs.bucket)


def _rank(column: Slice) -> float:
    """How late a column should be looked at: many matching buckets speak against it, and few things to seek for it.

    Of two columns next to each other, the one for which this is smaller makes fewer pairs when it comes first.
    """
    n_sought = len(column.starts) - 1
    return float(column.degrees.mean()) / column.units.n_buckets - 1 / n_sought


def _paths(columns: Sequence[Slice], above: Ids) -> list[_Paths]:
    """The paths of all targets, which stand in the order of `above` and of what they seek in the columns."""
    paths = []
    is_new = np.append(True, above[1:] != above[:-1])
    for column in columns:
        is_new[1:] |= column.of_target[1:] != column.of_target[:-1]
        firsts = np.flatnonzero(is_new)
        paths.append(_Paths(column, column.of_target[firsts], above[firsts]))
        above = np.cumsum(is_new) - 1
    return paths


def _starts(numbers: Ids) -> Ids:
    """Where each number starts in a rising list, and past the last."""
    return np.append(0, np.cumsum(np.bincount(numbers)))


def _narrowed(further: Sequence[_Paths], listed: Pairs) -> Iterator[Pairs]:
    """Follow paths with the buckets that match them so far through further columns."""
    if not further or not len(listed.target):
        yield listed
        return
    paths, *others = further
    low, high = int(listed.target[0]), int(listed.target[-1])
    starts = _starts(listed.target - low)
    children = np.arange(*paths.firsts[np.minimum([low, high + 1], len(paths.firsts) - 1)])
    parents = paths.parent[children] - low
    lengths = np.diff(starts)[parents]
    ends = np.cumsum(np.minimum(lengths, paths.lengths[children]))
    cuts = np.searchsorted(ends, np.arange(MOST_PAIRS, ends.max(initial=0), MOST_PAIRS))
    for some in np.split(np.arange(len(children)), cuts):
        if len(some):
            yield from _narrowed(
                others, _matching(paths, children[some], listed, starts[parents[some]], lengths[some])
            )


def _matching(paths: _Paths, children: Ids, listed: Pairs, starts: Ids, lengths: Ids) -> Pairs:
    """The buckets that match paths in one column more; `starts` and `lengths` say where those of their parents stand.

    Of the two lists, the parent's and the column's own, the shorter is gone through.
    """
    is_own = paths.lengths[children] < lengths
    parts = [
        _of_parents(paths, children[~is_own], listed, starts[~is_own], lengths[~is_own]),
        _of_column(paths, children[is_own], listed),
    ]
    path, bucket = (np.concatenate([getattr(part, name) for part in parts]) for name in ("target", "bucket"))
    order = np.argsort(path, kind="stable") if is_own.any() and not is_own.all() else slice(None)
    return Pairs(path[order], bucket[order])


def _of_parents(paths: _Paths, children: Ids, listed: Pairs, starts: Ids, lengths: Ids) -> Pairs:
    """Of the buckets that match the parents of paths, those that match in the column too."""
    path, bucket = np.repeat(children, lengths), listed.bucket[ranges(starts, lengths)]
    kept = np.flatnonzero(paths.column.units.at(paths.what[path], bucket) != NO_UNIT)
    return Pairs(path[kept], bucket[kept])


def _of_column(paths: _Paths, children: Ids, listed: Pairs) -> Pairs:
    """Of the buckets that match paths in the column, those that match their parents too."""
    n_buckets, lengths = paths.column.units.n_buckets, paths.lengths[children]
    path = np.repeat(children, lengths)
    bucket = paths.column.buckets[ranges(paths.starts[children], lengths)]
    present, keys = listed.target * n_buckets + listed.bucket, paths.parent[path] * n_buckets + bucket
    nearest = np.minimum(np.searchsorted(present, keys), len(present) - 1)
    kept = np.flatnonzero(present[nearest] == keys)
    return Pairs(path[kept], bucket[kept])
