"""The optimum of a lattice that is too large to be written down: boxes of nodes, those that may be cheapest first."""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.blocks import ROUNDING, Block
from manyveils.methods.generalize.budget import Budget
from manyveils.methods.generalize.demand import Choice, Demand
from manyveils.methods.generalize.descent import Hopeless
from manyveils.methods.generalize.lattice import Counted, Node

Bits = NDArray[np.uint8]


@dataclass(frozen=True, order=True)
class Box:
    """All nodes from one to another; `lost` are the groups of the lattice's bottom that must go at all of them."""

    bound: float
    number: int
    low: Node
    high: Node
    lost: Bits = field(compare=False)


@dataclass
class Boxes:
    """A search that halves boxes of nodes.

    Claim: no node costs less than `bound`, unless it is the best.
    Why: every node that keeps the promises is the best, or costs as much, or lies in a box; a box is passed over only
    if its coarsest node is hopeless. No node of a box costs less than its finest node's levels, with the rows lost
    that fail at its coarsest node and so at all of them; nor less than the cheapest of its nodes in every block.
    Tested by: tests/claims/test_anytime.py
    """

    demand: Demand
    budget: Budget
    hopeless: Hopeless
    blocks: tuple[Block, ...] = ()
    bound: float = 0.0
    best: Choice | None = None
    _waiting: list[Box] = field(default_factory=list)
    _n_boxes: int = 0

    def run(self) -> None:
        """Halve boxes until none can hold a better node; then the bound is what the best costs."""
        shape = self.demand.lattice.shape
        self._add((0,) * len(shape), tuple(size - 1 for size in shape))
        while self._waiting:
            box = heappop(self._waiting)
            self.bound = max(self.bound, box.bound)
            if self.best is not None and box.bound >= self.best.cost:
                break
            self._halve(box)
        self.bound = inf if self.best is None else max(self.bound, self.best.cost)

    def _halve(self, box: Box) -> None:
        """Put aside the finer and the coarser half, parted where levels differ most in what they cost."""
        low, high = box.low, box.high
        if low == high:
            return
        axis = max(range(len(low)), key=lambda axis: self._span(axis, low[axis], high[axis]))
        middle = (low[axis] + high[axis]) // 2
        self._push(_with(low, axis, middle + 1), high, box.lost)
        self._add(low, _with(high, axis, middle))

    def _span(self, axis: int, low: int, high: int) -> tuple[float, int]:
        sums = self.demand.objective.sums
        return (float(sums[axis][high] - sums[axis][low]) if sums and low < high else 0.0, high - low)

    def _add(self, low: Node, high: Node) -> None:
        """Look at a box's coarsest node, and put the box aside unless that is hopeless."""
        if self.hopeless.covers(high):
            return
        counted = self._check(high)
        falling = self.demand.falling(counted)
        if falling.n > self.demand.limit:
            self.hopeless.add(high)
            return
        choice = self.demand.choice(counted, falling)
        if choice is not None:
            self.best = choice if self.best is None else min(self.best, choice)
        self._push(low, high, np.packbits(self.demand.gone_below(counted, falling)))

    def _push(self, low: Node, high: Node, lost: Bits) -> None:
        self._n_boxes += 1
        bound = max(self._least(low, lost), sum(block.least(low, high) for block in self.blocks) * ROUNDING)
        if self.best is None or bound < self.best.cost:
            # Of boxes that promise as much, the last first: it is the smallest.
            heappush(self._waiting, Box(bound, -self._n_boxes, low, high, lost))

    def _least(self, low: Node, lost: Bits) -> float:
        objective, lattice = self.demand.objective, self.demand.lattice
        bound = objective.least(low) if objective.sums else objective.bound(self._check(low))
        gone = np.unpackbits(lost, count=lattice.base.sizes.size).astype(bool)
        return bound + objective.beyond(low, np.where(gone, lattice.base.sizes, 0), self.demand.limit)

    def _check(self, node: Node) -> Counted:
        self.budget.spend()
        return self.demand.lattice.at(node)


def _with(node: Node, axis: int, level: int) -> Node:
    return (*node[:axis], level, *node[axis + 1 :])
