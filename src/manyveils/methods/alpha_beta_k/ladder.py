"""The labels a sensitive value can climb to: its ancestors in the hierarchy, as one list with parents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.policy.hierarchies import TOP, Lines
from manyveils.promises.entries import Ids, distinct
from manyveils.release import Recoding
from manyveils.table import Attribute
from manyveils.table.kinds import spelled_as

NOTHING = -1


@dataclass(frozen=True, repr=False)
class Ladder:
    """The values of a column, numbered by their codes, and after them the labels above them.

    `parents[label]` is the next label that reads differently, -1 above the last; `places` are the level and number
    of the labels above the values.
    """

    column: Attribute
    lines: Lines
    texts: tuple[str, ...]
    parents: Ids
    places: tuple[tuple[int, int], ...]

    def covers(self, labels: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """The values of the domain under some labels above the values.

        All that the hierarchy lists, whether it occurs or not: a list of what occurs could have one entry.
        """
        at: dict[int, list[int]] = defaultdict(list)
        for label in labels:
            at[self.places[label - self.column.n_values][0]].append(label)
        found = {}
        for level, here in at.items():
            under = self._under(level)
            found.update({label: tuple(under[self.texts[label]]) for label in here})
        return found

    def _under(self, level: int) -> Mapping[str, dict[str, None]]:
        """The values under every label of a level, each once and in order."""
        under: dict[str, dict[str, None]] = defaultdict(dict)
        step = self.column.levels[level]
        for text, number in zip(self.column.texts, step.label_of.tolist(), strict=True):
            under[step.labels[number]][text] = None
        is_top = step.labels == (TOP,)
        for line in self.lines:
            under[TOP if is_top else line[level]][line[0]] = None
        return under

    def recoding(self, labels: NDArray[np.int32]) -> Recoding | None:
        """The published column; nothing where every row still shows its value."""
        n_values = self.column.n_values
        used = np.flatnonzero(np.bincount(labels, minlength=len(self.texts)))
        raised = used[used >= n_values].tolist()
        if not raised:
            return None
        kept = np.flatnonzero(self.column.counts > 0).tolist()
        pairs = [(code, self.column.texts[code]) for code in kept]
        pairs += [(label, text) for label, texts in self.covers(raised).items() for text in texts]
        numbers, originals = zip(*pairs, strict=True)
        shown = tuple(text or None for text in self.texts)
        return Recoding(labels, shown, (np.array(numbers, dtype=np.int64), originals))

    def certain(self, labels: NDArray[np.int32], groups: Ids) -> int:
        """How many raised cells have a label under which their group has one value only.

        Of every value that is raised some row keeps it, so who knows the method undoes these labels.
        """
        values, n_labels = self.column.codes, len(self.texts)
        raised = labels >= self.column.n_values
        concerned = np.bincount(groups[raised], minlength=int(groups.max(initial=0)) + 1) > 0
        rows = concerned[groups]
        owners, above = np.divmod(distinct(groups[rows] * n_labels + values[rows]), n_labels)
        seen = [np.zeros(0, dtype=np.int64)]
        while above.size:
            above = self.parents[above]
            owners, above = owners[above != NOTHING], above[above != NOTHING]
            seen.append(owners * n_labels + above)
        keys, counts = np.unique(np.concatenate(seen), return_counts=True)
        mine = np.searchsorted(keys, groups[raised] * n_labels + labels[raised])
        return int((counts[mine] == 1).sum())


def ladder_of(column: Attribute, lines: Lines | None) -> Ladder:
    """The labels above each value; what reads like a value or like another label, or covers one value, is no step."""
    written = _as_held(column, lines)
    texts, parents, places = list(column.texts), [NOTHING] * column.n_values, []
    # An empty label would read like a missing cell.
    taken = {"", *column.texts, *(line[0] for line in written)}
    above = np.full(1, NOTHING, dtype=np.int64)
    for level in range(len(column.levels) - 1, 0, -1):
        is_top = level == len(column.levels) - 1
        up = np.full(1, NOTHING) if is_top else above[column.levels.climb(level, level + 1)]
        here = np.empty(len(column.levels[level].labels), dtype=np.int64)
        covered = _covered(column, written, level)
        for number, text in enumerate(column.levels[level].labels):
            here[number] = int(up[0 if is_top else number])
            if text not in taken and covered[number] > 1:
                parents.append(int(here[number]))
                places.append((level, number))
                here[number] = len(texts)
                texts.append(text)
                taken.add(text)
        above = here
    steps = np.array(parents, dtype=np.int64)
    if len(column.levels) > 1:
        steps[: column.n_values] = above[column.levels[1].label_of]
    return Ladder(column, written, tuple(texts), steps, tuple(places))


def _as_held(column: Attribute, lines: Lines | None) -> Lines:
    """The lines of a hierarchy, each value once and spelled as the table spells it."""
    spelled = spelled_as(lines, column.domain) if lines and column.kind == "numeric" else lines or ()
    return tuple({line[0]: line for line in spelled}.values())


def _covered(column: Attribute, lines: Lines, level: int) -> list[int]:
    """How many values of the domain each label of a level covers."""
    labels = column.levels[level].labels
    if labels == (TOP,):
        return [len({*column.texts, *(line[0] for line in lines)})]
    if lines:
        written = Counter(line[level] for line in lines)
        return [written[label] for label in labels]
    return np.bincount(column.levels[level].label_of, minlength=len(labels)).tolist()
