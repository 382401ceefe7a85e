"""The labels a sensitive value can climb to: its ancestors in the hierarchy, as one list with parents."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.entries import Ids
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.release import Recoding
from manyveils.table import Column

NOTHING = -1


@dataclass(frozen=True, repr=False)
class Ladder:
    """The values of a column, numbered by their codes, and after them the labels above them.

    `parents[label]` is the next label that reads differently, -1 above the last; `leaves` says how many values
    of the domain a label covers; `places` are the level and number of the labels above the values.
    """

    column: Column
    lines: Lines | None
    texts: tuple[str, ...]
    parents: Ids
    places: tuple[tuple[int, int], ...]

    @property
    def n_domain(self) -> int:
        """The size of the domain: the lines of a written hierarchy, else the values of the data."""
        return len(self.lines) if self.lines else self.column.n_values

    @cached_property
    def covers(self) -> tuple[tuple[str, ...], ...]:
        """The values of the domain under each label above the values.

        All that the hierarchy lists, whether it occurs or not: a list of what occurs could have one entry.
        """
        found = []
        for level, number in self.places:
            label = self.column.levels[level].labels[number]
            codes = np.flatnonzero(self.column.levels[level].label_of == number)
            occurring = [self.column.texts[code] for code in codes.tolist()]
            written = [line[0] for line in self.lines or () if label in (line[level], TOP)]
            found.append(tuple(dict.fromkeys([*occurring, *written])))
        return tuple(found)

    @cached_property
    def leaves(self) -> Ids:
        """How many values of the domain each label covers."""
        return np.array(
            [1] * self.column.n_values + [len(covered) for covered in self.covers], dtype=np.int64
        )

    def recoding(self, labels: NDArray[np.int32]) -> Recoding | None:
        """The published column; nothing where every row still shows its value."""
        n_values = self.column.n_values
        used = np.flatnonzero(np.bincount(labels, minlength=len(self.texts)))
        if not (used >= n_values).any():
            return None
        kept = self.column.counts > 0
        pairs = [(code, self.column.texts[code]) for code in np.flatnonzero(kept).tolist()]
        pairs += [
            (label, text)
            for label in used[used >= n_values].tolist()
            for text in self.covers[label - n_values]
        ]
        numbers, originals = zip(*pairs, strict=True)
        shown = tuple(text or None for text in self.texts)
        return Recoding(labels, shown, (np.array(numbers, dtype=np.int64), originals))


def ladder_of(column: Column, lines: Lines | None) -> Ladder:
    """Every label of a hierarchy once; one that reads like a value or like a label above it, or covers one value
    only, hides nothing and is no step.
    """
    texts, parents, places = list(column.texts), [NOTHING] * column.n_values, []
    own, node_of = set(column.texts), {}
    above = np.full(1, NOTHING, dtype=np.int64)
    for level in range(len(column.levels) - 1, 0, -1):
        is_top = level == len(column.levels) - 1
        up = np.full(1, NOTHING) if is_top else above[column.levels.climb(level, level + 1)]
        here = np.empty(len(column.levels[level].labels), dtype=np.int64)
        covered = _covered(column, lines, level)
        for number, text in enumerate(column.levels[level].labels):
            higher = int(up[0 if is_top else number])
            if text in own or covered[number] < 2:
                here[number] = higher
                continue
            if text not in node_of:
                node_of[text] = len(texts)
                texts.append(text)
                parents.append(higher)
                places.append((level, number))
            here[number] = node_of[text]
        above = here
    steps = np.array(parents, dtype=np.int64)
    if len(column.levels) > 1:
        steps[: column.n_values] = above[column.levels[1].label_of]
    return Ladder(column, lines, tuple(texts), steps, tuple(places))


def _covered(column: Column, lines: Lines | None, level: int) -> list[int]:
    """How many values of the domain each label of a level covers."""
    labels = column.levels[level].labels
    if lines and labels != (TOP,):
        written = Counter(line[level] for line in lines)
        return [written.get(label, 0) for label in labels]
    if lines:
        return [len(lines)]
    return np.bincount(column.levels[level].label_of, minlength=len(labels)).tolist()
