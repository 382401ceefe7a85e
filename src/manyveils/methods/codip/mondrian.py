"""Projected tables by Mondrian: groups are cut for each table by itself."""

from functools import cache

import numpy as np

from manyveils.methods.codip.anonymized import Anonymized, closeness, linked, watched
from manyveils.methods.codip.anonymizer import Names
from manyveils.methods.generalize.objectives import squares
from manyveils.methods.generalize.tables import cut_table, label_groups
from manyveils.policy import Promise
from manyveils.promises.entries import Entries, Ids, count
from manyveils.promises.explain import breaks_as_one_group
from manyveils.promises.keeping import watch
from manyveils.promises.work import Work


class Mondrian:
    """A cutting for every projected table that is asked for, made when its size or the table itself is needed."""

    def __init__(self, work: Work, discernibility: float | None) -> None:
        self._work = work
        self._limit = discernibility
        _, self._gauges = watched(work, ())
        self._squares = cache(self._squares_fresh)
        self._made = cache(self._made_fresh)

    @property
    def looks_up(self) -> bool:
        """Whether no table must be cut to say whether it fits."""
        return self._limit is None and not any(promise.minds_company for promise in self._work.promises)

    def _known(self, names: Names) -> tuple[tuple[Promise, ...], Names]:
        """What decides how a table is cut: its promises, and its columns if some promise takes them as known."""
        promises = tuple(p for p in self._work.promises if set(p.protects) <= set(names))
        return promises, names if any(promise.minds_company for promise in promises) else ()

    def _cut(self, promises: tuple[Promise, ...], known: Names) -> Ids:
        if not self._work.quasi:
            return np.zeros(self._work.table.n_rows, dtype=np.int64)
        return cut_table(self._work, watch(promises, self._work.table, known), labels="auto", relaxed=True)

    def _squares_fresh(self, promises: tuple[Promise, ...], known: Names) -> int:
        return squares(np.bincount(self._cut(promises, known)))

    def fits(self, names: Names) -> bool:
        """Whether a table with these sensitive attributes can keep every promise within the limit."""
        promises, known = self._known(names)
        if breaks_as_one_group(watch(promises, self._work.table, known), self._work.table.n_rows):
            return False
        return self._limit is None or self._squares(promises, known) <= self._limit

    def anonymized(self, names: Names) -> Anonymized:
        """The table with its groups' own ranges and sets."""
        return self._made(names)

    def _made_fresh(self, names: Names) -> Anonymized:
        groups = self._cut(*self._known(names))
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
        """None: Mondrian does not look for the closest groups."""
        return None
