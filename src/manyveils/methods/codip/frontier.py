"""Every plan that no other betters, in association loss and information exposure at once."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels import frontier as kernel
from manyveils.methods.codip.association import HAIR, Association, Members, Plan
from manyveils.methods.codip.merging import Fits
from manyveils.promises.entries import Ids

MOST_PARTS = 16


@dataclass(frozen=True)
class Frontier:
    """The plans, from the least exposure to the least loss, as far as `best_within` and `points` need them."""

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
            (float(self.loss(place)), float(self.exposure(place)), len(self.plan(place)))
            for place in self.places
        ]

    @property
    def places(self) -> range:
        """Where the plans of all attributes stand."""
        return range(int(self.starts[-2]), int(self.starts[-1]))

    def loss(self, place: int) -> Fraction:
        """The association loss ratio of a plan."""
        return 1 - Fraction(int(self.gains[place]), self.totals[0]) if self.totals[0] else Fraction(0)

    def exposure(self, place: int) -> Fraction:
        """The information exposure ratio of a plan."""
        scale = self.totals[1] * self.n_attributes
        return Fraction(int(self.costs[place]), scale) if scale else Fraction(0)

    def plan(self, place: int) -> Plan:
        """The plan itself."""
        found: list[Members] = []
        while place:
            first = int(self.firsts[place])
            members = (name for number, part in enumerate(self.parts) if first >> number & 1 for name in part)
            found.append(tuple(sorted(members)))
            place = int(self.rests[place])
        return tuple(sorted(found))

    def best_within(self, beta: Fraction) -> int | None:
        """The plan that loses least among those that expose no more than beta."""
        within = [place for place in self.places if self.exposure(place) <= beta + HAIR]
        return within[-1] if within else None

    def least_exposed(self, alpha: Fraction) -> int | None:
        """The plan that exposes least among those that lose no more than alpha."""
        within = [place for place in self.places if self.loss(place) <= alpha + HAIR]
        return within[0] if within else None


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
    found = kernel.frontier(gains, costs, allowed)
    return Frontier(parts, len(association.names), association.totals, *found)


def _weights(association: Association, parts: Plan) -> tuple[Ids, Ids]:
    """What each set of parts shares as one table, and what it exposes times its attributes."""
    shared, exposed, sizes = (np.zeros(1 << len(parts), dtype=np.int64) for _ in range(3))
    for number, part in enumerate(parts):
        low = 1 << number
        masks = np.arange(low)
        share, expose = association.within(part)
        more_shared, more_exposed = (np.full(low, each, dtype=np.int64) for each in (share, expose))
        for other, members in enumerate(parts[:number]):
            block = np.ix_(part, members)
            holds = masks >> other & 1
            more_shared += holds * int(association.shared[block].sum())
            more_exposed += holds * int(association.exposed[block].sum())
        shared[low : 2 * low] = shared[:low] + more_shared
        exposed[low : 2 * low] = exposed[:low] + more_exposed
        sizes[low : 2 * low] = sizes[:low] + len(part)
    return shared, exposed * sizes


def _fitting(parts: Plan, fits: Fits, progress: Callable[[float], None]) -> NDArray[np.bool_]:
    """Which sets of parts can be anonymized as one table; a set is asked for only if all smaller ones can."""
    n_masks = 1 << len(parts)
    allowed = np.zeros(n_masks, dtype=bool)
    allowed[0] = True
    for mask in range(1, n_masks):
        chosen = [number for number in range(len(parts)) if mask >> number & 1]
        if all(allowed[mask ^ 1 << number] for number in chosen):
            allowed[mask] = fits(tuple(sorted(member for number in chosen for member in parts[number])))
        if mask % 256 == 0:
            progress(mask / n_masks)
    return allowed
