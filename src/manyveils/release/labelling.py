"""Secret labels in place of values: what a row reads depends on its value, and at most on what its person chose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from manyveils.policy.sections import Kind
from manyveils.release.draft import Draft, Recoding
from manyveils.table import Attribute, Table
from manyveils.table.levels import Codes, Levels


@dataclass(frozen=True, repr=False)
class Lookup:
    """Secret labels of one attribute: `numbers` has the number of the label for each choice and value.

    `choice` names the attribute of choices; without it everybody has the first.
    """

    kind: Kind
    labels: pl.Series
    levels: Levels
    numbers: Codes
    choice: str | None = None

    def attribute(self, name: str, table: Table) -> Attribute:
        """The attribute with labels in place of values, in the rows of a table."""
        values = table[name]
        chosen = 0 if self.choice is None else table[self.choice].codes
        codes = self.numbers[chosen, values.codes]
        return Attribute(name, self.kind, codes, self.labels, self.levels, -1, values.weights)


Lookups = Mapping[str, Lookup]


def labelled(table: Table, lookups: Lookups) -> Table:
    """The table with labels in place of values, where it has the attributes."""
    labels = {
        name: lookup.attribute(name, table) for name, lookup in lookups.items() if name in table.attributes
    }
    return replace(table, attributes={**table.attributes, **labels}) if labels else table


def in_secret(draft: Draft, table: Table, lookups: Lookups) -> Draft:
    """The draft of a labelled table with labels in place of the originals, and nothing to read them by."""
    secret = {
        name: Recoding(table[name].codes[draft.rows], table[name].domain, None, is_secret=True)
        for name in draft.attributes
        if name in lookups
    }
    return replace(draft, recodings={**draft.recodings, **secret}) if secret else draft


def needed(names: Iterable[str], lookups: Lookups) -> tuple[str, ...]:
    """The attributes that must be at hand to read some of them: these, and what was chosen for them."""
    listed = tuple(names)
    choices = (lookups[name].choice for name in listed if name in lookups)
    return tuple(dict.fromkeys((*listed, *(choice for choice in choices if choice is not None))))
