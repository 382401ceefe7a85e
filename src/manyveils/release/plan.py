"""What a method decides: the views to be published, as data that hold no rows and can be sent anywhere.

Whoever has the rows carries a plan out: `carry_out` does it here, and the Spark engine where its rows are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.release.dealing import DealtView, Ids, keys_beside
from manyveils.release.draft import Draft, Drafts, Lookups, in_secret, labelled, needed, recode_to_level
from manyveils.table import Streams, Table

if TYPE_CHECKING:
    from manyveils.keys.key import Key

NO_GROUPS: Ids = np.zeros((0, 0), dtype=np.int64)


@dataclass(frozen=True, repr=False)
class LeveledView:
    """One table without buckets: each attribute of `levels` at one level of its hierarchy, some groups left out.

    `left_out` has a row of labels, one for each attribute of `levels`, for every group that is left out; who has a row
    in such a group is left out with all her rows.
    `lookups` are the attributes that are published in secret.
    """

    name: str
    attributes: tuple[str, ...]
    levels: Mapping[str, int] = field(default_factory=dict)
    left_out: Ids = field(default_factory=lambda: NO_GROUPS)
    enforces: Mapping[str, Any] | None = None
    lookups: Lookups = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that must be at hand for a draft."""
        return needed((*self.attributes, *self.levels), self.lookups)

    def draft(self, table: Table) -> Draft:
        """The view of the rows at hand."""
        table = labelled(table, self.lookups)
        return self._drafted(table, self._published(table))

    def draft_of(self, table: Table, rows: NDArray[np.intp]) -> Draft:
        """The view of some rows."""
        return self._drafted(labelled(table, self.lookups), rows)

    def _drafted(self, table: Table, rows: NDArray[np.intp]) -> Draft:
        levels = ((name, recode_to_level(table[name], level, rows)) for name, level in self.levels.items())
        recodings = {name: recoding for name, recoding in levels if recoding is not None}
        draft = Draft(self.name, (self.attributes,), rows, recodings=recodings, enforces=self.enforces)
        return in_secret(draft, table, self.lookups)

    def _published(self, table: Table) -> NDArray[np.intp]:
        if not len(self.left_out):
            return np.arange(table.n_rows)
        steps = {name: table[name].levels[level] for name, level in self.levels.items()}
        labels = [step.label_of[table[name].codes] for name, step in steps.items()]
        keys, left_out = keys_beside(labels, self.left_out, [len(step.labels) for step in steps.values()])
        is_out = np.isin(keys, left_out)
        if table.persons is not None:
            is_out = (np.bincount(table.persons[is_out], minlength=table.n_persons) > 0)[table.persons]
        return np.flatnonzero(~is_out)


@dataclass(frozen=True)
class Plan:
    """Views to be published, notes on how they were decided, and the key to what is secret in them."""

    views: tuple[LeveledView | DealtView, ...]
    notes: Mapping[str, object] = field(default_factory=dict)
    key: "Key | None" = None


@dataclass(frozen=True)
class InParts:
    """Rows that may be cut by quasi-identifiers, in the style of some labels, and be made part by part.

    `columns` are those of the one view that every part makes; `beside` are the attributes that stand beside a
    protected one in every part, while others are told apart inside.
    """

    columns: tuple[tuple[str, ...], ...]
    labels: Literal["auto", "ranges", "sets", "hierarchy"]
    beside: tuple[str, ...]
    notes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class FromRows:
    """A plan whose views are only known once the rows have been seen: `make` looks at them and drafts the views.

    `make` takes the publication (`promises.work.Work`) with its rows at hand. Where nobody holds all rows,
    `from_counts` plans without them, or else every part of `parts` is made by itself; without both it cannot be done.
    """

    make: Callable[[Any], Drafts]
    parts: InParts | None = None
    from_counts: Callable[[Any], Plan] | None = None


def carry_out(plan: Plan, table: Table, streams: Streams) -> Drafts:
    """Draft the views of a plan from rows that are at hand."""
    drafts = tuple(
        view.draft(table, view.shuffled(table, streams)) if isinstance(view, DealtView) else view.draft(table)
        for view in plan.views
    )
    return Drafts(drafts, plan.notes, plan.key)
