"""CODIP*: merge the attributes that share most, as long as the plan stays within its limits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from manyveils.methods.codip.association import HAIR, Association, Members, Plan
from manyveils.promises.entries import Ids

Fits = Callable[[Members], bool]
EXPOSES, DOES_NOT_FIT = "exposes too much", "cannot be anonymized"


@dataclass(frozen=True)
class Merge:
    """One merge that was tried: the attributes it puts together, the plan it gives, and why it was refused, if it was."""

    members: Members
    plan: Plan
    refused: str = ""


def merged_plan(
    association: Association, parts: Plan, fits: Fits, beta: Fraction, *, patient: bool
) -> tuple[Plan, tuple[Merge, ...]]:
    """Merge from `parts` on; greedily up to the first refusal, or patiently until every merge is refused."""
    tables = _Tables(association, tuple(sorted(parts)))
    tried: list[Merge] = []
    while len(tables.parts) > 1:
        for one, other in tables.pairs():
            members, after = tables.united(one, other)
            merge = Merge(members, after, _refusal(association, members, after, fits, beta))
            tried.append(merge)
            if not merge.refused or not patient:
                break
        if tried[-1].refused:
            break
        tables = tables.after(one, other, members)
    return tables.parts, tuple(tried)


def _refusal(association: Association, members: Members, after: Plan, fits: Fits, beta: Fraction) -> str:
    if association.exposure(after) > beta + HAIR:
        return EXPOSES
    return "" if fits(members) else DOES_NOT_FIT


class _Tables:
    """The tables of a plan, and what they share with each other: a merge changes one row of it."""

    def __init__(self, association: Association, parts: Plan, between: Ids | None = None) -> None:
        self.parts = parts
        self._association = association
        if between is None:
            member_of = np.zeros((len(parts), len(association.names)), dtype=np.int64)
            for place, part in enumerate(parts):
                member_of[place, list(part)] = 1
            between = member_of @ association.shared @ member_of.T
        # On the diagonal every pair inside a table is counted twice.
        self._between = between

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of tables, those first whose union shares most on average; of equals the first."""
        one, other = np.triu_indices(len(self.parts), k=1)
        inside = np.diag(self._between) // 2
        sizes = np.array([len(part) for part in self.parts])
        members = sizes[one] + sizes[other]
        # Whole numbers below 2^53, so equal means are equal numbers.
        means = (inside[one] + inside[other] + self._between[one, other]) / (members * (members - 1) // 2)
        for place in np.argsort(-means, kind="stable"):
            yield int(one[place]), int(other[place])

    def united(self, one: int, other: int) -> tuple[Members, Plan]:
        """The table that two make together, and the plan with it."""
        members = tuple(sorted((*self.parts[one], *self.parts[other])))
        rest = (part for place, part in enumerate(self.parts) if place not in (one, other))
        return members, tuple(sorted((*rest, members)))

    def after(self, one: int, other: int, members: Members) -> "_Tables":
        """The tables with two of them merged."""
        between = self._between.copy()
        between[one] += between[other]
        between[:, one] += between[:, other]
        kept = [place for place in range(len(self.parts)) if place != other]
        parts = [members if place == one else self.parts[place] for place in kept]
        order = sorted(range(len(parts)), key=parts.__getitem__)
        chosen = [kept[place] for place in order]
        return _Tables(self._association, tuple(parts[p] for p in order), between[np.ix_(chosen, chosen)])
