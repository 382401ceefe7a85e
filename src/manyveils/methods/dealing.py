"""Dealing rows into buckets, decided from counts alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manyveils.promises.entries import Entries, Ids

MOST_AT_ONCE = 5_000_000


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

    def entries(self, buckets: Ids) -> Entries:
        """How often each value stands in some buckets, which are numbered from 0."""
        found = list(self._counted(buckets))
        owners, values, counts = (np.concatenate([part[place] for part in found]) for place in range(3))
        order = np.argsort(values, kind="stable")
        return Entries(owners[order], values[order], counts[order])

    def _counted(self, buckets: Ids) -> Iterator[tuple[Ids, Ids, Ids]]:
        height = max(MOST_AT_ONCE // max(self.starts.size, 1), 1)
        for start in range(0, buckets.size, height):
            some = buckets[start : start + height]
            low = some * self.times
            high = np.where(some == self.n_buckets - 1, self.n_dealt, low + self.times)
            counts = self._before(self.stops, low, high) - self._before(self.starts, low, high)
            owner, value = np.nonzero(counts)
            yield owner + start, value, counts[owner, value]

    def _before(self, places: Ids, low: Ids, high: Ids) -> Ids:
        """How many of the first so many places are dealt to buckets from `low` to below `high`."""
        rounds, rest = np.divmod(places[np.newaxis, :], self.n_dealt)
        width = (high - low)[:, np.newaxis]
        return rounds * width + np.clip(rest - low[:, np.newaxis], 0, width)
