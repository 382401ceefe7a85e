"""The hierarchy rule: half of the values that ruling out others would make certain climb to their parent, or above."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.eliminations import mend
from manyveils.methods.alpha_beta_k.ladder import NOTHING, Ladder, ladder_of
from manyveils.policy.guarantees import DistinctDiversity, Elimination, KAnonymity, Promise
from manyveils.promises.entries import Ids
from manyveils.promises.work import Work
from manyveils.release import Recoding

Climb = Literal["parent", "cover"]
SPOKEN_FOR = (DistinctDiversity, Elimination, KAnonymity)


@dataclass(frozen=True, repr=False)
class Rule:
    """The promises about eliminations as arrays for the kernel, beside the ladders of the sensitive columns.

    Row p of each array belongs to promise p: the column it protects, the columns it rules values out of and how
    many there are, how many values may be ruled out, which labels are harmless, and what each label climbs to.
    With `covering`, labels climb on until the group has two values under them, if it can be.
    """

    ladders: tuple[Ladder, ...]
    subjects: Ids
    others: Ids
    n_others: Ids
    silent: Ids
    most: Ids
    harmless: NDArray[np.bool_]
    parents: Ids
    covering: bool

    def mend(
        self, labels: NDArray[np.int32], originals: NDArray[np.int32], rows: Ids, starts: Ids
    ) -> NDArray[np.bool_]:
        """Raise labels in place, group by group, until nothing leaks; tells in which groups that is possible."""
        mended: NDArray[np.bool_] = mend(
            labels,
            originals,
            rows,
            starts,
            self.subjects,
            self.others,
            self.n_others,
            self.silent,
            self.most,
            self.harmless,
            self.parents,
            self.covering,
        )
        return mended

    def recodings(self, labels: NDArray[np.int32]) -> dict[str, Recoding]:
        """How the sensitive columns are published; columns that show their values are not recoded."""
        made = {
            ladder.column.name: ladder.recoding(labels[place]) for place, ladder in enumerate(self.ladders)
        }
        return {name: recoding for name, recoding in made.items() if recoding is not None}


def rule_of(work: Work, *, raising: bool, climb: Climb = "parent") -> Rule:
    """Lay out what may leak and what may climb; without `raising`, leaks are seen and nothing climbs."""
    ladders = tuple(ladder_of(work.table[name], work.policy.lines(name)) for name in work.sensitive)
    promises = [promise for promise in work.promises if isinstance(promise.guarantee, Elimination)]
    place = {ladder.column.name: number for number, ladder in enumerate(ladders)}
    width = max((len(ladder.texts) for ladder in ladders), default=0)
    others = np.zeros((len(promises), max(len(ladders), 1)), dtype=np.int64)
    harmless = np.zeros((len(promises), width), dtype=bool)
    parents = np.full((len(promises), width), NOTHING, dtype=np.int64)
    subjects, n_others, most = (np.zeros(len(promises), dtype=np.int64) for _ in range(3))
    for number, promise in enumerate(promises):
        assert isinstance(promise.guarantee, Elimination)
        ladder = ladders[place[promise.protects[0]]]
        ruled_out = [place[name] for name in work.table.expand(promise.guarantee.ruled_out)]
        subjects[number], most[number] = place[promise.protects[0]], promise.guarantee.eliminations
        others[number, : len(ruled_out)], n_others[number] = ruled_out, len(ruled_out)
        values = np.array([text in promise.insensitive for text in ladder.column.texts], dtype=bool)
        harmless[number, : values.size] = values
        if raising and may_climb(promise.protects[0], work.promises):
            parents[number, : ladder.parents.size] = ladder.parents
    silent = np.array([ladder.column.absence for ladder in ladders], dtype=np.int64)
    return Rule(ladders, subjects, others, n_others, silent, most, harmless, parents, climb == "cover")


def may_climb(name: str, promises: tuple[Promise, ...]) -> bool:
    """Whether labels instead of values can break no other promise.

    Climbing never takes a value out of a group, so diversity stays; shares, distances and numbers would change.
    """
    return not any(
        promise.conditional
        or (
            name in promise.protects
            and (len(promise.protects) > 1 or not isinstance(promise.guarantee, SPOKEN_FOR))
        )
        for promise in promises
    )
