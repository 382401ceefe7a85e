"""For how many published rows predicates hold: the share of p̂, summed without listing tuples, and what is certain."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.keys import Floats, Ids, equal_rows, numbered, ranges
from manyveils.reading.model import Estimate, Step
from manyveils.reading.views import PublishedView, Tuples

MOST_COMBINATIONS = 20_000


class TooMany(Exception):
    """What views share has more combinations than can be listed."""


def share(estimate: Estimate, masks: Masks) -> float:
    """The share of p̂ that predicates hold for; raises TooMany where views share too much to sum over.

    Claim: it equals the sum of p̂ over all tuples for which the predicates hold.
    Why: steps form trees; the sum over what a step adds is taken first, for every combination it shares with its
    parent, and enters the parent's sum as a factor.
    Tested by: tests/claims/test_estimate.py
    """
    if not estimate.is_tree:
        raise TooMany
    needed = _needed(estimate.steps, masks)
    roots = [number for number in needed if estimate.steps[number].parent is None]
    return prod(float(_Sum(estimate, needed, masks).over(number, {}, 1)[0]) for number in roots)


def _needed(steps: Sequence[Step], masks: Masks) -> list[int]:
    """The steps that predicates speak of, and those they hang on; all others sum to one."""
    needed: set[int] = set()
    for number, step in enumerate(steps):
        if any(name in masks for name in step.new):
            ancestor: int | None = number
            while ancestor is not None:
                needed.add(ancestor)
                ancestor = steps[ancestor].parent
    return sorted(needed)


@dataclass(frozen=True, repr=False)
class _Sum:
    """One sum over the tree."""

    estimate: Estimate
    needed: list[int]
    masks: Masks

    def over(self, number: int, given: Tuples, n_given: int) -> Floats:
        """For every tuple of what is known, the share of what the step adds, and of all that hangs on it, that fits."""
        step = self.estimate.steps[number]
        whole = step.view.mass(given, n_given, {}) if step.known else np.ones(n_given)
        result = np.zeros(n_given)
        occurring, unknown = np.flatnonzero(whole > 0), np.flatnonzero(whole <= 0)
        if occurring.size:
            result[occurring] = self._inside(number, _taken(given, occurring), occurring.size)
            result[occurring] /= whole[occurring]
        if unknown.size:
            # The view does not know such a tuple, so it says of it what it says of everyone.
            result[unknown] = self._inside(number, _taken(given, unknown), unknown.size, is_known=False)
        return result

    def _inside(self, number: int, given: Tuples, n_given: int, *, is_known: bool = True) -> Floats:
        step = self.estimate.steps[number]
        own = {name: self.masks[name] for name in step.new if name in self.masks}
        children = [child for child in self.needed if self.estimate.steps[child].parent == number]
        if not children and (is_known or not given):
            return step.view.mass(given, n_given if given else 1, own)
        if not children:
            return np.repeat(step.view.mass({}, 1, own), n_given)
        shared = (name for child in children for name in self.estimate.steps[child].known)
        joins = tuple(dict.fromkeys(name for name in shared if name not in step.known))
        tuples, of_given, times = self._expanded(step, given, n_given, joins, is_known=is_known)
        wanted = {name: tuples[name] for name in ((*given, *joins) if is_known else joins)}
        rest = {name: mask for name, mask in own.items() if name not in joins}
        mass = step.view.mass(wanted, of_given.size, rest) * times
        for child in children:
            known = {name: tuples[name] for name in self.estimate.steps[child].known}
            mass = mass * self.over(child, known, of_given.size)
        return np.bincount(of_given, weights=mass, minlength=n_given).astype(np.float64)

    def _expanded(
        self, step: Step, given: Tuples, n_given: int, joins: tuple[str, ...], *, is_known: bool
    ) -> tuple[dict[str, Ids], Ids, Ids]:
        """Every tuple of what is known with every combination of `joins` it may go with.

        Also the number of the former, and for how many combinations alike each stands.
        """
        if not joins:
            return dict(given), np.arange(n_given), np.ones(n_given, dtype=np.int64)
        column = _plain_column(step.view, (*given, *joins)) if is_known and given else None
        if column is not None:
            return self._paired(column, given, joins)
        choices, times = self._choices(step.view, joins)
        if times.size * n_given > MOST_COMBINATIONS:
            raise TooMany
        of_given = np.repeat(np.arange(n_given), times.size)
        tiled = {name: np.tile(codes, n_given) for name, codes in choices.items()}
        return _taken(given, of_given) | tiled, of_given, np.tile(times, n_given)

    def _paired(
        self, column: PublishedColumn, given: Tuples, joins: tuple[str, ...]
    ) -> tuple[dict[str, Ids], Ids, Ids]:
        rows = self._rows(column, (*given, *joins))
        order, starts, lengths = equal_rows([rows[name] for name in given], list(given.values()))
        of_given = np.repeat(np.arange(lengths.size), lengths)
        joined = _taken({name: rows[name] for name in joins}, order[ranges(starts, lengths)])
        return _taken(given, of_given) | joined, of_given, np.ones_like(of_given)

    def _choices(self, view: PublishedView, names: tuple[str, ...]) -> tuple[dict[str, Ids], Ids]:
        """All combinations of originals that may occur, within the predicates, and how many each stands for."""
        column = _plain_column(view, names)
        if column is not None:
            rows = self._rows(column, names)
            return rows, np.ones(rows[names[0]].size, dtype=np.int64)
        alike = [self._alike(name) for name in names]
        if prod(codes.size for codes, _ in alike) > MOST_COMBINATIONS:
            raise TooMany
        grid = np.meshgrid(*(codes for codes, _ in alike), indexing="ij")
        times = np.meshgrid(*(times for _, times in alike), indexing="ij")
        tuples = {name: axis.reshape(-1) for name, axis in zip(names, grid, strict=True)}
        return tuples, np.prod(np.stack(times), axis=0).reshape(-1)

    def _alike(self, name: str) -> tuple[Ids, Ids]:
        """One original of each kind that no needed view tells apart, and how many there are of the kind."""
        everything = np.ones(len(self.estimate.domains[name].texts), dtype=bool)
        wanted = self.masks.get(name, everything)
        if not wanted.any():
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        views = [self.estimate.steps[number].view for number in self.needed]
        columns = [column for view in views for column in view.columns if name in column.covers]
        signs = np.concatenate([column.covers[name].signs[wanted] for column in columns], axis=1)
        _, firsts, times = np.unique(signs, axis=0, return_index=True, return_counts=True)
        return np.flatnonzero(wanted)[firsts], times.astype(np.int64)

    def _rows(self, column: PublishedColumn, names: tuple[str, ...]) -> dict[str, Ids]:
        """The different combinations of unrecoded attributes in a column, within the predicates."""
        question = ("rows", id(column), names)
        rows = self.estimate.remembered(question, lambda: _different_rows(column, names))
        fits = np.ones(rows[names[0]].size, dtype=bool)
        for name in names:
            if name in self.masks:
                fits &= self.masks[name][rows[name]]
        return {name: codes[fits] for name, codes in rows.items()}


def _taken(tuples: Tuples, indices: Ids) -> dict[str, Ids]:
    return {name: codes[indices] for name, codes in tuples.items()}


def _different_rows(column: PublishedColumn, names: tuple[str, ...]) -> dict[str, Ids]:
    codes = {name: column.covers[name].firsts[column.labels[name]] for name in names}
    return _taken(codes, numbered(list(codes.values()))[1])


def _plain_column(view: PublishedView, names: tuple[str, ...]) -> PublishedColumn | None:
    """The column that holds all these attributes, each label standing for one original."""
    for column in view.columns:
        if {*names} <= {*column.attributes} and not any(column.covers[name].is_coarse for name in names):
            return column
    return None


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
    return Range(_least_together(within, {*masks}, n_rows), high)


def _least_together(within: list[tuple[frozenset[str], Range]], names: set[str], n_rows: int) -> int:
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
