"""What holds in every world of a block, and what in none, as far as linear programming tells (HiGHS).

Counts may be fractions here, so there are more worlds than are possible: what is found certain is certain, and what is
found impossible is impossible, but some of both may be missed.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, identity

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.worlds.blocks import Block
from manyveils.attacks.worlds.effort import CALL, PIVOT, Effort

ROUNDING = 1e-6


@dataclass(frozen=True, repr=False)
class Relaxed:
    """The fractional worlds of a block, open to questions; what there is no effort left for counts as undecided."""

    block: Block
    effort: Effort

    def possible(self) -> Bools:
        """Which kinds somebody may be of in some world; false is proven."""
        possible = np.zeros(self.block.size, dtype=bool)
        while not possible.all():
            left = np.flatnonzero(~possible)
            world = self._widest(left)
            if world is None:
                possible[left] = True
            elif (world[left] >= 1 - ROUNDING).any():
                possible[left] = world[left] >= 1 - ROUNDING
            else:
                return possible | self._reached(left)
        return possible

    def between(self, group: Ids) -> tuple[int, int]:
        """Bounds on the people that a group of kinds has in any world."""
        low, high = self._best(self._sum(group)), self._best(-self._sum(group))
        least = int(self.block.low[group].sum()) if low is None else math.ceil(low[group].sum() - ROUNDING)
        most = int(self.block.high[group].sum()) if high is None else math.floor(high[group].sum() + ROUNDING)
        return least, most

    def _reached(self, kinds: Ids) -> Bools:
        """Which of some kinds reach one person, asked one by one."""
        reached = np.zeros(self.block.size, dtype=bool)
        for kind in kinds.tolist():
            if not reached[kind]:
                world = self._best(-self._sum(np.array([kind])))
                if world is None:
                    reached[kind] = True
                else:
                    reached[kinds] |= world[kinds] >= 1 - ROUNDING
        return reached

    def _sum(self, group: Ids) -> Floats:
        weights = np.zeros(self.block.size)
        weights[group] = 1
        return weights

    def _widest(self, kinds: Ids) -> Floats | None:
        """A world in which as many of these kinds as possible have someone, counting each at most once."""
        n = kinds.size
        inside = coo_array((np.ones(n), (np.arange(n), kinds)), shape=(n, self.block.size))
        rows = hstack([self.block.matrix, coo_array((self.block.totals.size, n))]).tocsr()
        weights = np.concatenate([np.zeros(self.block.size), -np.ones(n)])
        bounds = [*self._bounds(), *([(0.0, 1.0)] * n)]
        world = self._solved(weights, rows, bounds, hstack([-inside, identity(n)]).tocsr())
        return None if world is None else world[: self.block.size]

    def _best(self, weights: Floats) -> Floats | None:
        """A world in which a sum of people is least."""
        return self._solved(weights, self.block.matrix.tocsr(), self._bounds())

    def _bounds(self) -> list[tuple[float, float]]:
        return [(float(low), float(high)) for low, high in zip(self.block.low, self.block.high, strict=True)]

    def _solved(
        self,
        weights: Floats,
        rows: csr_array,
        bounds: list[tuple[float, float]],
        below: csr_array | None = None,
    ) -> Floats | None:
        step = PIVOT * (len(bounds) + self.block.totals.size)
        most = int(self.effort.left / step)
        if most <= 0:
            return None
        result = linprog(
            weights,
            A_eq=rows,
            b_eq=self.block.totals,
            A_ub=below,
            b_ub=None if below is None else np.zeros(below.shape[0]),
            bounds=bounds,
            method="highs-ds",
            options={"maxiter": most},
        )
        self.effort.spend(CALL + step * max(int(result.nit), 1))
        return np.asarray(result.x) if result.status == 0 else None
