"""What an audit may look at: the release, the original and the policy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import polars as pl

from manyveils.policy import Policy
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Table

BUCKET = "bucket"
Key = tuple[str, ...]
Question = tuple[str, str, Key, Key]

Found = TypeVar("Found")


@dataclass(frozen=True, repr=False)
class Evidence:
    """The release, the original and the policy; what is found is remembered from promise to promise."""

    release: Release
    table: Table
    policy: Policy
    _found: dict[Question, object] = field(default_factory=dict)

    def frame(self, file: ColumnFile) -> pl.DataFrame:
        """The published table of one column."""
        return self.release.frames[file.table]

    def is_whole(self, view: View) -> bool:
        """Whether every file of a view is there with the fields that the manifest lists."""
        return all(
            file.table in self.release.frames and {*_expected(view, file)} <= {*self.frame(file).columns}
            for file in view.files
        )

    def group_numbers(self, file: ColumnFile, key: Key) -> pl.Series:
        """Number the groups of rows that are alike in `key`, from 0; one number per published row."""
        return self.remembered(("groups", file.table, key, ()), lambda: self._numbers(file, key))

    def remembered(self, question: Question, find: Callable[[], Found]) -> Found:
        """Find something once: promises that differ in their thresholds look at the same groups."""
        if question not in self._found:
            self._found[question] = find()
        return cast(Found, self._found[question])

    def _numbers(self, file: ColumnFile, key: Key) -> pl.Series:
        """Split the groups of the longest known part of the key by the rest of it."""
        frame = self.frame(file)
        if not key:
            return pl.zeros(frame.height, dtype=pl.UInt32, eager=True).alias("group")
        known = self._longest_part(file, key)
        parts = [frame[name] for name in key if name not in known]
        parts += [self.group_numbers(file, known)] if known else []
        return _numbered(pl.DataFrame({f"part_{place}": part for place, part in enumerate(parts)}))

    def _longest_part(self, file: ColumnFile, key: Key) -> Key:
        parts = [found for kind, table, found, *_ in self._found if (kind, table) == ("groups", file.table)]
        return max((part for part in parts if set(part) < set(key)), key=len, default=())


def _expected(view: View, file: ColumnFile) -> tuple[str, ...]:
    return (BUCKET, *file.attributes) if view.bucketed else file.attributes


def _numbered(keys: pl.DataFrame) -> pl.Series:
    distinct = keys.unique().with_row_index("group")
    # A missing cell is a value: it meets other missing cells.
    return keys.join(distinct, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")["group"]
