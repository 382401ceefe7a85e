"""Rows drawn from the distribution a release implies."""

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.columns import PublishedColumn
from manyveils.reading.cover import Floats, Ids
from manyveils.reading.matching import Matches, matches_of
from manyveils.reading.model import Estimate, Step
from manyveils.reading.views import PublishedView


def draw(estimate: Estimate, n: int, rng: np.random.Generator) -> dict[str, Ids]:
    """The codes of n people drawn from p̂, attribute by attribute."""
    drawn: dict[str, Ids] = {}
    for step in estimate.steps:
        drawn |= _drawn(step, drawn, n, rng)
    return drawn


def _drawn(step: Step, before: dict[str, Ids], n: int, rng: np.random.Generator) -> dict[str, Ids]:
    known = {name: before[name] for name in step.known}
    shape = step.shape
    if not known:
        return _rows(shape, {}, step.new, np.arange(n), _buckets(shape, n, rng), rng)
    places, buckets, shares = shape.located(known, n, {})
    chosen, found = _pick(places, shares, n, rng)
    here = np.flatnonzero(found)
    drawn = {name: np.zeros(n, dtype=np.int64) for name in step.new}
    for name, codes in _rows(shape, known, step.new, here, buckets[chosen[here]], rng).items():
        drawn[name][here] = codes
    strange = np.flatnonzero(~found)
    for name, codes in _rows(shape, {}, step.new, strange, _buckets(shape, strange.size, rng), rng).items():
        drawn[name][strange] = codes
    return drawn


def _buckets(shape: PublishedView, n: int, rng: np.random.Generator) -> Ids:
    return rng.choice(shape.n_buckets, n, p=shape.sizes / shape.n_rows) if n else np.zeros(0, dtype=np.int64)


def _rows(
    shape: PublishedView,
    known: dict[str, Ids],
    new: tuple[str, ...],
    who: Ids,
    buckets: Ids,
    rng: np.random.Generator,
) -> dict[str, Ids]:
    """For each person a row of her bucket in every column, among those that fit what is known, and an original under it."""
    drawn: dict[str, Ids] = {}
    for part in shape.parts:
        names = [name for name in part.attributes if name in new]
        if not names or not who.size:
            continue
        fitting = [name for name in part.attributes if name in known]
        if fitting:
            matches = matches_of(part, {name: known[name][who] for name in fitting}, {})
            rows = _fitting_rows(part, matches, buckets, shape.n_buckets, rng)
        else:
            rows = _any_rows(part, buckets, shape.n_buckets, rng)
        for name in names:
            drawn[name] = part.covers[name].picked(part.labels[name][rows], rng.random(who.size))
    return drawn


def _any_rows(part: PublishedColumn, buckets: Ids, n_buckets: int, rng: np.random.Generator) -> Ids:
    order = np.argsort(part.buckets, kind="stable")
    return order[_weighted(part.buckets[order], part.counts[order].astype(np.float64), buckets, rng)]


def _fitting_rows(
    part: PublishedColumn, matches: Matches, buckets: Ids, n_buckets: int, rng: np.random.Generator
) -> Ids:
    keys = matches.combinations * n_buckets + part.buckets[matches.rows]
    order = np.argsort(keys, kind="stable")
    wanted = matches.combination_of * n_buckets + buckets
    return matches.rows[order[_weighted(keys[order], matches.weights[order], wanted, rng)]]


def _weighted(keys: Ids, weights: Floats, wanted: Ids, rng: np.random.Generator) -> Ids:
    """For each wanted key a place among those with that key, drawn by weight; keys are in order."""
    ends = np.cumsum(weights)
    starts = np.searchsorted(keys, wanted)
    stops = np.searchsorted(keys, wanted, side="right")
    low = np.where(starts > 0, ends[starts - 1], 0.0)
    targets = low + rng.random(wanted.size) * (ends[stops - 1] - low)
    return np.clip(np.searchsorted(ends, targets, side="right"), starts, stops - 1)


def _pick(places: Ids, shares: Floats, n: int, rng: np.random.Generator) -> tuple[Ids, NDArray[np.bool_]]:
    """For each person one of her entries, drawn by share; and whether she has any."""
    order = np.argsort(places, kind="stable")
    totals = np.bincount(places, weights=shares, minlength=n)
    found = totals > 0
    chosen = np.zeros(n, dtype=np.int64)
    who = np.flatnonzero(found)
    chosen[who] = order[_weighted(places[order], shares[order], who, rng)]
    return chosen, found
