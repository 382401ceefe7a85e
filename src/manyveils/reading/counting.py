"""How much of the distribution predicates hold for, summed without listing tuples."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from manyveils.reading.columns import Masks, PublishedColumn
from manyveils.reading.cover import Floats, Ids
from manyveils.reading.keys import numbered, ranges
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
    roots = [place for place in needed if estimate.steps[place].parent is None]
    return prod(float(_Sum(estimate, needed, masks).over(place, {}, 1)[0]) for place in roots)


def _needed(steps: Sequence[Step], masks: Masks) -> list[int]:
    """The steps that predicates speak of, and those they hang on; all others sum to one."""
    needed: set[int] = set()
    for place, step in enumerate(steps):
        if any(name in masks for name in step.new):
            here: int | None = place
            while here is not None:
                needed.add(here)
                here = steps[here].parent
    return sorted(needed)


@dataclass(frozen=True, repr=False)
class _Sum:
    """One sum over the tree."""

    estimate: Estimate
    needed: list[int]
    masks: Masks

    def over(self, place: int, given: Tuples, n_given: int) -> Floats:
        """For every tuple of what is known, the share of what the step adds, and of all that hangs on it, that fits."""
        step = self.estimate.steps[place]
        whole = step.shape.mass(given, n_given, {}) if step.known else np.ones(n_given)
        usual, strange = np.flatnonzero(whole > 0), np.flatnonzero(whole <= 0)
        result = np.zeros(n_given)
        if usual.size:
            known = {name: codes[usual] for name, codes in given.items()}
            result[usual] = self._inside(place, known, usual.size) / whole[usual]
        if strange.size:
            # The view does not know such a tuple, so it says of it what it says of everyone.
            known = {name: codes[strange] for name, codes in given.items()}
            result[strange] = self._inside(place, known, strange.size, ignored=True)
        return result

    def _inside(self, place: int, given: Tuples, n_given: int, *, ignored: bool = False) -> Floats:
        step = self.estimate.steps[place]
        own = {name: self.masks[name] for name in step.new if name in self.masks}
        children = [child for child in self.needed if self.estimate.steps[child].parent == place]
        shared = (name for child in children for name in self.estimate.steps[child].known)
        joins = tuple(dict.fromkeys(name for name in shared if name not in step.known))
        asked = {} if ignored else given
        if not children:
            held = step.shape.mass(asked, n_given if asked else 1, own)
            return held if asked or not given else np.repeat(held, n_given)
        tuples, of_given, times = self._expanded(step, given, n_given, joins, apart=ignored)
        wanted = {name: tuples[name] for name in (joins if ignored else (*asked, *joins))}
        rest = {name: mask for name, mask in own.items() if name not in joins}
        held = step.shape.mass(wanted, of_given.size, rest) * times
        for child in children:
            known = {name: tuples[name] for name in self.estimate.steps[child].known}
            held = held * self.over(child, known, of_given.size)
        return np.bincount(of_given, weights=held, minlength=n_given).astype(np.float64)

    def _expanded(
        self, step: Step, given: Tuples, n_given: int, joins: tuple[str, ...], *, apart: bool
    ) -> tuple[dict[str, Ids], Ids, Ids]:
        """Every tuple of what is known with every combination of `joins` it may go with.

        Also the place of the former, and for how many combinations alike each stands.
        """
        if not joins:
            return dict(given), np.arange(n_given), np.ones(n_given, dtype=np.int64)
        together = None if apart else _plain_part(step.shape, (*given, *joins))
        if together is not None and given:
            return self._paired(together, given, joins)
        choices, times = self._choices(step.shape, joins)
        n_choices = times.size
        if n_choices * n_given > MOST_COMBINATIONS:
            raise TooMany
        of_given = np.repeat(np.arange(n_given), n_choices)
        tuples = {name: codes[of_given] for name, codes in given.items()}
        return (
            tuples | {name: np.tile(codes, n_given) for name, codes in choices.items()},
            of_given,
            np.tile(times, n_given),
        )

    def _paired(
        self, part: PublishedColumn, given: Tuples, joins: tuple[str, ...]
    ) -> tuple[dict[str, Ids], Ids, Ids]:
        rows = self._rows(part, (*given, *joins))
        both, _ = numbered([np.concatenate([rows[name], given[name]]) for name in given])
        n_rows = rows[joins[0]].size
        held, asked = both[:n_rows], both[n_rows:]
        order = np.argsort(held, kind="stable")
        starts = np.searchsorted(held[order], asked)
        lengths = np.searchsorted(held[order], asked, side="right") - starts
        picked = order[ranges(starts, lengths)]
        of_given = np.repeat(np.arange(asked.size), lengths)
        tuples = {name: codes[of_given] for name, codes in given.items()}
        return tuples | {name: rows[name][picked] for name in joins}, of_given, np.ones_like(of_given)

    def _choices(self, shape: PublishedView, names: tuple[str, ...]) -> tuple[dict[str, Ids], Ids]:
        """All combinations of originals that may occur, within the predicates, and how many each stands for."""
        part = _plain_part(shape, names)
        if part is not None:
            rows = self._rows(part, names)
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
        wanted = np.ones(len(self.estimate.domains[name].texts), dtype=bool)
        if name in self.masks:
            wanted = self.masks[name]
        signs = [
            part.covers[name].signs[wanted]
            for place in self.needed
            for part in self.estimate.steps[place].shape.parts
            if name in part.covers
        ]
        if not wanted.any():
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        _, firsts, times = np.unique(
            np.concatenate(signs, axis=1), axis=0, return_index=True, return_counts=True
        )
        return np.flatnonzero(wanted)[firsts], times.astype(np.int64)

    def _rows(self, part: PublishedColumn, names: tuple[str, ...]) -> dict[str, Ids]:
        """The different combinations of unrecoded attributes in a column, within the predicates."""
        rows = self.estimate.remembered(("rows", id(part), names), lambda: _different_rows(part, names))
        fits = np.ones(rows[names[0]].size, dtype=bool)
        for name in names:
            if name in self.masks:
                fits &= self.masks[name][rows[name]]
        return {name: codes[fits] for name, codes in rows.items()}


def _different_rows(part: PublishedColumn, names: tuple[str, ...]) -> dict[str, Ids]:
    codes = {name: part.covers[name].firsts[part.labels[name]] for name in names}
    _, firsts = numbered(list(codes.values()))
    return {name: held[firsts] for name, held in codes.items()}


def _plain_part(shape: PublishedView, names: tuple[str, ...]) -> PublishedColumn | None:
    """The column that holds all these attributes, each label standing for one original."""
    for part in shape.parts:
        if {*names} <= {*part.attributes} and all(
            part.covers[name].sizes.max(initial=1) == 1 for name in names
        ):
            return part
    return None
