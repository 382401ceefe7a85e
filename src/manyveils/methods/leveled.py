"""A view of one table whose quasi-identifiers stand at levels of their hierarchies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.labelling import Lookups, in_secret, labelled, needed
from manyveils.promises.entries import LARGEST_KEY, Ids
from manyveils.release import Draft, Recoding
from manyveils.release.draft import recode_to_level
from manyveils.table import Table

NONE_LOST: NDArray[np.int64] = np.zeros((0, 0), dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Leveled:
    """One table without buckets: each quasi-identifier at one level of its hierarchy, some classes left out.

    `lost` has a row of labels, one for each attribute of `levels`, for every class that is left out.
    `lookups` are the columns that are published in secret.
    """

    name: str
    columns: tuple[str, ...]
    levels: Mapping[str, int] = field(default_factory=dict)
    lost: Ids = field(default_factory=lambda: NONE_LOST)
    enforces: Mapping[str, Any] | None = None
    lookups: Lookups = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that must be at hand for a draft."""
        return needed((*self.columns, *self.levels), self.lookups)

    def drafted(self, table: Table) -> Draft:
        """The view of rows that are at hand."""
        table = labelled(table, self.lookups)
        rows = self._kept(table)
        recodings: dict[str, Recoding] = {}
        for name, level in self.levels.items():
            recoding = recode_to_level(table[name], level, rows)
            if recoding is not None:
                recodings[name] = recoding
        draft = Draft(self.name, (self.columns,), rows, recodings=recodings, enforces=self.enforces)
        return in_secret(draft, table, self.lookups)

    def _kept(self, table: Table) -> NDArray[np.intp]:
        if not len(self.lost):
            return np.arange(table.n_rows)
        steps = [table[name].levels[level] for name, level in self.levels.items()]
        labels = [step.label_of[table[name].codes] for name, step in zip(self.levels, steps, strict=True)]
        return np.flatnonzero(~_among(labels, self.lost.T, [len(step.labels) for step in steps]))


def _among(rows: list[NDArray[np.int32]], listed: Ids, sizes: list[int]) -> NDArray[np.bool_]:
    """Which rows are in a list; both by columns of numbers below `sizes`."""
    keys, wanted, span = np.zeros(rows[0].size, dtype=np.int64), np.zeros(listed.shape[1], dtype=np.int64), 1
    for column, other, size in zip(rows, listed, sizes, strict=True):
        if span * size >= LARGEST_KEY:
            # Numbered anew before they grow too long.
            found, both = np.unique(np.append(keys, wanted), return_inverse=True)
            keys, wanted, span = both[: keys.size], both[keys.size :], found.size
        keys, wanted = keys * size + column, wanted * size + other
        span *= size
    return np.isin(keys, wanted)
