"""The Pareto frontier: every plan that no other betters in association loss and information exposure at once."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels import frontier as kernel
from manyveils.methods.codip.association import TOLERANCE, Association, Fits, Members, Plan, sums_between
from manyveils.promises.entries import Ids

MOST_PARTS = 16


@dataclass(frozen=True)
class Frontier:
    """The plans, from the least exposure to the least loss, as the kernel lists them."""

    parts: Plan
    n_attributes: int
    totals: tuple[int, int]
    starts: Ids
    costs: Ids
    gains: Ids
    firsts: Ids
    rests: Ids

    @property
    def points(self) -> list[tuple[float, float, int]]:
        """Association loss, information exposure and number of tables of every plan."""
        return [
            (float(self.loss(index)), float(self.exposure(index)), len(self.plan(index)))
            for index in self.indices
        ]

    @property
    def indices(self) -> range:
        """The indices of the plans of all attributes."""
        return range(int(self.starts[-2]), int(self.starts[-1]))

    def loss(self, index: int) -> Fraction:
        """The association loss ratio of a plan."""
        return 1 - Fraction(int(self.gains[index]), self.totals[0]) if self.totals[0] else Fraction(0)

    def exposure(self, index: int) -> Fraction:
        """The information exposure ratio of a plan."""
        scale = self.totals[1] * self.n_attributes
        return Fraction(int(self.costs[index]), scale) if scale else Fraction(0)

    def plan(self, index: int) -> Plan:
        """The plan itself."""
        plan: list[Members] = []
        while index:
            plan.append(_united(self.parts, int(self.firsts[index])))
            index = int(self.rests[index])
        return tuple(sorted(plan))

    def best_within(self, beta: Fraction) -> int | None:
        """The plan that loses least among those that expose no more than beta."""
        return max(
            (index for index in self.indices if self.exposure(index) <= beta + TOLERANCE), default=None
        )

    def least_exposed(self, alpha: Fraction) -> int | None:
        """The plan that exposes least among those that lose no more than alpha."""
        return min((index for index in self.indices if self.loss(index) <= alpha + TOLERANCE), default=None)


def _united(parts: Plan, mask: int) -> Members:
    """The members of the parts whose bits are set."""
    return tuple(sorted(member for number, part in enumerate(parts) if mask >> number & 1 for member in part))


def frontier_of(
    association: Association,
    parts: Plan,
    fits: Fits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Frontier:
    """Work out the frontier of the plans whose tables put some of `parts` together; without `fits`, of all.

    Claim: for every plan of tables that fit, some plan listed loses no more and exposes no more.
    Why: both ratios are sums over tables, in whole numbers; see the kernel.
    Tested by: tests/claims/test_codip.py
    """
    gains, costs = _weights(association, parts)
    allowed = np.ones(gains.size, dtype=bool) if fits is None else _fitting(parts, fits, progress)
    plans = kernel.frontier(gains, costs, allowed)
    return Frontier(parts, len(association.names), association.totals, *plans)


def _weights(association: Association, parts: Plan) -> tuple[Ids, Ids]:
    """What each set of parts shares as one table, and what it exposes times its attributes."""
    shared = _sums(sums_between(association.shared, parts))
    exposed = _sums(sums_between(association.exposed, parts))
    return shared, exposed * _sums(np.diag([2 * len(part) for part in parts]))


def _sums(between: Ids) -> Ids:
    """For every set of parts, the sum over pairs inside it; `between` counts those inside one part twice."""
    sums = np.zeros(1 << len(between), dtype=np.int64)
    for number, row in enumerate(between):
        low = 1 << number
        holds = np.arange(low)[:, np.newaxis] >> np.arange(number) & 1
        sums[low : 2 * low] = sums[:low] + holds @ row[:number] + row[number] // 2
    return sums


def _fitting(parts: Plan, fits: Fits, progress: Callable[[float], None]) -> NDArray[np.bool_]:
    """Which sets of parts can be anonymized as one table; a set is asked for only if all smaller ones can."""
    n_masks = 1 << len(parts)
    allowed = np.zeros(n_masks, dtype=bool)
    allowed[0] = True
    for mask in range(1, n_masks):
        smaller = (mask ^ 1 << number for number in range(len(parts)) if mask >> number & 1)
        if all(allowed[without] for without in smaller):
            allowed[mask] = fits(_united(parts, mask))
        if mask % 256 == 0:
            progress(mask / n_masks)
    return allowed
