"""The best node that is found within a limit, and what every node costs at least."""

from dataclasses import dataclass, field
from math import inf, prod

from manyveils.methods.generalize.blocks import Blocks
from manyveils.methods.generalize.boxes import Boxes
from manyveils.methods.generalize.budget import Budget, Spent
from manyveils.methods.generalize.demand import Choice, Demand
from manyveils.methods.generalize.descent import Descent, Hopeless
from manyveils.methods.generalize.search import Search
from manyveils.table import Table

# What may be spent when each part of the search is broken off.
DESCENT, BLOCKS = 0.3, 0.85
# Lattices that are written down node by node.
MOST_WRITTEN = 20_000_000
CLOSED = 1e-9


@dataclass
class Anytime:
    """A search that can be broken off at any time: first a good node, then what no node undercuts.

    Claim: no node that keeps the promises costs less than `bound`; if `is_optimal`, none costs less than the best.
    Why: the bound is the largest of those that blocks, boxes and the exact search give, and each is one.
    Tested by: tests/claims/test_anytime.py
    """

    demand: Demand
    table: Table
    budget: Budget
    least_rows: int = 1
    best: Choice | None = None
    bound: float = 0.0
    _hopeless: Hopeless = field(init=False)

    def __post_init__(self) -> None:
        self._hopeless = Hopeless(len(self.demand.lattice.shape))

    def run(self) -> None:
        """Spend the budget, or less if the optimum is known before."""
        self.bound = self.demand.objective.whatever(self.least_rows)
        with self.budget.up_to(DESCENT):
            self._descend()
        if self._hopeless.covers(tuple(size - 1 for size in self.demand.lattice.shape)):
            self.bound = inf
        blocks = Blocks(self.demand, self.table, self.budget)
        if self.demand.objective.sums and not self.is_settled:
            with self.budget.up_to(BLOCKS):
                blocks.run()
            self.bound = max(self.bound, blocks.bound)
        if not self.is_settled:
            self._close(blocks)

    @property
    def is_settled(self) -> bool:
        """Whether the best node is the optimum, or no node keeps the promises."""
        return (
            self.bound == inf if self.best is None else self.best.cost - self.bound <= CLOSED * self.best.cost
        )

    def _descend(self) -> None:
        descent = Descent(self.demand, self.budget, self._hopeless)
        try:
            descent.run()
        finally:
            self.best = descent.best

    def _close(self, blocks: Blocks) -> None:
        if prod(self.demand.lattice.shape) <= MOST_WRITTEN:
            self._search()
        else:
            self._halve(blocks)

    def _search(self) -> None:
        search = Search(self.demand, budget=self.budget, best=self.best)
        try:
            search.run()
            bound = inf if search.best is None else search.best.cost
        except Spent:
            bound = float(search.costs.min())
        self.best, self.bound = search.best, max(self.bound, bound)

    def _halve(self, blocks: Blocks) -> None:
        boxes = Boxes(self.demand, self.budget, self._hopeless, blocks.blocks, best=self.best)
        with self.budget.up_to(1.0):
            boxes.run()
        self.best, self.bound = boxes.best, max(self.bound, boxes.bound)
