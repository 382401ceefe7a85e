"""A view as a method makes it: codes in the order of the table, not yet fit to be seen; and secret labels in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.sections import Kind
from manyveils.table import Attribute, Table
from manyveils.table.levels import Codes, Levels

if TYPE_CHECKING:
    from manyveils.keys.key import Key

# Ranges that stand for more pairs of label and original are published without a recoding file; their texts tell.
MOST_LISTED = 200_000


@dataclass(frozen=True, repr=False)
class Recoding:
    """Published labels in place of values: a label per row, and what each label covers.

    `covers` pairs label numbers with the texts of originals; it is None where there are too many to list, and where
    what labels mean is secret.
    """

    codes: Codes
    labels: tuple[str | None, ...] | pl.Series
    covers: tuple[NDArray[np.int64], tuple[str, ...]] | None
    is_secret: bool = False

    @property
    def values(self) -> pl.Series:
        """The published label of each code."""
        return self.labels if isinstance(self.labels, pl.Series) else pl.Series(self.labels, dtype=pl.String)

    def of_rows(self, rows: NDArray[np.intp], column: Attribute) -> "Recoding":
        """The same of some rows of those it was made for; labels cover the originals that these have."""
        if rows.size == self.codes.size:
            return self
        covers = self.covers
        if covers is not None:
            present = pl.Series(column.texts).gather(np.unique(column.codes[rows]))
            numbers, texts = covers
            kept = pl.Series(texts, dtype=pl.String).is_in(present.implode()).to_numpy()
            covers = (
                numbers[kept],
                tuple(text for text, is_kept in zip(texts, kept.tolist(), strict=True) if is_kept),
            )
        return replace(self, codes=self.codes[rows], covers=covers)


@dataclass(frozen=True, repr=False)
class Draft:
    """Attributes grouped into columns, rows grouped into buckets, values possibly recoded."""

    name: str
    columns: tuple[tuple[str, ...], ...]
    rows: NDArray[np.intp]
    buckets: NDArray[np.int64] | None = None
    recodings: Mapping[str, Recoding] = field(default_factory=dict)
    enforces: Mapping[str, Any] | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes of the view."""
        return tuple(name for column in self.columns for name in column)


@dataclass(frozen=True)
class Drafts:
    """Drafts of all views, and for the publisher notes on how they came about and the key to what is secret in them."""

    views: tuple[Draft, ...]
    notes: Mapping[str, object] = field(default_factory=dict)
    key: "Key | None" = None


def recode_to_level(column: Attribute, level: int, rows: NDArray[np.intp]) -> Recoding | None:
    """The column at one level of its hierarchy; nothing at level 0, where values stay as they are."""
    if level == 0:
        return None
    step, codes = column.levels[level], column.codes[rows]
    # Labels cover the values that occur in the published rows.
    present = np.flatnonzero(np.bincount(codes, minlength=column.n_values))
    covers = step.label_of[present].astype(np.int64), tuple(column.texts[code] for code in present)
    return Recoding(
        step.label_of[codes].astype(np.int32), tuple(label or None for label in step.labels), covers
    )


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
