"""What someone believes of a sensitive attribute who knows other attributes: read off the views of a release.

In a view p̂(s | k) weighs the buckets by the rows in them that match what is known, and inside a bucket the values
beside those rows. Where several views show s, each adds what it knows beyond what earlier ones knew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.sightings import Sighting, Sightings, part_with
from manyveils.reading.columns import PublishedColumn, Spread
from manyveils.reading.views import PublishedView

ALMOST = 1e-9

Finder = Callable[[PublishedView, tuple[str, ...]], Sightings]


@dataclass(frozen=True, repr=False)
class Beliefs:
    """A distribution over values for every person; people of whom the same is known share a row."""

    rows: Floats
    of: Ids

    @cached_property
    def _best(self) -> tuple[Floats, Ids]:
        best = self.rows.max(axis=1, initial=0.0)
        return best, (self.rows >= best[:, np.newaxis] - ALMOST).sum(axis=1)

    def at(self, codes: Ids) -> Floats:
        """The belief in one value for each person; none in a value that nobody has."""
        return np.where(codes >= 0, self.rows[self.of, np.maximum(codes, 0)], 0.0)

    def right(self, codes: Ids) -> Floats:
        """How often the likeliest value is the right one, for each person; ties are broken by chance."""
        best, ties = self._best
        return np.where(self.at(codes) >= best[self.of] - ALMOST, 1.0 / ties[self.of], 0.0)

    def merged(self, label_of: Ids, n_labels: int) -> "Beliefs":
        """The same beliefs about labels that stand for several values; values without a label stay by themselves."""
        n_values = self.rows.shape[1]
        labels = np.concatenate([label_of, n_labels + np.arange(n_values - label_of.size)])
        entries = (np.ones(n_values), (np.arange(n_values), labels))
        shape = (n_values, n_labels + n_values - label_of.size)
        return Beliefs(self.rows @ sparse.csr_array(entries, shape=shape), self.of)


def normalized(rows: Floats, instead: Floats) -> Floats:
    """Rows that sum to one; a row of nothing becomes the one given instead."""
    totals = rows.sum(axis=1, keepdims=True)
    return np.where(totals > 0, rows / np.where(totals > 0, totals, 1.0), instead)


def believed(
    shapes: Sequence[PublishedView], known: Mapping[str, Ids], about: str, find: Finder, n: int
) -> Floats:
    """p̂ of an attribute for n targets, from all views that show it.

    Claim: in a view, it is the share of the value among all rows of all possible tables that match what is known.
    Why: inside a bucket every pairing of its columns is as likely as any other, so the expected number of rows that
    match in all columns is the product of the matching shares; labels stand evenly for what they cover.
    Tested by: tests/attacks/test_beliefs.py
    """
    showing = [shape for shape in shapes if about in shape.attributes and shape.n_rows]
    assert showing, "the attribute is published"
    showing.sort(key=lambda shape: -len({*shape.attributes} & {*known}))
    views = [
        _View(shape, tuple(n for n in known if n in shape.attributes and n != about)) for shape in showing
    ]
    told = [_in_view(view.shape, view.asked, about, find, n) for view in views]
    # A view that has no place for somebody says nothing of her, and does not stand in the way of the others.
    patterns, pattern_of = np.unique(np.stack([has for _, has in told]), axis=1, return_inverse=True)
    result = told[0][0].copy()
    for number in range(patterns.shape[1]):
        who = np.flatnonzero(pattern_of == number)
        placed = [place for place in range(len(views)) if patterns[place, number]]
        _multiply(result, who, [(views[place], told[place][0]) for place in placed], about, find, n)
    return result


@dataclass(frozen=True, repr=False)
class _View:
    """A view, and what is known of the attributes in it."""

    shape: PublishedView
    asked: tuple[str, ...]


def _multiply(
    result: Floats, who: Ids, told: list[tuple[_View, Floats]], about: str, find: Finder, n: int
) -> None:
    """Put in place what some people are believed to have: every view adds what it says beyond the earlier ones."""
    seen: set[str] = set()
    for number, (view, said) in enumerate(told):
        if number == 0:
            result[who] = said[who]
        else:
            shared = tuple(name for name in view.asked if name in seen)
            before = _in_view(view.shape, shared, about, find, n)[0][who]
            gained = np.divide(said[who], before, out=np.zeros_like(before), where=before > 0)
            result[who] = normalized(result[who] * gained, result[who])
        seen |= {*view.asked}


def _in_view(
    shape: PublishedView, asked: tuple[str, ...], about: str, find: Finder, n: int
) -> tuple[Floats, Bools]:
    """p̂ in one view, and who has a place in it; whoever matches nothing in it is believed to be like everybody."""
    marginal = everybody(part_with(shape, about)[1], about)
    if not asked:
        return np.repeat(marginal[np.newaxis, :], n, axis=0), np.ones(n, dtype=bool)
    sighted = find(shape, asked)
    weights = [_weights(each, about) for each in sighted.each]
    found = [normalized(each, marginal) for each in weights]
    places = [(each.sum(axis=1) > 0).astype(np.float64) for each in weights]
    has_place = sighted.gathered(places or [np.zeros(1)], 0.0) > 0
    return sighted.gathered(found or [marginal[np.newaxis, :]], marginal), has_place


def _weights(sighting: Sighting, about: str) -> Floats:
    """The weight of every value for some targets."""
    shape = sighting.shape
    place, part = part_with(shape, about)
    targets, buckets, rows = sighting.located
    matches = sighting.matches.get(place)
    if matches is None:
        asked, held, beside = (
            buckets,
            *_beside(part.buckets, part.labels[about], part.counts, part.spreads[about]),
        )
    else:
        keys = matches.combinations * shape.n_buckets + part.buckets[matches.rows]
        asked = matches.combination_of[targets] * shape.n_buckets + buckets
        labels = part.labels[about][matches.rows]
        held, beside = _beside(keys, labels, matches.weights, part.spreads[about])
    entries = (rows, (targets, np.searchsorted(held, asked)))
    weights = sparse.csr_array(entries, shape=(sighting.n, held.size))
    return _spread_out((weights @ beside).toarray(), part.spreads[about])


def _beside(
    keys: Ids, labels: NDArray[np.int32], weights: Floats | Ids, spread: Spread
) -> tuple[Ids, sparse.csr_array]:
    """The keys in order, and for each the shares of labels beside it."""
    held, rows = np.unique(keys, return_inverse=True)
    totals = np.bincount(rows, weights=weights, minlength=held.size)
    shape = (held.size, spread.sizes.size)
    return held, sparse.csr_array((weights / totals[rows], (rows, labels)), shape=shape)


def everybody(part: PublishedColumn, about: str) -> Floats:
    """The shares of values over all rows of a column."""
    spread = part.spreads[about]
    rows = np.bincount(part.labels[about], weights=part.counts, minlength=spread.sizes.size)
    shares: Floats = _spread_out(rows[np.newaxis, :] / rows.sum(), spread)[0]
    return shares


def _spread_out(labels: Floats, spread: Spread) -> Floats:
    """Shares of labels as shares of the originals they cover, evenly."""
    numbers, originals = spread.pairs()
    entries = (1.0 / spread.sizes[numbers], (numbers, originals))
    return labels @ sparse.csr_array(entries, shape=(spread.sizes.size, spread.n_originals))
