"""Projected tables by Mondrian: groups are cut for each table by itself."""

from functools import cache

import numpy as np

from manyveils.methods.codip.anonymized import Anonymized, closeness, gauges, linked
from manyveils.methods.codip.anonymizer import Names
from manyveils.methods.entries import Entries, Ids, count
from manyveils.methods.explain import breaks_as_one_group
from manyveils.methods.generalize.objectives import squares
from manyveils.methods.generalize.tables import cut_table, label_groups
from manyveils.methods.keeping import Watch, watch
from manyveils.methods.work import Work


class Mondrian:
    """A cutting for every projected table that is asked for, made when its size or the table itself is needed."""

    def __init__(self, work: Work, discernibility: float | None) -> None:
        self._work = work
        self._limit = discernibility
        self._gauges = gauges(work)
        self._fits = cache(self._fits_fresh)
        self._made = cache(self._made_fresh)
        self._groups = cache(self._cut)

    def _watches(self, names: Names) -> tuple[Watch, ...]:
        promises = tuple(p for p in self._work.promises if set(p.protects) <= set(names))
        return watch(promises, self._work.table, names)

    def _cut(self, names: Names) -> Ids:
        if not self._work.quasi:
            return np.zeros(self._work.table.n_rows, dtype=np.int64)
        return cut_table(self._work, self._watches(names), labels="auto", relaxed=True)

    def fits(self, names: Names) -> bool:
        """Whether a table with these sensitive attributes can keep every promise within the limit."""
        return self._fits(names)

    def _fits_fresh(self, names: Names) -> bool:
        if breaks_as_one_group(self._watches(names), self._work.table.n_rows):
            return False
        return self._limit is None or squares(np.bincount(self._groups(names))) <= self._limit

    def anonymized(self, names: Names) -> Anonymized:
        """The table with its groups' own ranges and sets."""
        return self._made(names)

    def _made_fresh(self, names: Names) -> Anonymized:
        groups = self._groups(names)
        sizes = np.bincount(groups)
        counted = {name: self._counted(name, groups, sizes.size) for name in names}
        return Anonymized(
            sizes,
            {name: closeness(self._gauges[name], counted[name], sizes) for name in names},
            {name: linked(self._gauges[name], counted[name], sizes) for name in names},
            label_groups(self._work, groups, "auto"),
        )

    def _counted(self, name: str, groups: Ids, n_groups: int) -> Entries:
        subject = self._gauges[name].subject
        assert subject is not None
        return count(subject, groups, n_groups)

    def best_closeness(self, names: Names, discernibility: float | None) -> float | None:
        """The closeness of the groups that are cut; Mondrian does not look for closer ones, however coarse."""
        return max(self._made(names).closeness.values(), default=0.0) if self.fits(names) else None
