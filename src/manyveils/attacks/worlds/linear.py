"""What holds in every world of a block, and what in none, as far as linear programming tells (HiGHS).

Counts may be fractions here, so there are more worlds than are possible: what is found certain is certain, and what is
found impossible is impossible, but some of both may be missed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack, identity

from manyveils.attacks.worlds.blocks import Block
from manyveils.attacks.worlds.covers import Ids
from manyveils.attacks.worlds.effort import CALL, PIVOT, Effort

ROUNDING = 1e-6


class Relaxed:
    """The fractional worlds of a block, open to questions; what there is no effort left for counts as undecided."""

    def __init__(self, block: Block, effort: Effort) -> None:
        self.block = block
        self.effort = effort

    def ever(self, groups: Sequence[Ids]) -> NDArray[np.bool_]:
        """Which groups of kinds may have someone in some world; false is proven."""
        found = np.zeros(len(groups), dtype=bool)
        while not found.all():
            left = np.flatnonzero(~found).tolist()
            world = self._widest([groups[place] for place in left])
            if world is None:
                found[left] = True
                break
            present = np.array([world[groups[place]].sum() >= 1 - ROUNDING for place in left])
            if not present.any():
                found[left] = self._each([groups[place] for place in left])
                break
            found[np.array(left)[present]] = True
        return found

    def always(self, groups: Sequence[Ids]) -> NDArray[np.bool_]:
        """Which groups of kinds have someone in every world; true is proven."""
        held = np.ones(len(groups), dtype=bool)
        for place, group in enumerate(groups):
            if held[place]:
                world = self._best(self._sum([group]))
                if world is None:
                    held[place] = False
                    continue
                held &= np.array([world[each].sum() > ROUNDING for each in groups])
        return held

    def between(self, group: Ids) -> tuple[int, int]:
        """Bounds on the people that a group of kinds has in any world."""
        low, high = self._best(self._sum([group])), self._best(-self._sum([group]))
        least = int(self.block.low[group].sum()) if low is None else math.ceil(low[group].sum() - ROUNDING)
        most = int(self.block.high[group].sum()) if high is None else math.floor(high[group].sum() + ROUNDING)
        return least, most

    def _each(self, groups: list[Ids]) -> NDArray[np.bool_]:
        """Which groups reach one person, asked one by one."""
        found = np.zeros(len(groups), dtype=bool)
        for place, group in enumerate(groups):
            if not found[place]:
                world = self._best(-self._sum([group]))
                if world is None:
                    found[place] = True
                    continue
                found |= np.array([world[each].sum() >= 1 - ROUNDING for each in groups])
        return found

    def _sum(self, groups: list[Ids]) -> NDArray[np.float64]:
        weights = np.zeros(self.block.size)
        for group in groups:
            weights[group] += 1
        return weights

    def _widest(self, groups: list[Ids]) -> NDArray[np.float64] | None:
        """A world in which as many groups as possible have someone, counting each at most once."""
        sizes = [group.size for group in groups]
        owners = np.repeat(np.arange(len(groups)), sizes)
        inside = coo_array(
            (np.ones(owners.size), (owners, np.concatenate(groups))), shape=(len(groups), self.block.size)
        )
        flags = identity(len(groups))
        nothing = coo_array((self.block.totals.size, len(groups)))
        weights = np.concatenate([np.zeros(self.block.size), -np.ones(len(groups))])
        bounds = [*self._bounds(), *([(0.0, 1.0)] * len(groups))]
        rows = hstack([self.block.matrix, nothing]).tocsr()
        found = self._solved(weights, rows, bounds, hstack([-inside, flags]).tocsr())
        return None if found is None else found[: self.block.size]

    def _best(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """A world in which a sum of people is least."""
        return self._solved(weights, self.block.matrix.tocsr(), self._bounds(), None)

    def _bounds(self) -> list[tuple[float, float]]:
        return [(float(low), float(high)) for low, high in zip(self.block.low, self.block.high, strict=True)]

    def _solved(
        self, weights: NDArray[np.float64], rows: object, bounds: list[tuple[float, float]], below: object
    ) -> NDArray[np.float64] | None:
        step = PIVOT * (len(bounds) + self.block.totals.size)
        most = int(self.effort.left / step)
        if most <= 0:
            return None
        found = linprog(
            weights,
            A_eq=rows,
            b_eq=self.block.totals,
            A_ub=below,
            b_ub=None if below is None else np.zeros(below.shape[0]),  # type: ignore[attr-defined]
            bounds=bounds,
            method="highs-ds",
            options={"maxiter": most},
        )
        self.effort.spend(CALL + step * max(int(found.nit), 1))
        return np.asarray(found.x) if found.status == 0 else None
