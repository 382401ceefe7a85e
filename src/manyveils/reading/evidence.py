"""What an audit may look at: the release, the original and the policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.reading.cover import Cover
from manyveils.reading.keys import Ids, Numbers, combined, dense
from manyveils.reading.labels import Labels, labels_of
from manyveils.reading.meanings import Listing, Meanings, false_lines, texts_of
from manyveils.release import Release, View
from manyveils.release.bare import BareRelease
from manyveils.release.seal import BUCKET, levels_of
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute, Table
from manyveils.table.attributes import tally

__all__ = ["BUCKET", "Coded", "Evidence", "Key", "coded_field", "fields_of"]

# So many texts tell whether a field has originals or labels.
FIRST = 100

Key = tuple[str, ...]
Question = tuple[str, str, Key, Key]

Answer = TypeVar("Answer")


@dataclass(frozen=True, repr=False)
class Coded:
    """A published field: a code per row, a value per code."""

    codes: Numbers
    values: pl.Series


@dataclass(frozen=True, repr=False)
class Evidence:
    """The release, the original and the policy; answers are remembered from promise to promise."""

    release: Release
    table: Table
    policy: Policy
    _answers: "Answers" = field(default_factory=lambda: Answers())
    # What the files say, whoever the persons of the original are.
    _read: "Answers" = field(default_factory=lambda: Answers())

    @property
    def by_rows(self) -> "Evidence":
        """The same with rows in place of persons, where each person has one: what is counted is the same.

        Where persons have several rows, and where they all have one and none is named, it is this evidence itself.
        """
        return self.remembered(("by rows", "", (), ()), self._by_rows)

    def _by_rows(self) -> "Evidence":
        persons = self.table.persons
        # Numbers of persons may have gaps, so that there may be as many as rows where somebody has several.
        if persons is None or not persons.size or np.bincount(persons).max() > 1:
            return self
        return Evidence(self.release, replace(self.table, persons=None), self.policy, _read=self._read)

    @property
    def n_people(self) -> int:
        """How many people the original is about, even where only a part of its rows is here."""
        return self.table.whole(()).n_people

    def original(self, name: str) -> Attribute:
        """An attribute of the original whose counts are those of all people."""
        return self.table.whole((name,))[name]

    def joins(self, names: Key) -> bool:
        """Whether the original tells who has which values of these attributes together.

        Secret attributes are known as the release shows them, and nobody sees whose their values are.
        """
        secret = set(self.release.manifest.secret)
        return secret.isdisjoint(names) or secret.issuperset(names)

    def frame(self, file: ColumnFile) -> pl.DataFrame:
        """The published table of one column; empty where it is missing."""
        return self.release.frames.get(file.table, pl.DataFrame())

    def weights(self, file: ColumnFile) -> Ids | None:
        """How many published rows each row of the table stands for; None where each is one."""
        return self.release.weights.get(file.table)

    def people(self, file: ColumnFile) -> int:
        """How many published rows there are."""
        weights = self.weights(file)
        return self.frame(file).height if weights is None else int(weights.sum())

    def tally(self, file: ColumnFile, numbers: Numbers, n: int = 0) -> Ids:
        """Published rows per number, for one number per row of the table."""
        return tally(numbers, self.weights(file), n)

    def counts(self, file: ColumnFile, name: str) -> Ids:
        """Published rows per code of one field."""
        field = self.coded(file, name)
        return self.tally(file, field.codes, len(field.values))

    def showing(self, names: frozenset[str]) -> list[View]:
        """The views that show some of these attributes, in the order of the release."""
        views: dict[str, list[int]] = self._read_once(("views", "", (), ()), self._views_of)
        numbers = sorted({number for name in names for number in views.get(name, ())})
        return [self.release.views[number] for number in numbers]

    def _views_of(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, view in enumerate(self.release.views):
            for name in dict.fromkeys(view.attributes):
                numbers.setdefault(name, []).append(number)
        return numbers

    def is_whole(self, view: View) -> bool:
        """Whether every file of a view is there with the fields that the manifest lists."""

        def is_there(file: ColumnFile) -> bool:
            frames = self.release.frames
            return file.table in frames and {*fields_of(view, file)} <= {*self.frame(file).columns}

        return self._read_once(("whole", view.name, (), ()), lambda: all(map(is_there, view.files)))

    def n_strays(self) -> int:
        """How many tables no view lists, and how many recodings are of attributes that their view does not list.

        Levels other than those of the policy count as one more.
        """
        tables = {file.table for view in self.release.views for file in view.files}
        attributes = {(view.name, name) for view in self.release.views for name in view.attributes}
        n_false = self.release.manifest.levels != levels_of(self.policy)
        return (
            len(self.release.frames.keys() - tables)
            + len(self.release.recodings.keys() - attributes)
            + n_false
        )

    def listed(self, view: View, name: str) -> Listing | None:
        """What the release lists under the labels of an attribute; None where it lists nothing."""
        recoding = self.release.recodings.get((view.name, name))
        question = ("listed", view.name, (name,), ())
        return self._read_once(question, lambda: None if recoding is None else Listing(recoding))

    def meanings(self, name: str) -> Meanings:
        """What texts can mean for an attribute, as the original and the policy have it."""
        lines = None if name in self.release.manifest.secret else self.policy.lines(name)
        return self._read_once(("meanings", "", (name,), ()), lambda: Meanings(self.original(name), lines))

    def texts(self, file: ColumnFile, name: str) -> list[str]:
        """The different values of a field as texts, in the order of their codes."""
        return texts_of(self.coded(file, name).values).to_list()

    def cover(self, view: View, file: ColumnFile, name: str) -> Cover:
        """The originals that each value of a field stands for; labels are the codes of the field."""
        return self._read_once(
            ("cover", file.table, (name,), ()),
            lambda: self.meanings(name).cover(self.texts(file, name), self.listed(view, name)),
        )

    def labels(self, view: View, file: ColumnFile, name: str) -> Labels:
        """The values of an attribute in a view: published ones, and originals that none of them covers."""
        return self._read_once(("labels", file.table, (name,), ()), lambda: self._labels(view, file, name))

    def _labels(self, view: View, file: ColumnFile, name: str) -> Labels:
        """A part of a view has the values of the whole view, which are listed."""
        texts, listed = self.texts(file, name), self.listed(view, name)
        elsewhere = [] if listed is None else sorted(listed.labels.difference(texts))
        if not elsewhere:
            return labels_of(self.meanings(name), texts, self.cover(view, file, name))
        texts = [*texts, *elsewhere]
        return labels_of(self.meanings(name), texts, self.meanings(name).cover(texts, listed))

    def n_false_lines(self, view: View, name: str) -> int:
        """How many lines the recoding of an attribute has too many or too few for what its labels mean."""
        listed = self.listed(view, name)
        if listed is None or name not in self.table.attributes:
            return 0
        texts = {text for file in view.files if name in file.attributes for text in self.texts(file, name)}
        return false_lines(listed, sorted(texts), self.meanings(name), self.n_people - self.release.rows)

    def group_numbers(self, file: ColumnFile, key: Key) -> Ids:
        """Number the groups of rows that are alike in `key`, from 0; one number per row of the table."""
        if not key:
            return np.zeros(self.frame(file).height, dtype=np.int64)
        return self._read_once(
            ("groups", file.table, key, ()),
            lambda: dense(combined([self.coded(file, name).codes for name in key])),
        )

    def bucket_numbers(self, files: Sequence[ColumnFile]) -> tuple[list[Ids], int]:
        """The bucket of each published row, numbered alike in all columns, and the number of buckets."""
        columns = [self.coded(file, BUCKET) for file in files]
        if all(column.values.equals(columns[0].values) for column in columns):
            numbers = [column.codes.astype(np.int64, copy=False) for column in columns]
            return numbers, len(columns[0].values)
        texts = [column.values.cast(pl.String).to_frame("text") for column in columns]
        buckets = pl.concat(texts).unique().with_row_index("number").cast({"number": pl.Int64})
        numbers = []
        for column, own in zip(columns, texts, strict=True):
            joined = own.join(buckets, on="text", how="left", nulls_equal=True, maintain_order="left")
            numbers.append(joined["number"].to_numpy()[column.codes])
        return numbers, buckets.height

    def buckets_of(self, view: View, file: ColumnFile) -> tuple[Ids, int]:
        """The bucket of each row of one column, numbered alike in all columns of the view, and the number of buckets."""
        question = ("buckets", view.name, (), ())
        numbers, n_buckets = self._read_once(question, lambda: self.bucket_numbers(view.files))
        return numbers[view.files.index(file)], n_buckets

    def coded(self, file: ColumnFile, name: str) -> Coded:
        """One field of a published table as codes, with the value of each code."""
        return self._read_once(("codes", file.table, (name,), ()), lambda: self._coded(file, name))

    def _coded(self, file: ColumnFile, name: str) -> Coded:
        """Published originals are numbered as the original has them; anything else is numbered by itself."""
        if isinstance(self.release, BareRelease) and self.release.is_alone:
            # All that is known of its people is the table itself.
            return Coded(self.table[name].codes, self.table[name].domain)
        published, original = self.frame(file)[name], self.table.attributes.get(name)
        expected = None if original is None else coded_among(published, original.domain.drop_nulls())
        return expected or coded_field(published)

    def _read_once(self, question: Question, answer: Callable[[], Answer]) -> Answer:
        return self._read.of(question, answer)

    def remembered(self, question: Question, answer: Callable[[], Answer]) -> Answer:
        """Answer a question once: promises that differ in their thresholds look at the same groups."""
        return self._answers.of(question, answer)

    def forget(self) -> None:
        """Let go of all answers: some of them hold the evidence in turn, so that they would stay for a while."""
        self._answers.forget()
        self._read.forget()


@dataclass(frozen=True, repr=False)
class Answers:
    """Answers by question; of several threads that ask the same at once, one finds the answer and the others wait."""

    _found: dict[Question, object] = field(default_factory=dict)
    _asked: dict[Question, Lock] = field(default_factory=dict)

    def of(self, question: Question, answer: Callable[[], Answer]) -> Answer:
        """The answer to a question, which is found once."""
        if question not in self._found:
            with self._asked.setdefault(question, Lock()):
                if question not in self._found:
                    self._found[question] = answer()
        return cast(Answer, self._found[question])

    def forget(self) -> None:
        """Let go of all answers."""
        self._found.clear()


def lines_of(evidence: Evidence) -> Ids | None:
    """The line that has each row's own values, where lines are candidates; None where lines are rows."""
    return evidence.release.lines if isinstance(evidence.release, BareRelease) else None


