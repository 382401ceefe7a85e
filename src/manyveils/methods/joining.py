"""What the parts of a table have noted, put together: what labels cover in all of them, and one note of many."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from manyveils.promises.entries import Ids
from manyveils.reading.meanings import range_ends
from manyveils.release import Draft
from manyveils.release.draft import MOST_LISTED
from manyveils.release.plan import InParts
from manyveils.release.seal import published_recodings

Pairs = pl.DataFrame
# The values of an attribute in parts that publish it as it is.
Values = Callable[[str, Sequence[int]], Sequence[str | None]]


def noted(draft: Draft, notes: Mapping[str, object]) -> dict[str, Any]:
    """What must be known of a part: rows, buckets, which columns were recoded and what labels cover."""
    listed = {name: pairs.rows() for (_, name), pairs in published_recodings(draft).items()}
    return {
        "view": draft.name,
        "columns": draft.columns,
        "rows": len(draft.rows),
        "buckets": None if draft.buckets is None else int(draft.buckets.max(initial=-1)) + 1,
        "recoded": sorted(draft.recodings),
        "covers": listed,
        "notes": dict(notes),
    }


@dataclass(frozen=True, repr=False)
class Joined:
    """The notes of all parts, in their order."""

    each: tuple[Mapping[str, Any], ...]

    @property
    def view(self) -> str:
        """The name of the view."""
        return str(self.each[0]["view"])

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The columns of the view, which all parts have."""
        return tuple(tuple(column) for column in self.each[0]["columns"])

    @property
    def n_rows(self) -> int:
        """Published rows."""
        return sum(note["rows"] for note in self.each)

    @property
    def bucketed(self) -> bool:
        """Whether rows are in buckets."""
        return self.each[0]["buckets"] is not None

    @property
    def first_buckets(self) -> Ids:
        """How many buckets the parts before each part have, and in the end all of them."""
        return np.cumsum([0, *(note["buckets"] or 0 for note in self.each)])

    @property
    def recoded(self) -> frozenset[str]:
        """The attributes that some part has recoded."""
        return frozenset(name for note in self.each for name in note["recoded"])

    def notes_beside(self, parts: InParts) -> dict[str, Any]:
        """What the publisher is told of all parts, and of how they were laid out."""
        told = noted_together([note["notes"] for note in self.each], [note["rows"] for note in self.each])
        return told | dict(parts.notes) | ({"parts": len(self.each)} if len(self.each) > 1 else {})

    def covers(self, values: Values) -> dict[tuple[str, str], Pairs]:
        """Which originals each label covers; nothing where there are too many to list."""
        covers = {name: self._covered(name, values) for name in sorted(self.recoded)}
        return {(self.view, name): pairs for name, pairs in covers.items() if pairs is not None}

    def _covered(self, name: str, values: Values) -> Pairs | None:
        listed = [note["covers"].get(name) for note in self.each if name in note["recoded"]]
        if any(pairs is None for pairs in listed):
            return None
        schema = {"published": pl.String, "original": pl.String}
        frames = [pl.DataFrame(pairs, schema=schema, orient="row") for pairs in listed]
        parts = [part for part, note in enumerate(self.each) if name not in note["recoded"]]
        plain = values(name, parts) if parts else []
        pairs = pl.concat([*frames, pl.DataFrame({"published": plain, "original": plain}, schema=schema)])
        pairs = pairs.unique().sort("published", "original")
        # What ranges cover is told by their texts; sets and labels of a hierarchy are always listed.
        has_ranges = range_ends(pairs["published"])[0].is_not_null().any()
        return None if has_ranges and pairs.height > MOST_LISTED else pairs


def noted_together(notes: Sequence[Mapping[str, Any]], rows: Sequence[int]) -> dict[str, Any]:
    """The notes of all parts as one: counts add up, sizes are the smallest or largest, shares are means over rows."""
    keys = dict.fromkeys(key for note in notes for key in note)
    # What a part has nothing to say about stands for none of its rows.
    told = {key: [part for part, note in enumerate(notes) if key in note] for key in keys}
    return {
        key: _together(key, [notes[part][key] for part in parts], [rows[part] for part in parts])
        for key, parts in told.items()
    }


def _together(key: str, values: Sequence[Any], rows: Sequence[int]) -> Any:
    first = values[0]
    if isinstance(first, Mapping) and all(value.keys() == first.keys() for value in values):
        return {inner: _together(key, [value[inner] for value in values], rows) for inner in first}
    if all(value == first for value in values) and not _adds_up(first):
        return first
    if not all(_is_number(value) for value in values):
        lists = [value if isinstance(value, list) else [value] for value in values]
        return sorted({str(text) for texts in lists for text in texts})
    if key.startswith("smallest"):
        return min(values)
    if key.startswith("largest"):
        return max(values)
    return sum(values) if _adds_up(first) else float(np.average(values, weights=rows))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _adds_up(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
