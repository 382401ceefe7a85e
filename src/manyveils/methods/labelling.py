"""Secret labels in place of values: what a row reads depends on its value, and at most on what its person chose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.sections import Kind
from manyveils.release import Draft, Recoding
from manyveils.table import Attribute, Table
from manyveils.table.levels import Levels


@dataclass(frozen=True, repr=False)
class Lookup:
    """The labels of one column: `places` has the number of the label for each choice and value.

    `choice` names the column of choices; without it everybody has the first.
    """

    kind: Kind
    labels: pl.Series
    levels: Levels
    places: NDArray[np.int32]
    choice: str | None = None

    def column(self, name: str, table: Table) -> Attribute:
        """What is read in the rows of a table."""
        values = table[name]
        chosen = 0 if self.choice is None else table[self.choice].codes
        return Attribute(
            name, self.kind, self.places[chosen, values.codes], self.labels, self.levels, -1, values.weights
        )


Lookups = Mapping[str, Lookup]


def labelled(table: Table, lookups: Lookups) -> Table:
    """The table with labels in place of values, where it has the columns."""
    columns = {name: each.column(name, table) for name, each in lookups.items() if name in table.attributes}
    return replace(table, attributes={**table.attributes, **columns}) if columns else table


def in_secret(draft: Draft, table: Table, lookups: Lookups) -> Draft:
    """The draft of a labelled table with labels in place of the originals, and nothing to read them by."""
    shown = [name for column in draft.columns for name in column if name in lookups]
    secret = {
        name: Recoding(table[name].codes[draft.rows], table[name].domain, None, is_secret=True)
        for name in shown
    }
    return replace(draft, recodings={**draft.recodings, **secret}) if secret else draft


def needed(names: Iterable[str], lookups: Lookups) -> tuple[str, ...]:
    """The columns that must be at hand to read some columns: these, and what was chosen for them."""
    listed = tuple(names)
    choices = (lookups[name].choice for name in listed if name in lookups)
    return tuple(dict.fromkeys((*listed, *(choice for choice in choices if choice is not None))))
