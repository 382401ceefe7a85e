"""Views whose rows are dealt into buckets by their sensitive values, and by chance among equal ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.release.draft import Draft, Lookups, in_secret, labelled, needed
from manyveils.table import Streams, Table
from manyveils.table.order import in_order

Ids = NDArray[np.int64]
LARGEST_KEY = 2**62


@dataclass(frozen=True, repr=False)
class Deal:
    """Rows in a list where equal values stand together, dealt in turn to `n_dealt` buckets, of which neighbours are merged.

    `starts` and `stops` are the places of each value in the list.

    Claim: without merging, a bucket gets a value at most once if the value has no more rows than there are buckets,
    and any two buckets get it equally often, give or take one, otherwise.
    Why: equal values sit in one run, and dealing in turn gives every bucket each n_dealt-th row of it.
    Tested by: tests/claims/test_deal.py
    """

    starts: Ids
    stops: Ids
    n_dealt: int
    times: int = 1

    @property
    def n_rows(self) -> int:
        """How many rows are dealt."""
        return int(self.stops[-1]) if self.stops.size else 0

    @property
    def n_buckets(self) -> int:
        """How many buckets there are in the end; what is left over joins the last one."""
        return max(self.n_dealt // self.times, 1)

    def bucket_of(self, places: Ids) -> Ids:
        """The bucket of each place in the list."""
        return np.minimum(places % self.n_dealt // self.times, self.n_buckets - 1)

    def kinds(self) -> tuple[Ids, Ids]:
        """Buckets that between them are like all others: their numbers, and how many buckets from there on are like each.

        Claim: buckets between two of them have the same number of rows of every value.
        Why: what a bucket gets changes only where some value's run begins or ends, counted in turns.
        Tested by: tests/claims/test_deal.py
        """
        edges = self.bucket_of(np.append(self.starts, self.stops))
        special = np.unique(np.concatenate([edges, edges + 1, [0, self.n_buckets - 1]]))
        special = special[special < self.n_buckets]
        return special, np.diff(np.append(special, self.n_buckets))

    def counts(self, buckets: Ids) -> tuple[Ids, Ids, Ids]:
        """How often values stand in some buckets, listed in order: the place in that list, the value and the count, by value.

        Claim: no other value stands in them, and only the pairs that occur are looked at.
        Why: the rows of a value are dealt in turn, so they fall into neighbouring buckets, or into all of them.
        Tested by: tests/claims/test_deal.py
        """
        values, first, last = self._reached()
        low = np.searchsorted(buckets, first)
        n_met = np.searchsorted(buckets, last, side="right") - low
        owners = np.repeat(low, n_met) + ranks_within(n_met)
        values = np.repeat(values, n_met)
        return owners, values, self._held(values, buckets[owners])

    def _reached(self) -> tuple[Ids, Ids, Ids]:
        """Runs of neighbouring buckets that get each value: the value, the first bucket and the last, by value."""
        present = np.flatnonzero(self.stops > self.starts)
        n_rows = (self.stops - self.starts)[present]
        first = self.starts[present] % self.n_dealt
        end = first + np.minimum(n_rows, self.n_dealt) - 1
        wraps = np.flatnonzero(end >= self.n_dealt)
        into, start = self.bucket_of(end[wraps]), self.bucket_of(first[wraps])
        # Where the run ends in the bucket in which it began, that bucket is counted once.
        begun = np.flatnonzero(start > 0)
        values = np.concatenate([present, present[wraps[begun]]])
        firsts = np.concatenate([self.bucket_of(first), np.zeros(begun.size, dtype=np.int64)])
        lasts = np.concatenate(
            [self.bucket_of(np.minimum(end, self.n_dealt - 1)), np.minimum(into, start - 1)[begun]]
        )
        order = np.lexsort((firsts, values))
        return values[order], firsts[order], lasts[order]

    def _held(self, values: Ids, buckets: Ids) -> Ids:
        """How many rows of a value each bucket gets."""
        low = buckets * self.times
        high = np.where(buckets == self.n_buckets - 1, self.n_dealt, low + self.times)
        return self._before(self.stops[values], low, high) - self._before(self.starts[values], low, high)

    def _before(self, places: Ids, low: Ids, high: Ids) -> Ids:
        """How many of the first so many places are dealt to a bucket, which gets them from `low` to below `high`."""
        rounds, rest = np.divmod(places, self.n_dealt)
        return rounds * (high - low) + np.clip(rest - low, 0, high - low)


@dataclass(frozen=True, repr=False)
class DealtView:
    """Columns inside buckets: rows are listed by their values of `by`, equal ones in random order, and dealt.

    `values` has a row of codes for each combination of `by`, in order; the first `gone` rows of each are left out,
    and so are the buckets of `left_out`. `lookups` are the attributes that are published in secret; their codes in
    `values` are those of labels. `chance` names the streams, one inside the other, that shuffle equal rows.
    """

    name: str
    columns: tuple[tuple[str, ...], ...]
    by: tuple[str, ...]
    values: Ids
    deal: Deal
    gone: Ids
    left_out: Ids
    enforces: Mapping[str, Any] | None = None
    lookups: Lookups = field(default_factory=dict)
    chance: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the view."""
        return tuple(name for column in self.columns for name in column)

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that must be at hand for a draft."""
        return needed((*self.attributes, *self.by), self.lookups)

    @property
    def dealt_by(self) -> tuple[str, ...]:
        """The attributes that must be at hand to tell a row's combination."""
        return needed(self.by, self.lookups)

    @property
    def notes(self) -> dict[str, object]:
        """What the publisher is told of the buckets."""
        kinds, alike = self.deal.kinds()
        owners, _, counts = self.deal.counts(kinds)
        sizes = np.bincount(owners, weights=counts, minlength=kinds.size).astype(np.int64)
        published = ~np.isin(kinds, self.left_out)
        return bucket_notes(sizes[published], int(alike[published].sum()))

    def published_values(self) -> Ids:
        """The combinations of `by` that some published row has."""
        if not self.left_out.size:
            return self.values[self.deal.stops > self.deal.starts]
        published = np.setdiff1d(np.arange(self.deal.n_buckets), self.left_out)
        return self.values[np.unique(self.deal.counts(published)[1])]

    def buckets_of(self, combinations: Ids, ranks: Ids) -> Ids:
        """The bucket of the rank-th row of each combination; -1 for rows that are left out."""
        places = self.deal.starts[combinations] + ranks - self.gone[combinations]
        buckets = self.deal.bucket_of(np.maximum(places, 0))
        left_out = (ranks < self.gone[combinations]) | np.isin(buckets, self.left_out)
        return np.where(left_out, -1, buckets)

    def combinations_of(self, table: Table) -> Ids:
        """The number of each row's combination."""
        table = labelled(table, self.lookups)
        keys, listed = keys_beside(table.codes(self.by), self.values, table.sizes(self.by))
        order = np.argsort(listed)
        return order[np.searchsorted(listed[order], keys)]

    def draft(self, table: Table, shuffled: Ids) -> Draft:
        """The view of the rows at hand; those of one combination are used in the order of `shuffled`."""
        combinations = self.combinations_of(table)
        order = arranged(shuffled, combinations)
        ranks = ranks_within(np.bincount(combinations, minlength=len(self.values)))
        buckets = np.empty(table.n_rows, dtype=np.int64)
        buckets[order] = self.buckets_of(combinations[order], ranks)
        rows = np.flatnonzero(buckets >= 0)
        draft = Draft(self.name, self.columns, rows, buckets[rows], enforces=self.enforces)
        return in_secret(draft, labelled(table, self.lookups), self.lookups)

    def shuffled(self, table: Table, streams: Streams) -> Ids:
        """All rows in random order, which depends on what the view shows of them and the seed alone."""
        for part in self.chance:
            streams = streams.apart(part)
        table = labelled(table, self.lookups)
        names = tuple(name for name in table.attributes if name in self.attributes)
        keys = keys_of(table.codes(names), table.sizes(names))
        order: Ids = in_order(keys)[streams.of("anatomize.order").permutation(keys.size)]
        return order


