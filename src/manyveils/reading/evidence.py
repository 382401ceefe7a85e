"""What an audit may look at: the release, the original and the policy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np
import polars as pl

from manyveils.policy import Policy
from manyveils.reading.cover import Cover
from manyveils.reading.keys import Numbers, combined, dense
from manyveils.reading.labels import Labels, labels_of
from manyveils.reading.meanings import Listing, Meanings, false_lines, texts_of
from manyveils.reading.people import tally
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute, Table

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

    @property
    def n_people(self) -> int:
        """How many people the original is about, even where only a part of its rows is here."""
        return self.table.whole(()).n_people

    def original(self, name: str) -> Attribute:
        """A column of the original whose counts are those of all people."""
        return self.table.whole((name,))[name]

    def joins(self, names: Key) -> bool:
        """Whether the original tells who has which values of these columns together.

        Secret columns are known as the release shows them, and nobody sees whose their values are.
        """
        secret = set(self.release.manifest.secret)
        return secret.isdisjoint(names) or secret.issuperset(names)

    def frame(self, file: ColumnFile) -> pl.DataFrame:
        """The published table of one column."""
        return self.release.frames[file.table]

    def weights(self, file: ColumnFile) -> Numbers | None:
        """How many published rows each row of the table stands for; None where each is one."""
        return self.release.weights.get(file.table)

    def people(self, file: ColumnFile) -> int:
        """How many published rows there are."""
        weights = self.weights(file)
        return self.frame(file).height if weights is None else int(weights.sum())

    def tally(self, file: ColumnFile, numbers: Numbers, n: int = 0) -> Numbers:
        """Published rows per number, for one number per row of the table."""
        return tally(numbers, self.weights(file), n)

    def counts(self, file: ColumnFile, name: str) -> Numbers:
        """Published rows per code of one field."""
        field = self.coded(file, name)
        return self.tally(file, field.codes, len(field.values))

    def is_whole(self, view: View) -> bool:
        """Whether every file of a view is there with the fields that the manifest lists."""
        return all(
            file.table in self.release.frames and {*_expected(view, file)} <= {*self.frame(file).columns}
            for file in view.files
        )

    def listed(self, view: View, name: str) -> Listing | None:
        """What the release lists under the labels of an attribute; None where it lists nothing."""
        recoding = self.release.recodings.get((view.name, name))
        question = ("listed", view.name, (name,), ())
        return self.remembered(question, lambda: None if recoding is None else Listing(recoding))

    def meanings(self, name: str) -> Meanings:
        """What texts can mean for an attribute, as the original and the policy have it."""
        lines = None if name in self.release.manifest.secret else self.policy.lines(name)
        return self.remembered(("meanings", "", (name,), ()), lambda: Meanings(self.original(name), lines))

    def cover(self, view: View, file: ColumnFile, name: str) -> Cover:
        """The originals that each value of a field stands for; labels are the codes of the field."""
        return self.remembered(("cover", file.table, (name,), ()), lambda: self._cover(view, file, name))

    def _cover(self, view: View, file: ColumnFile, name: str) -> Cover:
        texts = texts_of(self.coded(file, name).values).to_list()
        return self.meanings(name).cover(texts, self.listed(view, name))

    def labels(self, view: View, file: ColumnFile, name: str) -> Labels:
        """The values of an attribute in a view: published ones, and originals that none of them covers."""
        return self.remembered(("labels", file.table, (name,), ()), lambda: self._labels(view, file, name))

    def _labels(self, view: View, file: ColumnFile, name: str) -> Labels:
        texts = texts_of(self.coded(file, name).values).to_list()
        return labels_of(self.meanings(name), texts, self.cover(view, file, name))

    def n_false_lines(self, view: View, name: str) -> int:
        """How many lines the recoding of an attribute has too many or too few for what its labels mean."""
        listed = self.listed(view, name)
        if listed is None or name not in self.table.attributes:
            return 0
        files = [file for file in view.files if name in file.attributes]
        texts = {text for file in files for text in texts_of(self.coded(file, name).values)}
        return false_lines(listed, sorted(texts), self.meanings(name), self.n_people - self.release.rows)

    def group_numbers(self, file: ColumnFile, key: Key) -> Numbers:
        """Number the groups of rows that are alike in `key`, from 0; one number per row of the table."""
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
    """Number the values of a field; a missing cell is a value, and the last one."""
    present = published.drop_nulls()
    if published.dtype.is_integer() and len(present) and _span(present) <= 4 * len(present):
        return _coded_integers(published, present)
    distinct = present.unique()
    if published.dtype == pl.String:
        codes = published.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
    else:
        numbered = pl.DataFrame({"value": distinct}).with_row_index("code")
        joined = published.to_frame("value").join(numbered, on="value", how="left", maintain_order="left")
        codes = joined["code"].cast(pl.Int64)
    return _with_missing(codes, distinct, published)


def _span(values: pl.Series) -> int:
    return int(values.max()) - int(values.min()) + 1  # type: ignore[arg-type]


def _coded_integers(published: pl.Series, present: pl.Series) -> Coded:
    """Integers that lie close together number themselves."""
    low = int(present.min())  # type: ignore[arg-type]
    occurs = np.bincount(present.to_numpy().astype(np.int64) - low) > 0
    rank = np.cumsum(occurs) - 1
    codes = published.cast(pl.Int64) - low
    distinct = pl.Series(np.flatnonzero(occurs) + low).cast(published.dtype)
    if not published.null_count():
        return Coded(rank[codes.to_numpy()], distinct)
    numbered = pl.Series(rank[codes.fill_null(0).to_numpy()]).set(published.is_null(), None)
    return _with_missing(numbered, distinct, published)


def _with_missing(codes: pl.Series, distinct: pl.Series, published: pl.Series) -> Coded:
    if published.null_count():
        codes = codes.fill_null(len(distinct))
        distinct = distinct.append(pl.Series([None], dtype=distinct.dtype))
    return Coded(codes.to_numpy().astype(np.int64), distinct)
