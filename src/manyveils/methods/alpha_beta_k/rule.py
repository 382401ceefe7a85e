"""The hierarchy rule: half of the values that ruling out others would make certain climb to a label above them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.eliminations import mend
from manyveils.policy import Promise
from manyveils.policy.guarantees import AlphaDifference, DistinctDiversity, Elimination, LeastSize
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.promises.entries import Ids, distinct
from manyveils.promises.work import Work
from manyveils.release import Recoding
from manyveils.table import Attribute
from manyveils.table.kinds import spelled_as

Climb = Literal["parent", "cover"]
BY_VALUES_IN_GROUP = (AlphaDifference, DistinctDiversity, Elimination, LeastSize)
NOTHING = -1


def mean_loss(n_leaves: Ids, n_rows: Ids, n_domain: int) -> float:
    """The mean over cells of (values under the label - 1) / domain, from the values and the rows of every label.

    Claim: it is what `utility.distortion` measures of the release, though no code is shared.
    Tested by: tests/claims/test_alpha_beta_k_losses.py
    """
    added = np.clip(n_leaves, 1, n_domain) - 1
    return float((n_rows * added).sum()) / (n_domain * max(int(n_rows.sum()), 1))


@dataclass(frozen=True, repr=False)
class Ladder:
    """The values of an attribute, numbered by their codes, and after them the labels above them.

    `parents[label]` is the next label that reads differently, -1 above the last; `n_leaves[label]` are the values of
    the domain under it, and `levels` the levels of the labels above the values.
    """

    attribute: Attribute
    lines: Lines
    texts: tuple[str, ...]
    parents: Ids
    n_leaves: Ids
    levels: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.attribute.name

    def covers(self, labels: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """The values of the domain under some labels above the values.

        All that the hierarchy lists, whether it occurs or not: a list of what occurs could have one entry.
        """
        level_of = {label: self.levels[label - self.attribute.n_values] for label in labels}
        under = {level: self._under(level) for level in set(level_of.values())}
        return {label: tuple(under[level][self.texts[label]]) for label, level in level_of.items()}

    def _under(self, level: int) -> Mapping[str, dict[str, None]]:
        """The values under every label of a level, each once and in order."""
        under: dict[str, dict[str, None]] = defaultdict(dict)
        step = self.attribute.levels[level]
        for text, number in zip(self.attribute.texts, step.label_of.tolist(), strict=True):
            under[step.labels[number]][text] = None
        is_top = step.labels == (TOP,)
        for line in self.lines:
            under[TOP if is_top else line[level]][line[0]] = None
        return under

    def recoding(self, labels: NDArray[np.int32]) -> Recoding | None:
        """The published attribute; nothing where every row still shows its value."""
        used = np.flatnonzero(np.bincount(labels, minlength=len(self.texts)))
        raised = used[used >= self.attribute.n_values].tolist()
        if not raised:
            return None
        occurring = np.flatnonzero(self.attribute.counts > 0).tolist()
        pairs = [(code, self.attribute.texts[code]) for code in occurring]
        pairs += [(label, text) for label, texts in self.covers(raised).items() for text in texts]
        numbers, originals = zip(*pairs, strict=True)
        shown = tuple(text or None for text in self.texts)
        return Recoding(labels, shown, (np.array(numbers, dtype=np.int64), originals))

    def loss(self, labels: NDArray[np.int32]) -> float:
        """The mean loss of the published cells."""
        n_rows = np.bincount(labels, minlength=len(self.texts))
        return mean_loss(self.n_leaves, n_rows, len(self.lines) or self.attribute.n_values)

    def certain(self, labels: NDArray[np.int32], groups: Ids) -> int:
        """How many raised cells have a label under which their group has one value only.

        Of every value that is raised some row keeps it, so who knows the method undoes these labels.
        """
        n_labels, is_raised = len(self.texts), labels >= self.attribute.n_values
        concerned = np.bincount(groups[is_raised], minlength=int(groups.max(initial=0)) + 1) > 0
        rows = concerned[groups]
        keys = distinct(groups[rows] * n_labels + self.attribute.codes[rows])
        owners, above = np.divmod(keys, n_labels)
        climbed = [np.zeros(0, dtype=np.int64)]
        while above.size:
            above = self.parents[above]
            owners, above = owners[above != NOTHING], above[above != NOTHING]
            climbed.append(owners * n_labels + above)
        keys, n_values = np.unique(np.concatenate(climbed), return_counts=True)
        cells = np.searchsorted(keys, groups[is_raised] * n_labels + labels[is_raised])
        return int((n_values[cells] == 1).sum())


def ladder_of(attribute: Attribute, lines: Lines | None) -> Ladder:
    """The labels above each value; what reads like a value or like another label, or covers one value, is no step."""
    written = _as_held(attribute, lines)
    n_values, levels = attribute.n_values, attribute.levels
    # An empty label would read like a missing cell.
    taken = {"", *attribute.texts, *(line[0] for line in written)}
    texts, parents, n_leaves, steps = list(attribute.texts), [NOTHING] * n_values, [1] * n_values, []
    above = np.full(1, NOTHING, dtype=np.int64)
    for level in range(len(levels) - 1, 0, -1):
        is_top = level == len(levels) - 1
        # From here on, the step of each label of the level: its own, or else that of the label above it.
        above = np.repeat(above, levels.sizes[level]) if is_top else above[levels.climb(level, level + 1)]
        n_covered = _covered(attribute, written, level)
        for number, text in enumerate(levels[level].labels):
            if text not in taken and n_covered[number] > 1:
                parents.append(int(above[number]))
                n_leaves.append(n_covered[number])
                steps.append(level)
                above[number] = len(texts)
                texts.append(text)
                taken.add(text)
    if len(levels) > 1:
        parents[:n_values] = above[levels[1].label_of].tolist()
    arrays = np.array(parents, dtype=np.int64), np.array(n_leaves, dtype=np.int64)
    return Ladder(attribute, written, tuple(texts), *arrays, tuple(steps))


def _as_held(attribute: Attribute, lines: Lines | None) -> Lines:
    """The lines of a hierarchy, each value once and spelled as the table spells it."""
    spelled = spelled_as(lines, attribute.domain) if lines and attribute.kind == "numeric" else lines or ()
    return tuple({line[0]: line for line in spelled}.values())


def _covered(attribute: Attribute, lines: Lines, level: int) -> list[int]:
    """How many values of the domain each label of a level covers."""
    step = attribute.levels[level]
    if step.labels == (TOP,):
        return [len({*attribute.texts, *(line[0] for line in lines)})]
    if lines:
        written = Counter(line[level] for line in lines)
        return [written[label] for label in step.labels]
    return np.bincount(step.label_of, minlength=len(step.labels)).tolist()


@dataclass(frozen=True, repr=False)
class Rule:
    """The ladders of the sensitive attributes, and the promises about eliminations as arrays for the kernel."""

    ladders: tuple[Ladder, ...]
    promises: tuple[Any, ...]

    def mend(
        self, labels: NDArray[np.int32], originals: NDArray[np.int32], rows: Ids, starts: Ids
    ) -> NDArray[np.bool_]:
        """Raise labels in place, group by group, until nothing leaks; tells in which groups that is possible."""
        return np.asarray(mend(labels, originals, rows, starts, *self.promises))

    def recodings(self, labels: NDArray[np.int32]) -> dict[str, Recoding]:
        """How the sensitive attributes are published; those that show their values are not recoded."""
        ladders = zip(self.ladders, labels, strict=True)
        recodings = {ladder.name: ladder.recoding(published) for ladder, published in ladders}
        return {name: recoding for name, recoding in recodings.items() if recoding is not None}


def rule_of(work: Work, *, raising: bool, climb: Climb = "parent") -> Rule:
    """Lay out what may leak and what may climb; without `raising`, leaks are seen and nothing climbs.

    With `climb = "cover"`, labels climb on until the group has two values under them, if it can be.
    """
    ladders = tuple(ladder_of(work.table[name], work.policy.lines(name)) for name in work.sensitive)
    promises = [promise for promise in work.promises if isinstance(promise.guarantee, Elimination)]
    number_of = {ladder.name: number for number, ladder in enumerate(ladders)}
    width = max((len(ladder.texts) for ladder in ladders), default=0)
    # Of every promise: the attribute it protects, those it rules values out of and how many they are, how many values
    # may be ruled out, which labels are harmless, and what each label climbs to.
    subjects, n_others, most = (np.zeros(len(promises), dtype=np.int64) for _ in range(3))
    others = np.zeros((len(promises), max(len(ladders), 1)), dtype=np.int64)
    harmless = np.zeros((len(promises), width), dtype=bool)
    parents = np.full((len(promises), width), NOTHING, dtype=np.int64)
    for row, promise in enumerate(promises):
        assert isinstance(promise.guarantee, Elimination)
        subject = number_of[promise.protects[0]]
        ladder = ladders[subject]
        ruled_out = [number_of[name] for name in work.table.expand(promise.guarantee.ruled_out)]
        subjects[row], most[row] = subject, promise.guarantee.eliminations
        others[row, : len(ruled_out)], n_others[row] = ruled_out, len(ruled_out)
        values = ladder.attribute.texts
        harmless[row, : len(values)] = [text in promise.insensitive for text in values]
        if raising and may_climb(ladder.name, work.promises):
            parents[row, : ladder.parents.size] = ladder.parents
    absences = np.array([ladder.attribute.absence for ladder in ladders], dtype=np.int64)
    by_difference = np.array(
        [isinstance(promise.guarantee, AlphaDifference) for promise in promises], dtype=bool
    )
    asked = (subjects, others, n_others, absences, most, harmless, parents, climb == "cover", by_difference)
    return Rule(ladders, asked)


def may_climb(name: str, promises: tuple[Promise, ...]) -> bool:
    """Whether labels instead of values can break no other promise.

    Climbing never takes a value out of a group, nor a label of a level, so diversity stays; shares, distances and
    numbers would change, and a label could stand for a value that asks for a larger l.
    """
    return not any(
        promise.conditional
        or (
            name in promise.protects
            and (
                len(promise.protects) > 1
                or not isinstance(promise.guarantee, BY_VALUES_IN_GROUP)
                or bool(promise.guarantee.singled_out)
            )
        )
        for promise in promises
    )
