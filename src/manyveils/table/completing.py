"""Hierarchies that miss values of the data: what stands in them, and what a user has to add."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from manyveils.policy import Policy
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.policy.known import known_lines
from manyveils.table.kinds import as_number


@dataclass(frozen=True, repr=False)
class Incomplete:
    """The hierarchy of an attribute as far as it goes, and the values that it misses."""

    attribute: str
    lines: Lines
    missing: tuple[str, ...]

    def written(self) -> str:
        """All lines in ARX's format; those of missing values come last, with empty fields to fill in."""
        depth = len(self.lines[0]) if self.lines else 3
        blank = ("",) * max(depth - 2, 0)
        text = io.StringIO()
        writer = csv.writer(text, delimiter=";", lineterminator="\n")
        writer.writerows([*self.lines, *((value, *blank, TOP) for value in self.missing)])
        return text.getvalue()


def incomplete(frame: pl.DataFrame, policy: Policy) -> Iterator[Incomplete]:
    """The attributes whose hierarchies miss values."""
    for name in (name for name in policy.held if name in frame.columns):
        hierarchy = policy.attributes[name].hierarchy
        texts = _texts(frame[name], policy, name)
        if hierarchy is not None and hierarchy.known:
            lines, missing = known_lines(hierarchy.known, texts)
        elif lines := policy.lines(name) or ():
            listed = {line[0] for line in lines}
            numbers = {number for text in listed if (number := as_number(text)) is not None}
            missing = tuple(text for text in texts if text not in listed and as_number(text) not in numbers)
        else:
            continue
        if missing:
            yield Incomplete(name, lines, missing)


def _texts(cells: pl.Series, policy: Policy, name: str) -> list[str]:
    """The different values of a column, in order, without missing ones."""
    texts = cells.cast(pl.String).drop_nulls()
    if separator := policy.attributes[name].multivalued:
        texts = texts.str.split(separator).explode().str.strip_chars()
    lacking = ["", *policy.data.missing_markers]
    return texts.filter(~texts.is_in(lacking)).unique().sort().to_list()
