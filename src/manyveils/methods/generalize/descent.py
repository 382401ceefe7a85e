"""A good node, found from the top of the lattice downwards: what costs least for what it tells is made finer first."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np

from manyveils.kernels.grouping import smallest_below
from manyveils.methods.generalize.budget import Budget
from manyveils.methods.generalize.demand import Choice, Demand
from manyveils.methods.generalize.lattice import Node
from manyveils.methods.generalize.objectives import squares

# How much it counts against a step that it parts rows.
CAUTIONS = (0.25, 0.5, 0.75, 1.0, 0.0)
PATIENT = 0.5
RAISED = (1, 2)
HARDLY = 1e-9


class Hopeless:
    """Nodes at which too many rows must go, and with them at every finer one."""

    def __init__(self, n_attributes: int) -> None:
        # Turned upside down, so that what is finer lies above.
        self._nodes = np.zeros((64, n_attributes), dtype=np.int16)
        self._n = 0

    def add(self, node: Node) -> None:
        """Learn of one more."""
        if self._n == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
        self._nodes[self._n] = np.array(node, dtype=np.int16) * -1
        self._n += 1

    def covers(self, node: Node) -> bool:
        """Whether a node is one of them, or finer than one."""
        none = np.zeros(self._n, dtype=np.int64)
        turned = np.array(node, dtype=np.int16) * np.int16(-1)
        return bool(smallest_below(self._nodes[: self._n], none, turned) >= 0)


@dataclass
class Descent:
    """The best node found so far, and what is known of those that were looked at."""

    demand: Demand
    budget: Budget
    hopeless: Hopeless
    best: Choice | None = None
    _choices: dict[Node, Choice | None] = field(default_factory=dict)
    _crowding: dict[Node, float] = field(default_factory=dict)

    def run(self) -> Choice | None:
        """Go down from the top with more and less caution, and then again from nodes that are near the best one."""
        top = tuple(size - 1 for size in self.demand.lattice.shape)
        if self._look(top) is None:
            return None
        for caution in CAUTIONS:
            self._down(top, caution)
        while self._improve():
            pass
        return self.best

    def _look(self, node: Node) -> Choice | None:
        """The node as a choice, if it is one."""
        if node not in self._choices:
            self._choices[node] = None if self.hopeless.covers(node) else self._check(node)
        return self._choices[node]

    def _check(self, node: Node) -> Choice | None:
        self.budget.spend()
        counted = self.demand.lattice.at(node)
        falling = self.demand.falling(counted)
        if falling.n > self.demand.limit:
            self.hopeless.add(node)
            return None
        choice = self.demand.choice(counted, falling)
        self._crowding[node] = log(squares(counted.sizes))
        if choice is not None:
            self.best = choice if self.best is None else min(self.best, choice)
        return choice

    def _down(self, node: Node, caution: float, still: tuple[int, ...] = ()) -> Node:
        """Take the step that gains most, for the rows it parts, as long as there is one; some attributes stay."""
        while True:
            here = self._look(node)
            assert here is not None
            steps = [
                (
                    (here.cost - choice.cost)
                    / max(self._crowding[node] - self._crowding[step], HARDLY) ** caution,
                    step,
                )
                for step in _finer(node, still)
                if (choice := self._look(step)) is not None and choice < here
            ]
            if not steps:
                return node
            _, node = max(steps)

    def _improve(self) -> bool:
        """Whether going up a little from the best node, and down another way, led to a better one."""
        best, top = self.best, tuple(size - 1 for size in self.demand.lattice.shape)
        assert best is not None
        lowered = [axis for axis, level in enumerate(best.node) if level < top[axis]]
        for n_raised in RAISED:
            for axes in combinations(lowered, n_raised):
                raised = tuple(top[axis] if axis in axes else level for axis, level in enumerate(best.node))
                if self._look(raised) is not None:
                    self._down(self._down(raised, PATIENT, axes), PATIENT)
                if self.best != best:
                    return True
        return False


def _finer(node: Node, still: tuple[int, ...]) -> Iterator[Node]:
    """The nodes with a lower level of one attribute."""
    for axis, level in enumerate(node):
        if axis not in still:
            for lower in range(level):
                yield (*node[:axis], lower, *node[axis + 1 :])
