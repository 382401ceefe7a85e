"""A view whose rows are dealt into buckets by their sensitive values, and by chance among equal ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyveils.methods.dealing import Deal
from manyveils.methods.labelling import Lookups, in_secret, labelled, needed
from manyveils.promises.entries import Ids, arranged
from manyveils.release import Draft
from manyveils.table import Table


@dataclass(frozen=True, repr=False)
class Dealt:
    """Columns inside buckets: rows are listed by their values of `by`, and dealt.

    `values` has a row of codes for each combination of `by`, in order; the first `gone` rows of each are left out,
    and so are the buckets of `lost`. `lookups` are the columns that are published in secret; their codes in `values`
    are those of labels.
    """

    name: str
    columns: tuple[tuple[str, ...], ...]
    by: tuple[str, ...]
    values: Ids
    deal: Deal
    gone: Ids
    lost: Ids
    enforces: Mapping[str, Any] | None = None
    lookups: Lookups = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must be at hand for a draft."""
        return needed((*(name for column in self.columns for name in column), *self.by), self.lookups)

    @property
    def dealt_by(self) -> tuple[str, ...]:
        """The columns that must be at hand to tell a row's combination."""
        return needed(self.by, self.lookups)

    @property
    def notes(self) -> dict[str, object]:
        """What the publisher is told of the buckets."""
        kinds, alike = self.deal.kinds()
        entries = self.deal.entries(kinds)
        sizes = np.bincount(entries.owners, weights=entries.counts, minlength=kinds.size).astype(np.int64)
        published = ~np.isin(kinds, self.lost)
        return {
            "buckets": int(alike[published].sum()),
            "smallest_bucket": int(sizes[published].min()),
            "largest_bucket": int(sizes[published].max()),
        }

    def buckets_of(self, combinations: Ids, ranks: Ids) -> Ids:
        """The bucket of the rank-th row of each combination; -1 for rows that are left out."""
        places = self.deal.starts[combinations] + ranks - self.gone[combinations]
        buckets = self.deal.bucket_of(np.maximum(places, 0))
        left_out = (ranks < self.gone[combinations]) | np.isin(buckets, self.lost)
        return np.where(left_out, -1, buckets)

    def combinations_of(self, table: Table) -> Ids:
        """The number of each row's combination."""
        table = labelled(table, self.lookups)
        keys, wanted = np.zeros(table.n_rows, dtype=np.int64), np.zeros(len(self.values), dtype=np.int64)
        for place, name in enumerate(self.by):
            size = table[name].n_values
            _, both = np.unique(np.append(wanted, keys), return_inverse=True)
            wanted = both[: wanted.size] * size + self.values[:, place]
            keys = both[wanted.size :] * size + table[name].codes
        order = np.argsort(wanted)
        return order[np.searchsorted(wanted[order], keys)]

    def drafted(self, table: Table, shuffled: Ids) -> Draft:
        """The view of rows that are at hand; those of one combination are used in the order of `shuffled`."""
        combinations = self.combinations_of(table)
        order = arranged(shuffled, combinations)
        counts = np.bincount(combinations, minlength=len(self.values))
        ranks = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
        buckets = np.empty(table.n_rows, dtype=np.int64)
        buckets[order] = self.buckets_of(combinations[order], ranks)
        rows = np.flatnonzero(buckets >= 0)
        draft = Draft(self.name, self.columns, rows, buckets[rows], enforces=self.enforces)
        return in_secret(draft, labelled(table, self.lookups), self.lookups)
