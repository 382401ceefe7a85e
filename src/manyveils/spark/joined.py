"""What the parts of a table have noted, put together by the driver."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from manyveils import errors
from manyveils.promises.entries import Ids
from manyveils.reading.meanings import range_ends
from manyveils.release import draft
from manyveils.spark.counts import PART
from manyveils.spark.parts import FIELD, NOTE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Columns = tuple[tuple[str, ...], ...]
Pairs = pl.DataFrame


@dataclass(frozen=True, repr=False)
class Joined:
    """The notes of all parts, in their order."""

    rows: "DataFrame"
    notes: tuple[Mapping[str, Any], ...]

    @property
    def view(self) -> str:
        """The name of the view."""
        return str(self.notes[0]["view"])

    @property
    def columns(self) -> Columns:
        """The columns of the view, which all parts have."""
        return tuple(tuple(column) for column in self.notes[0]["columns"])

    @property
    def n_rows(self) -> int:
        """Published rows."""
        return sum(note["rows"] for note in self.notes)

    @property
    def bucketed(self) -> bool:
        """Whether rows are in buckets."""
        return self.notes[0]["buckets"] is not None

    @property
    def first_buckets(self) -> Ids:
        """How many buckets the parts before each part have, and in the end all of them."""
        return np.cumsum([0, *(note["buckets"] or 0 for note in self.notes)])

    @property
    def recoded(self) -> frozenset[str]:
        """The attributes that some part has recoded."""
        return frozenset(name for note in self.notes for name in note["recoded"])

    def fields(self) -> dict[str, str]:
        """The field of every published attribute; one that stands in two columns has the same values in both."""
        flat = [name for column in self.columns for name in column]
        return {name: f"{FIELD}{number}" for number, name in enumerate(flat)}

    def covers(self) -> dict[tuple[str, str], Pairs]:
        """Which originals each label covers; nothing where there are too many to list."""
        covers = {name: self._covered(name) for name in sorted(self.recoded)}
        return {(self.view, name): pairs for name, pairs in covers.items() if pairs is not None}

    def _covered(self, name: str) -> Pairs | None:
        listed = [note["covers"].get(name) for note in self.notes if name in note["recoded"]]
        if any(pairs is None for pairs in listed):
            return None
        schema = {"published": pl.String, "original": pl.String}
        frames = [pl.DataFrame(pairs, schema=schema, orient="row") for pairs in listed]
        plain = self._values(
            name, [part for part, note in enumerate(self.notes) if name not in note["recoded"]]
        )
        pairs = pl.concat([*frames, pl.DataFrame({"published": plain, "original": plain}, schema=schema)])
        pairs = pairs.unique().sort("published", "original")
        # What ranges cover is told by their texts; sets and labels of a hierarchy are always listed.
        has_ranges = range_ends(pairs["published"])[0].is_not_null().any()
        return None if has_ranges and pairs.height > draft.MOST_LISTED else pairs

    def _values(self, name: str, parts: Sequence[int]) -> list[str | None]:
        """The values of an attribute in parts that publish it as it is."""
        if not parts:
            return []
        rows = self.rows.where(self.rows[NOTE].isNull() & self.rows[PART].isin(list(parts)))
        return [row[0] for row in rows.select(self.fields()[name]).distinct().collect()]


def joined(rows: "DataFrame", n_parts: int) -> Joined:
    """Collect the notes of all parts; what one of them refuses is refused."""
    try:
        return Joined(rows, _notes(rows, n_parts))
    except BaseException:
        rows.unpersist()
        raise


def _notes(rows: "DataFrame", n_parts: int) -> tuple[Mapping[str, Any], ...]:
    noted = rows.where(rows[NOTE].isNotNull()).select(PART, NOTE).collect()
    notes = [json.loads(row[NOTE]) for row in sorted(noted, key=lambda row: row[PART])]
    refused = [note for note in notes if "refused" in note]
    if refused:
        problems = [errors.Problem(*problem) for note in refused for problem in note["problems"]]
        raise getattr(errors, refused[0]["refused"])(dict.fromkeys(problems))
    if len(notes) != n_parts:
        raise AssertionError(f"{n_parts} parts were to be made, and {len(notes)} were")
    return tuple(notes)


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
