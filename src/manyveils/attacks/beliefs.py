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
from manyveils.attacks.search import Batch, Search
from manyveils.attacks.sparse_rows import Rows, normalized, stacked
from manyveils.reading.cover import Cover
from manyveils.reading.views import PublishedView

Known = tuple[str, ...]
Finder = Callable[[PublishedView, Known], Search]
Weigh = Callable[[PublishedView, Known], PublishedView]


@dataclass(frozen=True, repr=False)
class Seen:
    """For each person how often an attack is right about her, how much it believes what is true, and what it guesses.

    `best` is the belief in the guess; None where nothing is guessed.
    """

    right: Floats
    truth: Floats
    best: Floats | None = None


@dataclass(frozen=True, repr=False)
class Beliefs:
    """A distribution over values for every person; people of whom the same is known share a row."""

    rows: Rows
    row_of: Ids

    @cached_property
    def _best(self) -> tuple[Floats, Ids]:
        rows, best = self.rows, self.rows.greatest()
        is_best = rows.beliefs >= best[rows.cases] - TOLERANCE
        n_best = np.bincount(rows.cases[is_best], minlength=rows.n)
        # Where nothing is believed, everything is believed equally little.
        return best, np.where(best > TOLERANCE, n_best, rows.n_values)

    def at(self, codes: Ids) -> Floats:
        """The belief in one value for each person; none in a value that nobody has."""
        return np.where(codes >= 0, self.rows.at(self.row_of, np.maximum(codes, 0)), 0.0)

    def right(self, codes: Ids) -> Floats:
        """How often the likeliest value is the right one, for each person; chance decides between equals."""
        return self.seen(codes).right

    def seen(self, codes: Ids) -> Seen:
        """What a guess of the likeliest value achieves, where codes are the truth."""
        (best, n_best), truth = self._best, self.at(codes)
        is_best = truth >= best[self.row_of] - TOLERANCE
        return Seen(np.where(is_best, 1.0 / n_best[self.row_of], 0.0), truth, best[self.row_of])

    def merged(self, label_of: Ids, n_labels: int) -> "Beliefs":
        """The same beliefs about labels that stand for several values; values without a label stay by themselves."""
        n_others = self.rows.n_values - label_of.size
        labels = np.concatenate([label_of, n_labels + np.arange(n_others)])
        return Beliefs(self.rows.placed(labels, n_labels + n_others), self.row_of)

    def in_codes(self, places: Ids) -> "Beliefs":
        """The same beliefs with other codes: `places` says where each stands among these; what is left stands last."""
        rest = np.setdiff1d(np.arange(self.rows.n_values), places)
        code_of = np.empty(self.rows.n_values, dtype=np.int64)
        code_of[places[places >= 0]] = np.flatnonzero(places >= 0)
        code_of[rest] = places.size + np.arange(rest.size)
        return Beliefs(self.rows.placed(code_of, places.size + rest.size), self.row_of)

    def of(self, people: Ids) -> Rows:
        """A row for each of some people."""
        return self.rows.taken(self.row_of[people])


def by_rows(view: PublishedView, known: Known) -> PublishedView:
    """A view as it is, where rows are what is counted."""
    return view


def believed(
    views: Sequence[PublishedView],
    known: Iterable[str],
    about: str,
    find: Finder,
    n: int,
    weigh: Weigh = by_rows,
) -> Beliefs:
    """p̂ of an attribute for n targets, from all views that show it; `weigh` says what counts in them.

    Claim: in a view, it is the share of the value among all rows of all possible tables that match what is known.
    Why: inside a bucket every pairing of its columns is as likely as any other, so the expected number of rows that
    match in all columns is the product of the matching shares; labels stand evenly for what they cover.
    Tested by: tests/attacks/test_beliefs.py
    """
    showing = [view for view in views if about in view.attributes and view.n_rows]
    assert showing, "the attribute is published"
    showing.sort(key=lambda view: -len({*view.attributes} & {*known}))
    readings = [_Reading.by(view, known, about, find, n, weigh) for view in showing]
    # A view that has no place for somebody says nothing of her, and does not stand in the way of the others.
    patterns, pattern_of = np.unique(
        np.stack([reading.has_place for reading in readings]), axis=1, return_inverse=True
    )
    rows, n_rows, row_of = [], 0, np.zeros(n, dtype=np.int64)
    for number in range(patterns.shape[1]):
        who = np.flatnonzero(pattern_of == number)
        placed = [
            reading for reading, has_place in zip(readings, patterns[:, number], strict=True) if has_place
        ]
        told = _multiplied(who, placed or readings[:1], about, find, n, weigh)
        row_of[who] = told.row_of + n_rows
        rows.append(told.rows)
        n_rows += told.rows.n
    return Beliefs(stacked(rows) if rows else readings[0].beliefs.rows, row_of)


