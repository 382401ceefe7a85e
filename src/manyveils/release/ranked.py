"""Rows that are numbers become published rows as ranks of their values: what a leveled view needs of a batch, wherever it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.release.dealing import DealtView
from manyveils.release.draft import Draft
from manyveils.release.packing import Keys, Numbers, Packing, packing_of
from manyveils.release.plan import LeveledView
from manyveils.release.seal import (
    OutgoingColumn,
    OutgoingView,
    coded_values,
    in_order,
    published_recodings,
    rewritten,
    type_name,
    without_absent,
)
from manyveils.table import Table
from manyveils.table.sketch import Numbered, Raw

# Distinct combinations of some attributes, with how many people have each.
Counting = Callable[[tuple[str, ...]], Table]


@dataclass(frozen=True, repr=False)
class Ranked:
    """The one column of a leveled view: `values` are all that could be published of each attribute, in order.

    Claim: rows have the order of their keys.
    Why: a key counts through all combinations of ranks, and ranks have the order of values.
    Tested by: tests/streaming/test_same_release.py
    """

    meanings: Numbered
    view: LeveledView
    values: Mapping[str, pl.Series]
    ranks: Mapping[str, NDArray[np.int32]]

    @cached_property
    def fields(self) -> list[str]:
        """The fields that are needed of a row."""
        return self.meanings.fields(self.view.needs)

    @cached_property
    def packing(self) -> Packing:
        """How ranks stand together in keys."""
        return packing_of(self.values)

    def numbers(self, raw: Mapping[str, Raw]) -> list[Numbers]:
        """The ranks of the rows that are published, in the order of the batch."""
        draft, table = _drafted(self.meanings, self.view, raw)
        return [rank[coded_values(draft, name, table)[0]] for name, rank in self.ranks.items()]

    def keys(self, raw: Mapping[str, Raw]) -> list[Keys]:
        """The same as keys."""
        return self.packing.packed(self.numbers(raw))

    def shown(self, numbers: Sequence[Numbers]) -> list[pl.Series]:
        """Ranks as they are published."""
        ranks = zip(self.values.items(), numbers, strict=True)
        return [values.gather(rank).alias(name) for (name, values), rank in ranks]

    @property
    def types(self) -> dict[str, str]:
        """The types of the attributes, as a manifest has them."""
        return {name: type_name(values.dtype) for name, values in self.values.items()}


def ranked(meanings: Numbered, view: LeveledView) -> Ranked:
    """What the rows of a view become; no row is looked at."""
    fields = meanings.fields(view.needs)
    draft, table = _drafted(meanings, view, {field: np.zeros(0, dtype=np.int64) for field in fields})
    ranks, values = {}, {}
    for name in view.attributes:
        ranks[name], values[name] = in_order(coded_values(draft, name, table)[1])
    own = {name: rewritten(column) for name, column in values.items()}
    return Ranked(meanings, view, own, ranks)


def _drafted(meanings: Numbered, view: LeveledView, raw: Mapping[str, Raw]) -> tuple[Draft, Table]:
    table = meanings.table_of(raw, view.needs)
    return view.draft(table), table


def outlined(
    view: LeveledView, meanings: Numbered, counting: Counting, column: Callable[[LeveledView], OutgoingColumn]
) -> OutgoingView:
    """A table whose attributes stand at levels: what goes out beside its rows is told by counts."""
    derived = {name for names in meanings.sketch.derived.values() for name in names}
    # Counts of these tell which rows and values are published.
    beside = [name for name in view.attributes if name in derived and len(view.left_out)]
    table = counting((*view.levels, *beside))
    draft = replace(view, attributes=tuple(table.attributes)).draft(table)
    n_rows = int(table.weights[draft.rows].sum()) if table.weights is not None else len(draft.rows)
    absent = {*draft.attributes} - {*without_absent(draft, table).attributes}
    view = replace(view, attributes=tuple(name for name in view.attributes if name not in absent))
    recodings, secret = published_recodings(draft), secret_in(view)
    return OutgoingView(view.name, (column(view),), n_rows, False, recodings, view.enforces, secret)


def secret_in(view: LeveledView | DealtView) -> frozenset[str]:
    """The attributes of a view that are published in secret."""
    return frozenset(name for name in view.attributes if name in view.lookups)


def shown_columns(view: DealtView, table: Table) -> tuple[tuple[str, ...], ...]:
    """The columns without the derived attributes of values that only suppressed rows have: their names would tell."""
    published = view.published_values()
    derived = {name for names in table.derived.values() for name in names}
    absent = {
        name
        for codes, name in zip(published.T, view.by, strict=True)
        if name in derived and table[name].counts[1] and not codes.any()
    }
    columns = (tuple(name for name in column if name not in absent) for column in view.columns)
    return tuple(column for column in columns if column)
