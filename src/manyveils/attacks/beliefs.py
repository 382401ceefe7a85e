"""What someone believes of a sensitive attribute who knows other attributes: read off the views of a release.

In a view p̂(s | k) weighs the buckets by the rows in them that match what is known, and inside a bucket the values
beside those rows. Where several views show s, each adds what it knows beyond what earlier ones knew.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.sightings import Sighting, Sightings
from manyveils.reading.cover import Cover
from manyveils.reading.views import PublishedView

Known = tuple[str, ...]
Finder = Callable[[PublishedView, Known], Sightings]


@dataclass(frozen=True, repr=False)
class Seen:
    """For each person how often an attack is right about her, and how much it believes what is true."""

    right: Floats
    truth: Floats


@dataclass(frozen=True, repr=False)
class Beliefs:
    """A distribution over values for every person; people of whom the same is known share a row."""

    rows: Floats
    row_of: Ids

    @cached_property
    def _best(self) -> tuple[Floats, Ids]:
        best = self.rows.max(axis=1, initial=0.0)
        return best, (self.rows >= best[:, np.newaxis] - TOLERANCE).sum(axis=1)

    def at(self, codes: Ids) -> Floats:
        """The belief in one value for each person; none in a value that nobody has."""
        return np.where(codes >= 0, self.rows[self.row_of, np.maximum(codes, 0)], 0.0)

    def right(self, codes: Ids) -> Floats:
        """How often the likeliest value is the right one, for each person; chance decides between equals."""
        best, n_best = self._best
        is_best = self.at(codes) >= best[self.row_of] - TOLERANCE
        return np.where(is_best, 1.0 / n_best[self.row_of], 0.0)

    def seen(self, codes: Ids) -> Seen:
        """What a guess of the likeliest value achieves, where codes are the truth."""
        return Seen(self.right(codes), self.at(codes))

    def merged(self, label_of: Ids, n_labels: int) -> "Beliefs":
        """The same beliefs about labels that stand for several values; values without a label stay by themselves."""
        n_values = self.rows.shape[1]
        labels = np.concatenate([label_of, n_labels + np.arange(n_values - label_of.size)])
        entries = (np.ones(n_values), (np.arange(n_values), labels))
        shape = (n_values, n_labels + n_values - label_of.size)
        return Beliefs(self.rows @ sparse.csr_array(entries, shape=shape), self.row_of)

    def in_codes(self, places: Ids) -> "Beliefs":
        """The same beliefs with other codes: `places` says where each stands among these; what is left stands last."""
        rest = np.setdiff1d(np.arange(self.rows.shape[1]), places)
        first = np.where(places >= 0, self.rows[:, np.maximum(places, 0)], 0.0)
        return Beliefs(np.hstack([first, self.rows[:, rest]]), self.row_of)


def normalized(rows: Floats, instead: Floats) -> Floats:
    """Rows that sum to one; a row of nothing becomes the one given instead."""
    totals = rows.sum(axis=1, keepdims=True)
    return np.where(totals > 0, rows / np.where(totals > 0, totals, 1.0), instead)


def believed(
    views: Sequence[PublishedView], known: Iterable[str], about: str, find: Finder, n: int
) -> Floats:
    """p̂ of an attribute for n targets, from all views that show it.

    Claim: in a view, it is the share of the value among all rows of all possible tables that match what is known.
    Why: inside a bucket every pairing of its columns is as likely as any other, so the expected number of rows that
    match in all columns is the product of the matching shares; labels stand evenly for what they cover.
    Tested by: tests/attacks/test_beliefs.py
    """
    showing = [view for view in views if about in view.attributes and view.n_rows]
    assert showing, "the attribute is published"
    showing.sort(key=lambda view: -len({*view.attributes} & {*known}))
    readings = [_Reading.by(view, known, about, find, n) for view in showing]
    # A view that has no place for somebody says nothing of her, and does not stand in the way of the others.
    patterns, pattern_of = np.unique(
        np.stack([reading.has_place for reading in readings]), axis=1, return_inverse=True
    )
    result = readings[0].beliefs.copy()
    for number in range(patterns.shape[1]):
        who = np.flatnonzero(pattern_of == number)
        placed = [
            reading for reading, has_place in zip(readings, patterns[:, number], strict=True) if has_place
        ]
        _multiply(result, who, placed, about, find)
    return result


@dataclass(frozen=True, repr=False)
class _Reading:
    """What one view tells somebody who knows some of its attributes: p̂, and who has a place in it."""

    view: PublishedView
    known: Known
    beliefs: Floats
    has_place: Bools

    @staticmethod
    def by(view: PublishedView, known: Iterable[str], about: str, find: Finder, n: int) -> "_Reading":
        """Read one view; whoever matches nothing in it is believed to be like everybody."""
        names = tuple(name for name in known if name in view.attributes and name != about)
        shares = label_counts(view, about)[np.newaxis, :] / view.n_rows
        marginal = _spread_out(shares, view.cover_of(about))[0]
        if not names:
            return _Reading(view, names, np.tile(marginal, (n, 1)), np.ones(n, dtype=bool))
        weights = find(view, names).gathered(lambda batch: _weights(batch, about), np.zeros(marginal.size))
        return _Reading(view, names, normalized(weights, marginal), weights.sum(axis=1) > 0)


def _multiply(result: Floats, who: Ids, readings: list[_Reading], about: str, find: Finder) -> None:
    """Put in place what some people are believed to have: every view adds what it says beyond the earlier ones."""
    if readings:
        result[who] = readings[0].beliefs[who]
    for number, later in enumerate(readings[1:], 1):
        seen = {name for earlier in readings[:number] for name in earlier.known}
        shared = [name for name in later.known if name in seen]
        before = _Reading.by(later.view, shared, about, find, result.shape[0]).beliefs[who]
        gained = np.divide(later.beliefs[who], before, out=np.zeros_like(before), where=before > 0)
        result[who] = normalized(result[who] * gained, result[who])


def _weights(sighting: Sighting, about: str) -> Floats:
    """The weight of every value for some targets."""
    view = sighting.view
    column = view.column_of(about)
    cover, labels = column.covers[about], column.labels[about]
    targets, buckets, rows = sighting.located
    matches = next((own for own in sighting.matches.values() if own.column is column), None)
    if matches is None:
        wanted = buckets
        keys, beside = _beside(column.buckets, labels, column.counts, cover)
    else:
        wanted = matches.combination_of[targets] * view.n_buckets + buckets
        own = matches.combinations * view.n_buckets + column.buckets[matches.rows]
        keys, beside = _beside(own, labels[matches.rows], matches.weights, cover)
    entries = (rows, (targets, np.searchsorted(keys, wanted)))
    weights = sparse.csr_array(entries, shape=(sighting.n, keys.size))
    return _spread_out((weights @ beside).toarray(), cover)


def _beside(
    keys: Ids, labels: NDArray[np.int32], weights: Floats | Ids, cover: Cover
) -> tuple[Ids, sparse.csr_array]:
    """The keys in order, and for each the shares of labels beside it."""
    ordered, rows = np.unique(keys, return_inverse=True)
    totals = np.bincount(rows, weights=weights, minlength=ordered.size)
    shape = (ordered.size, cover.sizes.size)
    return ordered, sparse.csr_array((weights / totals[rows], (rows, labels)), shape=shape)


def label_counts(view: PublishedView, about: str) -> Floats:
    """The rows with each label of an attribute, over all buckets."""
    column = view.column_of(about)
    n_labels = column.covers[about].n_labels
    return np.bincount(column.labels[about], weights=column.counts, minlength=n_labels).astype(np.float64)


def _spread_out(labels: Floats, cover: Cover) -> Floats:
    """Shares of labels as shares of the originals they cover, evenly."""
    numbers, originals = cover.pairs()
    entries = (1.0 / cover.sizes[numbers], (numbers, originals))
    return labels @ sparse.csr_array(entries, shape=(cover.sizes.size, cover.n_originals))
