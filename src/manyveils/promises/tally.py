"""The counts of one subject in every group."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.tallies import largest
from manyveils.promises.entries import Ids
from manyveils.table.attributes import Attribute

Kept = NDArray[np.bool_]
Members = NDArray[np.int32]


@dataclass(frozen=True)
class Tally:
    """The counts of one subject in every group, and what they are compared with.

    `members` has the codes of each column for every combination, where values are combinations to be taken apart.
    """

    owners: Ids
    values: Ids
    counts: Ids
    sizes: Ids
    reference: Ids
    is_sensitive: Kept
    columns: tuple[Attribute, ...]
    members: Members | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        return int(self.reference.sum())

    def largest(self, depth: int = 1) -> Ids:
        """The largest counts of each group."""
        return largest(self.owners, self.counts, self.sizes.size, depth)

    def of_sensitive(self) -> "Tally":
        """Only the entries whose value needs protection."""
        wanted = self.is_sensitive[self.values]
        if wanted.all():
            return self
        owners, values, counts = self.owners[wanted], self.values[wanted], self.counts[wanted]
        return replace(self, owners=owners, values=values, counts=counts, members=None)

    def harmless(self) -> Kept:
        """Groups in which no value needs protection."""
        return np.bincount(self.of_sensitive().owners, minlength=self.sizes.size) == 0
