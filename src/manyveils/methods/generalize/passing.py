"""Which nodes of a lattice pass a test, asked of as few nodes as conclusions allow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manyveils.methods.generalize.lattice import Counted, Lattice, Node, Passed


@dataclass(frozen=True)
class Test:
    """Something that holds at a node or not.

    `rises`: what holds at a node holds above it; False: below it; None: neither can be concluded.
    """

    holds: Callable[[Counted], bool]
    rises: bool | None


def passing(
    lattice: Lattice,
    tests: Sequence[Test],
    where: Passed,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Passed]:
    """For every test, the nodes among `where` at which it holds; nodes that follow from others are not counted.

    Chains of undecided nodes are halved, as long as a test is open on them.
    """
    answers = _Answers(lattice, tests, where)
    nodes = np.argwhere(where)
    order = np.argsort(nodes.sum(axis=1), kind="stable") if where.ndim else np.arange(len(nodes))
    for position, index in enumerate(order):
        node = tuple(int(level) for level in nodes[index])
        if answers.open[node]:
            answers.halve(answers.chain(node))
        if position % 1024 == 0:
            progress(position / len(order))
    return [np.asarray(holds & where) for holds in answers.holds]


class _Answers:
    """What is known of every test at every node."""

    def __init__(self, lattice: Lattice, tests: Sequence[Test], where: Passed) -> None:
        self._lattice, self._tests = lattice, tests
        # A test for each first index, as there may be hundreds.
        self.holds = np.zeros((len(tests), *lattice.shape), dtype=bool)
        self._known = np.broadcast_to(~where, self.holds.shape).copy()
        self.open = where.copy() if tests else np.zeros(lattice.shape, dtype=bool)

    def chain(self, node: Node) -> list[Node]:
        """A way up through nodes at which some test is open."""
        chain = [node]
        while step := next((step for step in self._lattice.steps(chain[-1]) if self.open[step]), None):
            chain.append(step)
        return chain

    def halve(self, chain: list[Node]) -> None:
        """Decide all tests on a chain: in its middle first, which decides most of it."""
        waiting = [chain]
        while waiting:
            part = [node for node in waiting.pop() if self.open[node]]
            if part:
                middle = len(part) // 2
                self._decide(part[middle])
                waiting += [part[:middle], part[middle + 1 :]]

    def _decide(self, node: Node) -> None:
        counted = self._lattice.at(node)
        regions: list[tuple[slice, ...]] = []
        for index, test in enumerate(self._tests):
            if self._known[(index, *node)]:
                continue
            is_passed = test.holds(counted)
            region = _concluded(node, rises=test.rises, is_passed=is_passed)
            of_test: tuple[int | slice, ...] = (index, *region)
            self._known[of_test] = True
            if is_passed:
                self.holds[of_test] = True
            if region not in regions:
                regions.append(region)
        for region in regions:
            self.open[region] &= ~self._known[(slice(None), *region)].all(axis=0)


def _concluded(node: Node, *, rises: bool | None, is_passed: bool) -> tuple[slice, ...]:
    """The nodes at which a test comes out the same as at this one."""
    if rises is None:
        return tuple(slice(level, level + 1) for level in node)
    if rises == is_passed:
        return tuple(slice(level, None) for level in node)
    return tuple(slice(0, level + 1) for level in node)


def lowest(passed: Passed) -> list[Node]:
    """The nodes that pass with no passing node one step below them."""
    return _edge(passed, slice(None, -1), slice(1, None))


def highest(passed: Passed) -> list[Node]:
    """The nodes that pass with no passing node one step above them."""
    return _edge(passed, slice(1, None), slice(None, -1))


def _edge(passed: Passed, from_: slice, to: slice) -> list[Node]:
    edge = passed.copy()
    for axis in range(passed.ndim):
        before = [slice(None)] * passed.ndim
        after = [slice(None)] * passed.ndim
        before[axis], after[axis] = from_, to
        edge[tuple(after)] &= ~passed[tuple(before)]
    return [tuple(int(level) for level in node) for node in np.argwhere(edge)]