@dataclass(frozen=True, repr=False)
class _Reading:
    """What one view tells somebody who knows some of its attributes: p̂, and who has a place in it."""

    view: PublishedView
    known: Known
    beliefs: Beliefs
    has_place: Bools

    @staticmethod
    def by(
        view: PublishedView, known: Iterable[str], about: str, find: Finder, n: int, weigh: Weigh
    ) -> "_Reading":
        """Read one view; whoever matches nothing in it is believed to be like everybody."""
        names = tuple(name for name in known if name in view.attributes and name != about)
        everybody_in = weigh(view, ())
        shares = label_counts(everybody_in, about)[np.newaxis, :] / everybody_in.n_rows
        marginal = spread_out(Rows.of(shares), view.cover_of(about))
        if not names:
            everybody = Beliefs(marginal, np.zeros(n, dtype=np.int64))
            return _Reading(view, names, everybody, np.ones(n, dtype=bool))
        search = find(view, names)
        weights = [_weights(batch, about) for batch in search.batches]
        # What everybody has stands last, for people who match nothing.
        rows = stacked([*weights, marginal])
        has_place = (search.number_of >= 0) & (rows.totals() > 0)[search.number_of]
        row_of = np.where(has_place, search.number_of, rows.n - 1)
        return _Reading(view, names, Beliefs(rows.shares(), row_of), has_place)


def _multiplied(
    who: Ids, readings: list[_Reading], about: str, find: Finder, n: int, weigh: Weigh
) -> Beliefs:
    """What some of n people are believed to have: every view adds what it says beyond the earlier ones."""
    first = readings[0].beliefs
    if len(readings) == 1:
        return Beliefs(first.rows, first.row_of[who])
    rows = first.of(who)
    for number, later in enumerate(readings[1:], 1):
        seen = {name for earlier in readings[:number] for name in earlier.known}
        shared = [name for name in later.known if name in seen]
        before = _Reading.by(later.view, shared, about, find, n, weigh).beliefs
        people, values = who[rows.cases], rows.values
        told, known = (own.rows.at(own.row_of[people], values) for own in (later.beliefs, before))
        gained = np.divide(told, known, out=np.zeros_like(known), where=known > 0)
        rows = normalized(rows.believing(rows.beliefs * gained), rows)
    return Beliefs(rows, np.arange(who.size))


def _weights(batch: Batch, about: str) -> Rows:
    """The weight of every value for some targets."""
    view = batch.view
    column = view.column_of(about)
    cover, labels = column.covers[about], column.labels[about]
    targets, buckets, rows = batch.located
    matches = next((own for own in batch.matches.values() if own.column is column), None)
    if matches is None:
        wanted = buckets
        keys, beside = _beside(column.buckets, labels, column.counts, cover)
    else:
        wanted = matches.combination_of[targets] * view.n_buckets + buckets
        own = matches.combinations * view.n_buckets + column.buckets[matches.rows]
        keys, beside = _beside(own, labels[matches.rows], matches.weights, cover)
    entries = (rows, (targets, np.searchsorted(keys, wanted)))
    weights = sparse.csr_array(entries, shape=(batch.n, keys.size))
    return spread_out(Rows.of(weights @ beside), cover)


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


def spread_out(labels: Rows, cover: Cover) -> Rows:
    """Shares of labels as shares of the originals they cover, evenly."""
    numbers, originals = cover.pairs()
    if not cover.is_coarse and numbers.size == cover.sizes.size:
        return labels.placed(originals, cover.n_originals)
    entries = (1.0 / cover.sizes[numbers], (numbers, originals))
    return Rows.of(labels.matrix @ sparse.csr_array(entries, shape=(cover.sizes.size, cover.n_originals)))
