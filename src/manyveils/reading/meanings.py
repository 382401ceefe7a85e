"""What published texts mean: an exact value, a label of the hierarchy, a range, a set, or everything.

Whoever has the original and the policy derives it from the text. What a recoding file lists is compared with that
and decides only between several meanings that a text really has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP, Lines
from manyveils.reading.cover import Cover, Ids, cover_of_pairs, joined_covers
from manyveils.reading.intervals import NUMBER, intervals_in
from manyveils.table import Attribute
from manyveils.table.levels import Level

RANGE = rf"^\[{NUMBER}, {NUMBER}\]$"
NOTHING: Ids = np.zeros(0, dtype=np.int64)


def texts_of(published: pl.Series) -> pl.Series:
    """Published values as texts; a missing one is empty."""
    texts = published.cast(pl.String)
    return texts.fill_null("") if texts.null_count() else texts


def range_ends(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The two ends of every text that reads as a range `[20, 52]`, as texts; null for any other."""
    return texts.str.extract(RANGE, 1), texts.str.extract(RANGE, 2)


@dataclass(frozen=True, repr=False)
class Listing:
    """What a recoding file says: a line for every label and original."""

    recoding: pl.DataFrame

    @cached_property
    def lines(self) -> pl.DataFrame:
        """The lines as texts: label, original; a missing one is empty."""
        names = {"published": "label", "original": "original"}
        return self.recoding.rename(names).select(pl.all().fill_null("")).unique()

    @property
    def n_disordered(self) -> int:
        """How many lines stand twice, or else whether they stand in an order that could tell something."""
        ordered = self.recoding.unique().sort("published", "original")
        twice = self.recoding.height - ordered.height
        return twice or int(not self.recoding.equals(ordered))

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels that are listed."""
        return frozenset(self.lines["label"])

    @cached_property
    def _originals(self) -> dict[str, list[str]]:
        grouped = self.lines.group_by("label").agg("original")
        return dict(zip(grouped["label"], grouped["original"].to_list(), strict=True))

    def originals(self, label: str) -> set[str]:
        """The originals that are listed under a label."""
        return set(self._originals.get(label, ()))


@dataclass(frozen=True, repr=False)
class Meanings:
    """Everything that a text can mean for one attribute of the original; `lines` are a written hierarchy's."""

    attribute: Attribute
    lines: Lines | None = None

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each original."""
        return {text: code for code, text in enumerate(self.attribute.texts)}

    def cover(self, texts: Sequence[str], listed: Listing | None = None) -> Cover:
        """The originals that each text stands for; a text without a meaning stands for none.

        `listed` has what a recoding file says of some labels; without it the most exact meaning counts.

        Claim: whatever is listed, a text stands for originals that the data and the policy have under it.
        Why: the list only chooses between meanings, each of which is found without it.
        Tested by: tests/claims/test_labels.py
        """
        low = np.array([self.code_of.get(text, -1) for text in texts], dtype=np.int64)
        high = np.where(low < 0, -2, low)
        owners, codes = [NOTHING], [NOTHING]
        ranges = self._ranges(texts)
        for label, text in enumerate(texts):
            if low[label] >= 0 and (listed is None or text not in self._doubtful):
                continue
            meanings = self._several(text)
            if label in ranges and not meanings:
                # A range is one run, however many originals it covers.
                low[label], high[label] = ranges[label]
            elif meanings:
                high[label] = low[label] - 1
                codes.append(self._chosen(meanings, listed, text))
                owners.append(np.full(codes[-1].size, label))
        n_originals = self.attribute.n_values
        exact = cover_of_pairs(np.concatenate(owners), np.concatenate(codes), len(texts), n_originals)
        return joined_covers(exact, low, high)

    def unseen(self, text: str) -> frozenset[str]:
        """The values of a written hierarchy under a label that do not occur in the data."""
        return self._unseen.get(text, frozenset())

    @cached_property
    def _unseen(self) -> dict[str, frozenset[str]]:
        under: dict[str, set[str]] = {}
        for value, *labels in self.lines or ():
            if value not in self.code_of:
                for label in (*labels[:-1], TOP):
                    under.setdefault(label, set()).add(value)
        return {label: frozenset(values) for label, values in under.items()}

    @cached_property
    def _doubtful(self) -> frozenset[str]:
        """Values that could also be a label, a range, a set or everything."""
        texts = self.attribute.texts
        return frozenset(
            text for text in texts if text in self._names or text[:1] in ("[", "{") or text == TOP
        )

    def _chosen(self, meanings: Sequence[Ids], listed: Listing | None, text: str) -> Ids:
        """The meaning that what is listed fits best; the most exact one where nothing is listed or nothing fits."""
        if listed is None or len(meanings) == 1 or text not in listed.labels:
            return meanings[0]
        codes = {self.code_of[original] for original in listed.originals(text) if original in self.code_of}
        fitting = [meaning for meaning in meanings if codes <= set(meaning.tolist())]
        return min(fitting, key=len, default=meanings[0])

    def _several(self, text: str) -> list[Ids]:
        """The meanings of a text apart from a range, the most exact first."""
        meanings = [np.array([self.code_of[text]])] if text in self.code_of else []
        meanings += [self._under(level, label) for level, label in self._names.get(text, ())]
        if text.startswith("{") and text.endswith("}"):
            members = self._members(text[1:-1].split(", "))
            meanings += [] if members is None else [np.array(sorted(members))]
        if text == TOP:
            meanings.append(np.arange(self.attribute.n_values))
        return meanings

    @cached_property
    def _names(self) -> dict[str, list[tuple[int, int]]]:
        """Where each name stands in the hierarchy above the values: level and number of the label."""
        names: dict[str, list[tuple[int, int]]] = {}
        for number, level in enumerate(self.attribute.levels.each[1:-1], start=1):
            for label, text in enumerate(level.labels):
                names.setdefault(text, []).append((number, label))
        return names

    @cached_property
    def _sorted_levels(self) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...]:
        return tuple(_by_label(level) for level in self.attribute.levels.each)

    def _under(self, level: int, label: int) -> Ids:
        order, starts = self._sorted_levels[level]
        return np.sort(order[starts[label] : starts[label + 1]]).astype(np.int64)

    def _members(self, words: Sequence[str]) -> set[int] | None:
        """The codes of a set's members, which stand in order and may hold commas themselves; None where none is known.

        A member that the original does not have is nobody's.
        """
        if not self._most_commas and all(word in self.code_of for word in words):
            return {self.code_of[word] for word in words}
        # For every number of words read, the members so far; a later member has a higher code.
        reached: dict[int, list[int]] = {0: []}
        for start in range(len(words)):
            if start not in reached:
                continue
            text = ""
            for stop in range(start + 1, len(words) + 1):
                text = words[start] if stop == start + 1 else f"{text}, {words[stop - 1]}"
                code = self.code_of.get(text)
                if code is not None and (not reached[start] or code > reached[start][-1]):
                    reached.setdefault(stop, [*reached[start], code])
                if stop - start > self._most_commas:
                    break
        known = {self.code_of[word] for word in words if word in self.code_of}
        return set(reached[len(words)]) if len(words) in reached else known or None

    @cached_property
    def _most_commas(self) -> int:
        return max((text.count(", ") for text in self.attribute.texts), default=0)

    def _ranges(self, texts: Sequence[str]) -> dict[int, tuple[int, int]]:
        """The lowest and highest code of each text that reads as an interval of numbers and holds some."""
        if self.attribute.kind != "numeric":
            return {}
        found = intervals_in(pl.Series(texts, dtype=pl.String))
        numbers = self.attribute.numbers[: self.attribute.n_values - self.attribute.has_missing]
        first = self._ends(found.low, numbers, found.starts_after.to_numpy(), without=0)
        last = self._ends(found.high, numbers, found.stops_after.to_numpy(), without=numbers.size) - 1
        spans = zip(found.labels.tolist(), first.tolist(), last.tolist(), strict=True)
        return {label: (start, stop) for label, start, stop in spans if start <= stop}

    def _ends(
        self, ends: pl.Series, numbers: NDArray[np.float64], is_after: NDArray[np.bool_], without: int
    ) -> Ids:
        """Where intervals begin or stop; an end that is an original is found by its text, which is exact."""
        values = ends.cast(pl.Float64).to_numpy()
        places = np.where(
            is_after, np.searchsorted(numbers, values, side="right"), np.searchsorted(numbers, values)
        )
        known = np.array([self.code_of.get(text, -1) for text in ends], dtype=np.int64)
        places = np.where(known >= 0, known + is_after, places)
        return np.where(ends.is_null().to_numpy(), without, places).astype(np.int64)


def _by_label(level: Level) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    order = np.argsort(level.label_of, kind="stable")
    return order, np.searchsorted(level.label_of[order], np.arange(len(level.labels) + 1))


def false_lines(listed: Listing, texts: Sequence[str], meanings: Meanings, n_suppressed: int) -> int:
    """How many lines a recoding file has too many, or too few, for what its labels mean; it lists every published text.

    An original that only suppressed rows have need not be listed. A value all of whose cells are recoded may stand
    there by itself.
    """
    cover, lines = meanings.cover(texts, listed), listed.lines
    number = {text: label for label, text in enumerate(texts)}
    labels = np.array([number.get(text, -1) for text in lines["label"]], dtype=np.int64)
    codes = np.array([meanings.code_of.get(text, -1) for text in lines["original"]], dtype=np.int64)
    known = (labels >= 0) & (codes >= 0)
    true = np.zeros(labels.size, dtype=bool)
    true[known] = cover.covers(labels[known], codes[known])
    # A value by itself, and values that the hierarchy has and the data have not, are few.
    for line in np.flatnonzero(~true).tolist():
        label, original = lines.row(line)
        code = int(codes[line])
        alone = labels[line] < 0 and label == original and code >= 0 and bool(cover.depth[code])
        true[line] = alone or (labels[line] >= 0 and original in meanings.unseen(label))
    listed_sizes = np.bincount(labels[true & known], minlength=len(texts))
    counts, n_missing = meanings.attribute.counts, 0
    for label in np.flatnonzero(listed_sizes < cover.sizes).tolist():
        missing = _missing(meanings.attribute, cover, label, listed.originals(texts[label]))
        # A published label stands for somebody, so one original at least is listed.
        is_false = not listed_sizes[label] or int(counts[missing].sum()) > n_suppressed
        n_missing += len(missing) if is_false else 0
    return int((~true).sum()) + n_missing + listed.n_disordered


def _missing(attribute: Attribute, cover: Cover, label: int, originals: set[str]) -> list[int]:
    """The originals under a label that are not listed."""
    codes = cover.taking(np.array([label])).pairs()[1].tolist()
    return [code for code in codes if attribute.texts[code] not in originals]
