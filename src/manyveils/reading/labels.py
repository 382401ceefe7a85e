"""What published texts mean: an exact value, a label of the hierarchy, a range, a set, or everything.

Whoever has the original and the policy derives it from the text. What a recoding file lists is compared with that
and decides only between several meanings that a text really has.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP
from manyveils.reading.cover import Cover, Ids, cover_of_pairs, joined_covers
from manyveils.table import Attribute
from manyveils.table.levels import Level

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
RANGE = rf"^\[{NUMBER}, {NUMBER}\]$"
NOTHING: Ids = np.zeros(0, dtype=np.int64)

Listed = Mapping[str, frozenset[int]]


def texts_of(published: pl.Series) -> pl.Series:
    """Published values as texts; a missing one is empty."""
    return published.cast(pl.String).fill_null("")


def range_ends(texts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The two ends of every text that reads as a range `[20, 52]`, as texts; null for any other."""
    return texts.str.extract(RANGE, 1), texts.str.extract(RANGE, 2)


@dataclass(frozen=True, repr=False)
class Meanings:
    """Everything that a text can mean for one attribute of the original."""

    attribute: Attribute

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each original."""
        return {text: code for code, text in enumerate(self.attribute.texts)}

    def cover(self, texts: Sequence[str], listed: Listed | None = None) -> Cover:
        """The originals that each text stands for; a text without a meaning stands for none.

        `listed` has what a recoding file says of some labels.
        """
        ranges = self._ranges(texts)
        owners, codes = [NOTHING], [NOTHING]
        low, high = np.ones(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
        for label, text in enumerate(texts):
            meanings = self._several(text)
            if label in ranges:
                meanings.append(np.arange(ranges[label][0], ranges[label][1] + 1) if meanings else NOTHING)
            if label in ranges and len(meanings) == 1:
                # A range is one run, however many originals it covers.
                low[label], high[label] = ranges[label]
            elif meanings:
                codes.append(_chosen(meanings, listed.get(text) if listed is not None else None))
                owners.append(np.full(codes[-1].size, label))
        n_originals = self.attribute.n_values
        exact = cover_of_pairs(np.concatenate(owners), np.concatenate(codes), len(texts), n_originals)
        return joined_covers(exact, low, high)

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
        """The codes of a set's members, which stand in order and may hold commas themselves; None if it is no such set."""
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
        return set(reached[len(words)]) if len(words) in reached else None

    @cached_property
    def _most_commas(self) -> int:
        return max((text.count(", ") for text in self.attribute.texts), default=0)

    def _ranges(self, texts: Sequence[str]) -> dict[int, tuple[int, int]]:
        """The lowest and highest code of each text that reads as a range of numbers and holds some."""
        if self.attribute.kind != "numeric":
            return {}
        low, high = range_ends(pl.Series(texts, dtype=pl.String))
        labels = np.flatnonzero(low.is_not_null().to_numpy())
        numbers = self.attribute.numbers[: self.attribute.n_values - self.attribute.has_missing]
        first = self._ends(low.gather(labels), numbers, "left")
        last = self._ends(high.gather(labels), numbers, "right") - 1
        spans = zip(labels.tolist(), first.tolist(), last.tolist(), strict=True)
        return {label: (start, stop) for label, start, stop in spans if start <= stop}

    def _ends(self, ends: pl.Series, numbers: NDArray[np.float64], side: str) -> Ids:
        """Where ranges begin or stop; an end that is an original is found by its text, which is exact."""
        places = np.searchsorted(numbers, ends.cast(pl.Float64).to_numpy(), side=side)  # type: ignore[call-overload]
        known = np.array([self.code_of.get(text, -1) for text in ends], dtype=np.int64)
        return np.where(known >= 0, known + (side == "right"), places).astype(np.int64)


def _by_label(level: Level) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    order = np.argsort(level.label_of, kind="stable")
    return order, np.searchsorted(level.label_of[order], np.arange(len(level.labels) + 1))


def _chosen(meanings: Sequence[Ids], listed: frozenset[int] | None) -> Ids:
    """The meaning that what is listed fits best; the most exact one where nothing is listed or nothing fits."""
    if listed is None or len(meanings) == 1:
        return meanings[0]
    fitting = [meaning for meaning in meanings if listed <= set(meaning.tolist())]
    return min(fitting, key=len, default=meanings[0])


def listed_codes(recoding: pl.DataFrame, meanings: Meanings) -> dict[str, frozenset[int]]:
    """What a recoding file lists under each label; originals that there are none of have the code -1."""
    lines: dict[str, set[int]] = {}
    for label, original in recoding.select(pl.all().fill_null("")).iter_rows():
        lines.setdefault(label, set()).add(meanings.code_of.get(original, -1))
    return {label: frozenset(codes) for label, codes in lines.items()}


def false_lines(listed: Listed, texts: Sequence[str], cover: Cover, counts: Ids, n_suppressed: int) -> int:
    """How many lines a recoding file has too many or too few, compared with what its labels mean.

    An original that only suppressed rows have need not be listed.
    """
    number = {text: label for label, text in enumerate(texts)}
    wrong = sum(len(codes) for label, codes in listed.items() if label not in number)
    known = [(number[label], codes) for label, codes in listed.items() if label in number]
    for label, codes in known:
        covered = _covered(cover, label)
        wrong += len(codes - covered)
        missing = sorted(covered - codes)
        wrong += len(missing) if int(counts[missing].sum()) > n_suppressed else 0
    return wrong


def _covered(cover: Cover, label: int) -> set[int]:
    runs: Iterable[int] = range(int(cover.starts[label]), int(cover.starts[label + 1]))
    return set(_codes(cover, runs))


def _codes(cover: Cover, runs: Iterable[int]) -> Iterator[int]:
    for run in runs:
        yield from range(int(cover.low[run]), int(cover.high[run]) + 1)
