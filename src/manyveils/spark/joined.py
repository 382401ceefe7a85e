"""The parts that Spark has made: their rows, and what was noted of them, collected by the driver."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manyveils import errors
from manyveils.methods.joining import Joined
from manyveils.spark.counts import PART
from manyveils.spark.parts import FIELD, NOTE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, repr=False)
class Collected:
    """The rows of all parts, and their notes."""

    rows: "DataFrame"
    notes: Joined

    def fields(self) -> dict[str, str]:
        """The field of every published attribute; one that stands in two columns has the same values in both."""
        flat = [name for column in self.notes.columns for name in column]
        return {name: f"{FIELD}{number}" for number, name in enumerate(flat)}

    def values(self, name: str, parts: Sequence[int]) -> list[str | None]:
        """The values of an attribute in some parts."""
        rows = self.rows.where(self.rows[NOTE].isNull() & self.rows[PART].isin(list(parts)))
        return [row[0] for row in rows.select(self.fields()[name]).distinct().collect()]


def collected(rows: "DataFrame", n_parts: int) -> Collected:
    """Collect the notes of all parts; what one of them refuses is refused."""
    try:
        return Collected(rows, Joined(_notes(rows, n_parts)))
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
