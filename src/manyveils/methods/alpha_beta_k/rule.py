"""The hierarchy rule: half of the values that ruling out others would make certain climb to their parent, or above."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.eliminations import mend
from manyveils.methods.alpha_beta_k.ladder import NOTHING, Ladder, ladder_of
from manyveils.policy import Promise
from manyveils.policy.guarantees import DistinctDiversity, Elimination, KAnonymity
from manyveils.promises.entries import Ids
from manyveils.promises.work import Work
from manyveils.release import Recoding

Climb = Literal["parent", "cover"]
BY_VALUES_IN_GROUP = (DistinctDiversity, Elimination, KAnonymity)


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
    return Rule(ladders, (subjects, others, n_others, absences, most, harmless, parents, climb == "cover"))


def may_climb(name: str, promises: tuple[Promise, ...]) -> bool:
    """Whether labels instead of values can break no other promise.

    Climbing never takes a value out of a group, so diversity stays; shares, distances and numbers would change.
    """
    return not any(
        promise.conditional
        or (
            name in promise.protects
            and (len(promise.protects) > 1 or not isinstance(promise.guarantee, BY_VALUES_IN_GROUP))
        )
        for promise in promises
    )
