"""A lower bound from the optima of a few attributes at a time."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.budget import Budget, Spent
from manyveils.methods.generalize.demand import Demand
from manyveils.methods.generalize.lattice import Node, lattice_of
from manyveils.methods.generalize.search import Search
from manyveils.table import Table

# The largest lattice of a block, each time.
SIZES = tuple(4**power for power in range(3, 12))
# Sums in another order may differ in their last bits.
ROUNDING = 1 - 1e-12


@dataclass(frozen=True)
class Block:
    """Some attributes, and what each node of their own lattice costs at least."""

    axes: slice
    costs: NDArray[np.float64]

    def least(self, low: Node, high: Node) -> float:
        """What the cheapest node between two costs at least, by these attributes alone."""
        low, high = low[self.axes], high[self.axes]
        box = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
        return float(self.costs[box].min())


@dataclass
class Blocks:
    """Attributes taken a few at a time, each few with the optimal node of their own lattice.

    Claim: what the optima of all blocks cost together, no node of the whole lattice costs less.
    Why: the cost is a sum over attributes, in which a suppressed row loses everything of each. Of a node that keeps
    the promises, take the levels of one block: the other attributes at their tops make it coarser, so the rows that
    fail promises that fall are among those that are left out, and no more cost is lost.
    Tested by: tests/claims/test_anytime.py
    """

    demand: Demand
    table: Table
    budget: Budget
    bound: float = 0.0
    blocks: tuple[Block, ...] = ()

    def run(self) -> None:
        """Take ever larger blocks, as long as the lattice does not fit one."""
        shape = self.demand.lattice.shape
        for size in SIZES:
            parts = _parts(shape, size)
            if len(parts) < 2:
                return
            if len(parts) != len(self.blocks):
                self._take(parts)

    def _take(self, parts: list[slice]) -> None:
        blocks: list[Block] = []
        spent = None
        for part in parts:
            search = self._search(part)
            try:
                if spent is None and search.demand.makes_fail:
                    search.run()
            except Spent as error:
                spent = error
            # What was not looked at costs what its levels cost, at least.
            blocks.append(Block(part, search.costs))
        bound = sum(float(block.costs.min()) for block in blocks) * ROUNDING
        if bound > self.bound:
            self.bound, self.blocks = bound, tuple(blocks)
        if spent is not None:
            raise spent

    def _search(self, part: slice) -> Search:
        demand = self.demand
        columns, watches = demand.lattice.columns[part], demand.falling_watches
        lattice = lattice_of(columns, self.table, watches)
        within = (asked.within(part) for asked in demand.overall)
        overall = tuple(asked for asked in within if asked is not None)
        objective = type(demand.objective)(lattice)
        return Search(Demand(lattice, objective, watches, demand.limit, overall=overall), budget=self.budget)


def _parts(shape: tuple[int, ...], size: int) -> list[slice]:
    """Neighbouring attributes together, as long as their lattice has so many nodes at most.

    >>> _parts((3, 3, 3), 10)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    parts = [slice(0, 1)]
    for axis in range(1, len(shape)):
        start = parts[-1].start
        if prod(shape[start : axis + 1]) <= size:
            parts[-1] = slice(start, axis + 1)
        else:
            parts.append(slice(axis, axis + 1))
    return parts
