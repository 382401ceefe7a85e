"""What an audit may look at: the release, the original and the policy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np
import polars as pl

from manyveils.audits.keys import Numbers, combined, dense
from manyveils.policy import Policy
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Table

BUCKET = "bucket"
Key = tuple[str, ...]
Question = tuple[str, str, Key, Key]

Found = TypeVar("Found")


@dataclass(frozen=True, repr=False)
class Coded:
    """A published field: a code per row, a value per code."""

    codes: Numbers
    values: pl.Series


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

    def group_numbers(self, file: ColumnFile, key: Key) -> Numbers:
        """Number the groups of rows that are alike in `key`, from 0; one number per published row."""
        return self.remembered(("groups", file.table, key, ()), lambda: self._group_numbers(file, key))

    def _group_numbers(self, file: ColumnFile, key: Key) -> Numbers:
        if not key:
            return np.zeros(self.frame(file).height, dtype=np.int64)
        return dense(combined([self.coded(file, name).codes for name in key]))

    def coded(self, file: ColumnFile, name: str) -> Coded:
        """One field of a published table as codes, with the value of each code."""
        return self.remembered(("codes", file.table, (name,), ()), lambda: _coded(self.frame(file)[name]))

    def remembered(self, question: Question, find: Callable[[], Found]) -> Found:
        """Find something once: promises that differ in their thresholds look at the same groups."""
        if question not in self._found:
            self._found[question] = find()
        return cast(Found, self._found[question])


def _expected(view: View, file: ColumnFile) -> tuple[str, ...]:
    return (BUCKET, *file.attributes) if view.bucketed else file.attributes


def _coded(published: pl.Series) -> Coded:
    distinct = pl.DataFrame({"value": published.unique()}).with_row_index("code")
    # A missing cell is a value: it meets other missing cells.
    joined = published.to_frame("value").join(
        distinct, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return Coded(joined["code"].to_numpy().astype(np.int64), distinct["value"])
