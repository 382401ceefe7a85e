"""Rows drawn from the distribution a release implies."""

import numpy as np

from manyveils.reading.columns import PublishedColumn
from manyveils.reading.keys import Bools, Floats, Ids
from manyveils.reading.matching import matches_of
from manyveils.reading.model import Estimate, Step
from manyveils.reading.views import PublishedView


def draw(estimate: Estimate, n: int, rng: np.random.Generator) -> dict[str, Ids]:
    """The codes of n people drawn from p̂, attribute by attribute."""
    drawn: dict[str, Ids] = {}
    for step in estimate.steps:
        drawn |= _drawn(step, drawn, n, rng)
    return drawn


def _drawn(step: Step, before: dict[str, Ids], n: int, rng: np.random.Generator) -> dict[str, Ids]:
    view, known = step.view, {name: before[name] for name in step.known}
    if not known:
        return _rows(view, {}, step.new, np.arange(n), _buckets(view, n, rng), rng)
    owners, buckets, shares = view.located(known, n, {})
    entries, has_any = _pick(owners, shares, n, rng)
    drawn = {name: np.zeros(n, dtype=np.int64) for name in step.new}
    people = np.flatnonzero(has_any)
    for name, codes in _rows(view, known, step.new, people, buckets[entries[people]], rng).items():
        drawn[name][people] = codes
    people = np.flatnonzero(~has_any)
    for name, codes in _rows(view, {}, step.new, people, _buckets(view, people.size, rng), rng).items():
        drawn[name][people] = codes
    return drawn


def _buckets(view: PublishedView, n: int, rng: np.random.Generator) -> Ids:
    return rng.choice(view.n_buckets, n, p=view.sizes / view.n_rows) if n else np.zeros(0, dtype=np.int64)


def _rows(
    view: PublishedView,
    known: dict[str, Ids],
    new: tuple[str, ...],
    people: Ids,
    buckets: Ids,
    rng: np.random.Generator,
) -> dict[str, Ids]:
    """For each person a row of her bucket in every column, among those that fit what is known, and an original under it."""
    drawn: dict[str, Ids] = {}
    for column in view.columns:
        names = [name for name in column.attributes if name in new]
        if not names or not people.size:
            continue
        fitting = {name: known[name][people] for name in column.attributes if name in known}
        rows = _column_rows(column, fitting, buckets, view.n_buckets, rng)
        for name in names:
            drawn[name] = column.covers[name].picked(column.labels[name][rows], rng.random(people.size))
    return drawn


def _column_rows(
    column: PublishedColumn, known: dict[str, Ids], buckets: Ids, n_buckets: int, rng: np.random.Generator
) -> Ids:
    """For each person a row of her bucket, drawn by weight among those that fit what is known."""
    if not known:
        order = np.argsort(column.buckets, kind="stable")
        counts = column.counts[order].astype(np.float64)
        return order[_weighted(column.buckets[order], counts, buckets, rng)]
    matches = matches_of(column, known, {})
    keys = matches.combinations * n_buckets + column.buckets[matches.rows]
    order = np.argsort(keys, kind="stable")
    wanted = matches.combination_of * n_buckets + buckets
    return matches.rows[order[_weighted(keys[order], matches.weights[order], wanted, rng)]]


def _weighted(keys: Ids, weights: Floats, wanted: Ids, rng: np.random.Generator) -> Ids:
    """For each wanted key an index among those with that key, drawn by weight; keys are in order."""
    ends = np.cumsum(weights)
    starts = np.searchsorted(keys, wanted)
    stops = np.searchsorted(keys, wanted, side="right")
    low = np.where(starts > 0, ends[starts - 1], 0.0)
    targets = low + rng.random(wanted.size) * (ends[stops - 1] - low)
    return np.clip(np.searchsorted(ends, targets, side="right"), starts, stops - 1)


def _pick(owners: Ids, shares: Floats, n: int, rng: np.random.Generator) -> tuple[Ids, Bools]:
    """For each person one of her entries, drawn by share; and whether she has any."""
    order = np.argsort(owners, kind="stable")
    has_any = np.bincount(owners, weights=shares, minlength=n) > 0
    people = np.flatnonzero(has_any)
    entries = np.zeros(n, dtype=np.int64)
    entries[people] = order[_weighted(owners[order], shares[order], people, rng)]
    return entries, has_any