def fields_of(view: View, file: ColumnFile) -> tuple[str, ...]:
    """The fields that the table of a column has."""
    return (BUCKET, *file.attributes) if view.bucketed else file.attributes


def coded_field(published: pl.Series) -> Coded:
    """Number the values of a field; a missing cell is a value, and the last one."""
    present = published.drop_nulls()
    if published.dtype.is_integer() and _is_close_together(numbers := present.to_numpy()):
        codes, values = _coded_integers(published, numbers.astype(np.int64))
    elif published.dtype == pl.String:
        values = present.unique()
        codes = published.cast(pl.Enum(values)).to_physical()
    else:
        values = present.unique()
        numbered = pl.DataFrame({"value": values}).with_row_index("code")
        joined = published.to_frame("value").join(numbered, on="value", how="left", maintain_order="left")
        codes = joined["code"]
    if published.null_count():
        codes = codes.cast(pl.Int64).fill_null(len(values))
        values = values.append(pl.Series([None], dtype=values.dtype))
    return Coded(codes.to_numpy().astype(np.int64), values)


def _is_close_together(numbers: NDArray[np.integer]) -> bool:
    return bool(numbers.size) and int(numbers.max()) - int(numbers.min()) < 4 * numbers.size


def coded_among(published: pl.Series, expected: pl.Series) -> Coded | None:
    """Number the texts of a field in the order of expected ones; None where it has a missing cell or any other text.

    >>> coded = coded_among(pl.Series(["c", "a", "c"]), pl.Series(["a", "b", "c"]))
    >>> coded.codes.tolist(), coded.values.to_list()
    ([1, 0, 1], ['a', 'c'])
    """
    first = published.head(FIRST)
    if not published.dtype == expected.dtype == pl.String or not first.is_in(expected.implode()).all():
        return None
    codes = published.cast(pl.Enum(expected), strict=False).to_physical()
    if codes.null_count():
        return None
    numbers, occurs = codes.to_numpy().astype(np.int64), np.zeros(len(expected), dtype=bool)
    occurs[numbers] = True
    return Coded(
        numbers if occurs.all() else (np.cumsum(occurs) - 1)[numbers], expected.filter(pl.Series(occurs))
    )


def _coded_integers(published: pl.Series, present: Ids) -> tuple[pl.Series, pl.Series]:
    """Integers that lie close together number themselves."""
    low = int(present.min())
    occurs = np.bincount(present - low) > 0
    codes = (np.cumsum(occurs) - 1)[present - low]
    values = pl.Series(np.flatnonzero(occurs) + low, dtype=published.dtype)
    if not published.null_count():
        return pl.Series(codes), values
    is_there = published.is_not_null().to_numpy()
    scattered = np.zeros(is_there.size, dtype=np.int64)
    scattered[is_there] = codes
    return pl.Series(scattered).set(published.is_null(), None), values
