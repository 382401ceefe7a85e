"""The optimal node of a lattice, found by checking few of its nodes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.budget import Budget
from manyveils.methods.generalize.demand import Choice, Demand
from manyveils.methods.generalize.lattice import Counted, Node

CHUNK = 256


@dataclass
class Search:
    """The state of a search: what is known of every node, and the best so far.

    Claim: the result costs no more than any node that keeps the promises within the suppression limit.
    Why: a node is passed over only if it is hopeless (a coarser node already fails promises that can only
    get worse on the way down), if it costs at least as much as the best (`floor` never falls on the way up,
    `lost`, the rows that must go, never falls on the way down), or if it lies above a node that keeps
    everything while nothing may be suppressed.
    Tested by: tests/claims/test_optimal_node.py
    """

    demand: Demand
    progress: Callable[[float], None] = lambda share: None
    budget: Budget = field(default_factory=Budget)
    best: Choice | None = None
    closed: NDArray[np.bool_] = field(init=False)
    hopeful: NDArray[np.bool_] = field(init=False)
    floor: NDArray[np.float64] = field(init=False)
    lost: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        lattice, objective, limit = self.demand.lattice, self.demand.objective, self.demand.limit
        self.lattice, self.objective, shape = lattice, objective, lattice.shape
        self.closed, self.hopeful = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.floor, self.lost = objective.floor.copy(), np.zeros(shape, dtype=np.int64)
        self._closed, self._floor, self._lost = (
            grid.reshape(-1) for grid in (self.closed, self.floor, self.lost)
        )
        self._per_lost = objective.per_lost_row(limit).reshape(-1)
        self._stops_above = limit == 0 and self.demand.all_fall

    def run(self) -> Choice | None:
        """Find the border below which nothing is left to hope for, then check what may be cheaper above it."""
        order = np.argsort(self.objective.guide, axis=None, kind="stable")
        hopeful = self.hopeful.reshape(-1)
        for start in range(0, order.size, CHUNK):
            for index in order[start : start + CHUNK].tolist():
                if self._is_open(index) and not hopeful[index]:
                    self._halve(self._path(self._node(index)))
            self.progress(start / order.size)
        for start in range(0, order.size, CHUNK):
            for index in order[start : start + CHUNK].tolist():
                if self._is_open(index):
                    self._check(self._node(index))
        return self.best

    def _node(self, index: int) -> Node:
        """The node at an index of the flattened lattice."""
        shape = self.lattice.shape
        return tuple(int(level) for level in np.unravel_index(index, shape)) if shape else ()

    def _is_open(self, index: int) -> bool:
        if self._closed[index]:
            return False
        if self.best is None:
            return True
        return bool(self._floor[index] + self._lost[index] * self._per_lost[index] < self.best.cost)

    def _path(self, node: Node) -> list[Node]:
        """A way up through nodes of which nothing is known, always the step that looks cheapest."""
        path = [node]
        while steps := [
            step for step in self.lattice.steps(path[-1]) if not (self.closed[step] or self.hopeful[step])
        ]:
            path.append(min(steps, key=lambda step: float(self.objective.guide[step])))
        return path

    def _halve(self, path: list[Node]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._check(path[middle]):
                low = middle + 1
            else:
                high = middle - 1

    def _check(self, node: Node) -> bool:
        """Check a node and draw all conclusions; true if it and everything finer is hopeless."""
        self.budget.spend()
        counted = self.lattice.at(node)
        self.closed[node] = True
        above = tuple(slice(level, None) for level in node)
        below = tuple(slice(0, level + 1) for level in node)
        falling = self.demand.falling(counted)
        if falling.n > self.demand.limit:
            self.closed[below] = True
            return True
        self.hopeful[above] = True
        if falling.n:
            self.lost[below] = np.maximum(self.lost[below], falling.n_rows)
        self._rise(counted, above)
        choice = self.demand.choice(counted, falling)
        if choice is not None:
            self.best = choice if self.best is None else min(self.best, choice)
            if self._stops_above:
                self.closed[above] = True
        return False

    def _rise(self, counted: Counted, above: tuple[slice, ...]) -> None:
        """Nothing above costs less than the node's bound."""
        bound = self.objective.bound(counted)
        if bound > self.floor[counted.node]:
            self.floor[above] = np.maximum(self.floor[above], bound)

    @property
    def costs(self) -> NDArray[np.float64]:
        """What is known of the cost of every node, at least, whenever the search is broken off."""
        known = (self._floor + self._lost * self._per_lost).reshape(self.lattice.shape)
        return np.where(self.closed & ~self.hopeful, np.inf, known)