def bucket_notes(sizes: Ids, n_buckets: int) -> dict[str, object]:
    """What the publisher is told of buckets of some sizes."""
    return {"buckets": n_buckets, "smallest_bucket": int(sizes.min()), "largest_bucket": int(sizes.max())}


def arranged(rows: Ids, keys: Ids) -> Ids:
    """The listed rows in the order of their keys; rows with one key stay in the order of the list.

    >>> arranged(np.array([2, 0, 1]), np.array([1, 0, 1]))
    array([1, 2, 0])
    """
    order: Ids = rows[in_order(keys[rows])]
    return order


def ranks_within(counts: Ids) -> Ids:
    """The ranks, from 0 on, of the rows of runs that stand one after another.

    >>> ranks_within(np.array([2, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def keys_of(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> Ids:
    """One number for the codes of each row, in the order of the codes, which are below `sizes`.

    >>> keys_of([np.array([1, 0, 1]), np.array([0, 2, 1])], [2, 3])
    array([3, 2, 4])
    """
    keys, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= LARGEST_KEY:
            # Numbered anew before they grow too long.
            distinct, keys = np.unique(keys, return_inverse=True)
            span = distinct.size
        keys, span = keys * size + column, span * size
    return keys


def keys_beside(columns: Sequence[NDArray[np.integer]], listed: Ids, sizes: Sequence[int]) -> tuple[Ids, Ids]:
    """The keys of rows and of a list of combinations, which have a row each: equal codes have equal keys."""
    both = [np.append(column, codes) for column, codes in zip(columns, listed.T, strict=True)]
    keys = keys_of(both, sizes)
    return keys[: len(columns[0])], keys[len(columns[0]) :]
