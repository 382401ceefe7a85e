"""Values of a multi-valued attribute are hidden in the groups in which they would single people out.

(k, k^m)-anonymity, after Poulis and others 2013: whoever knows a group, and up to m values that a person has, still
has k persons before her. A method makes its groups without it; what is too rare in a group is published as `*` there,
for all of its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import InfeasibleError
from manyveils.policy.guarantees import KnownItems
from manyveils.policy.hierarchies import TOP
from manyveils.promises.entries import Ids, dense, distinct
from manyveils.promises.work import Work
from manyveils.release.dealing import ranks_within
from manyveils.release.draft import Draft, Drafts, Recoding
from manyveils.table import Attribute

HIDDEN = 2
MOST_SETS = 5_000_000


@dataclass(frozen=True, repr=False)
class Items:
    """The values that rows of one column show: the row and the value of each, by row and then by value; rows have groups.

    `persons` has the person of each row, where somebody has several.
    """

    rows: Ids
    values: Ids
    groups: Ids
    n_values: int
    persons: Ids | None = None

    @property
    def cells(self) -> Ids:
        """One number for the group and the value of each."""
        return self.groups[self.rows] * self.n_values + self.values

    def people(self, numbers: Ids, rows: Ids, n_numbers: int) -> Ids:
        """How many persons have each number, of which every one is a row's."""
        if self.persons is None:
            return np.bincount(numbers, minlength=n_numbers)
        span = int(self.persons.max(initial=0)) + 1
        pairs = distinct(numbers * span + self.persons[rows])
        return np.bincount(pairs // span, minlength=n_numbers)

    def without(self, cells: Ids) -> "Items":
        """What is left when some values are hidden in some groups."""
        left = ~np.isin(self.cells, cells)
        return replace(self, rows=self.rows[left], values=self.values[left])

    def within(self, groups: Ids) -> "Items":
        """What rows of some groups show."""
        inside = np.isin(self.groups[self.rows], groups)
        return replace(self, rows=self.rows[inside], values=self.values[inside])


def hidden(work: Work, drafts: Drafts) -> Drafts:
    """The drafts with values hidden until every promise of known items is kept; notes say how much that took."""
    views, n_hidden, n_all = [], 0, 0
    for draft in drafts.views:
        # Views of the methods that hide share nothing but quasi-identifiers, so a chain of them tells no more.
        known = {*work.quasi}
        for promise, column in product(work.hiding, draft.columns if len(draft.attributes) > 1 else ()):
            assert isinstance(promise.guarantee, KnownItems)
            derived = {*work.table.derived[promise.guarantee.attribute]}
            names = tuple(name for name in column if name in derived)
            items = _items(work, draft, column, names, known)
            cells = hidden_cells(items, promise.guarantee.k, promise.guarantee.known_items)
            draft = _with_hidden(work, draft, names, items.groups, cells)
            n_all += items.rows.size
            n_hidden += int(np.isin(items.cells, cells).sum())
        views.append(draft)
    notes = {"values_hidden": n_hidden, "share_of_values_hidden": round(n_hidden / max(n_all, 1), 6)}
    return replace(drafts, views=tuple(views), notes={**drafts.notes, **notes})


def _items(
    work: Work, draft: Draft, column: tuple[str, ...], names: tuple[str, ...], known: set[str]
) -> Items:
    # Who knows nothing that stands in the view finds no bucket.
    is_found = draft.buckets is not None and not known.isdisjoint(draft.attributes)
    buckets = (
        draft.buckets if is_found and draft.buckets is not None else np.zeros(draft.rows.size, dtype=np.int64)
    )
    shown = [_shown(work.table[name], draft) for name in column if name in known]
    columns = (buckets, *(codes for codes, _ in shown))
    sizes = (int(buckets.max(initial=0)) + 1, *(size for _, size in shown))
    groups, _ = dense(columns, sizes, draft.rows.size)
    rows = [np.flatnonzero(work.table[name].codes[draft.rows]) for name in names]
    values = np.repeat(np.arange(len(names)), [len(own) for own in rows])
    listed = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    order = np.lexsort((values, listed))
    persons = None if work.table.persons is None else work.table.persons[draft.rows]
    return Items(listed[order], values[order], groups, max(len(names), 1), persons)


def _shown(attribute: Attribute, draft: Draft) -> tuple[NDArray[np.integer], int]:
    """What a view shows of an attribute, as a code per row, and how many codes there are."""
    recoding = draft.recodings.get(attribute.name)
    if recoding is None:
        return attribute.codes[draft.rows], attribute.n_values
    return recoding.codes, len(recoding.values)


def hidden_cells(items: Items, k: int, most: int) -> Ids:
    """The values to hide, and in which groups, so that up to `most` values together stand in rows of k persons of a group or in none.

    Claim: every set of up to `most` values that a row still shows stands in rows of k persons of its group, or more.
    Why: sets are counted size by size, and of each that is too rare a value is hidden, until none is left; hiding a
    value changes no count of sets without it.
    Tested by: tests/claims/test_known_items.py
    """
    cells = [_rare(items, k)]
    items = items.without(cells[-1])
    for size in range(2, most + 1):
        _refuse_many(items, size)
        left = items
        while (offending := _offending(left, size, k)).size:
            cells.append(offending)
            items = items.without(offending)
            # Elsewhere nothing has changed, and nothing was too rare.
            left = items.within(offending // items.n_values)
    return np.concatenate(cells)


def _refuse_many(items: Items, size: int) -> None:
    n_rows = np.bincount(np.bincount(items.rows, minlength=1)).tolist()
    n_sets = sum(comb(n_values, size) * times for n_values, times in enumerate(n_rows))
    if n_sets > MOST_SETS:
        what = f"people show {n_sets:,} sets of {size} values, {MOST_SETS:,} at most."
        remedy = f"Lower known_items to {size - 1}, or publish the values at a level of their hierarchy."
        raise InfeasibleError.at("guarantee.known_items", what, remedy)


def _rare(items: Items, k: int) -> Ids:
    """Values that fewer than k persons of a group have."""
    cells, numbers = np.unique(items.cells, return_inverse=True)
    return cells[items.people(numbers, items.rows, cells.size) < k]


def _offending(items: Items, size: int, k: int) -> Ids:
    """For every group with too rare a set of values, the value that is in most of these sets; of equals the rarest."""
    sets, holders = _sets(items, size)
    if not sets.size:
        return np.zeros(0, dtype=np.int64)
    # Sets are numbered by group and values: the cells of one set have one group.
    numbers, n_sets = dense(tuple(sets.T), (int(sets.max()) + 1,) * size, len(sets))
    counts = items.people(numbers, holders, n_sets)
    firsts = np.full(n_sets, -1, dtype=np.int64)
    firsts[numbers] = np.arange(numbers.size)
    rare = sets[firsts[counts < k]]
    cells, n_rare = np.unique(rare, return_counts=True)
    everywhere, n_rows = np.unique(items.cells, return_counts=True)
    rows = n_rows[np.searchsorted(everywhere, cells)]
    groups = cells // items.n_values
    order = np.lexsort((cells, rows, -n_rare, groups))
    is_first = np.append(True, groups[order][1:] != groups[order][:-1]) if order.size else order.astype(bool)
    return cells[order][is_first]


def _sets(items: Items, size: int) -> tuple[Ids, Ids]:
    """All sets of so many values that a row shows, as cells in rising order, and the row: a line for every row and set."""
    lengths = np.bincount(items.rows, minlength=items.groups.size)
    starts, cells = np.cumsum(lengths) - lengths, items.cells
    # Places in the list of items: the first of a set is any, and each next one stands behind it in the same row.
    places = np.arange(items.rows.size)[:, np.newaxis]
    for _ in range(size - 1):
        last = places[:, -1]
        n_behind = (starts + lengths)[items.rows[last]] - last - 1
        behind = np.repeat(last + 1, n_behind) + ranks_within(n_behind)
        places = np.column_stack([np.repeat(places, n_behind, axis=0), behind])
    return cells[places], items.rows[places[:, 0]]


def _with_hidden(work: Work, draft: Draft, names: tuple[str, ...], groups: Ids, cells: Ids) -> Draft:
    """The draft with some values hidden in some groups."""
    values = cells % max(len(names), 1)
    recodings: Mapping[str, Recoding] = {
        names[value]: _hidden(work.table[names[value]].codes[draft.rows], np.isin(groups, own // len(names)))
        for value in distinct(values).tolist()
        if (own := cells[values == value]).size
    }
    return replace(draft, recodings={**draft.recodings, **recodings})


def _hidden(codes: NDArray[np.int32], is_hidden: NDArray[np.bool_]) -> Recoding:
    covers = np.array([0, 1, HIDDEN, HIDDEN]), ("0", "1", "0", "1")
    return Recoding(np.where(is_hidden, HIDDEN, codes).astype(np.int32), ("0", "1", TOP), covers)
