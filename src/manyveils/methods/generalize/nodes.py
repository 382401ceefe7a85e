"""Which nodes of a lattice pass tests, when every node that does is wanted and not the best alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.generalize.lattice import Counted, Lattice, Node

Passed = NDArray[np.bool_]


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
    """For every test, the nodes among `where` at which it holds; nodes that follow from others are not counted."""
    known = [~where for _ in tests]
    holds = [np.zeros(lattice.shape, dtype=bool) for _ in tests]
    nodes = _from_the_middle(where)
    for position, node in enumerate(nodes):
        open_ = [place for place in range(len(tests)) if not known[place][node]]
        counted = lattice.at(node) if open_ else None
        for place in open_:
            assert counted is not None
            found = tests[place].holds(counted)
            region = _concluded(node, rises=tests[place].rises, found=found)
            known[place][region] = True
            if found:
                holds[place][region] = True
        if position % 64 == 0:
            progress(position / len(nodes))
    return [each & where for each in holds]


def _concluded(node: Node, *, rises: bool | None, found: bool) -> tuple[slice, ...]:
    """The nodes at which a test comes out the same as at this one."""
    if rises is None:
        return tuple(slice(level, level + 1) for level in node)
    if rises == found:
        return tuple(slice(level, None) for level in node)
    return tuple(slice(0, level + 1) for level in node)


def _from_the_middle(where: Passed) -> list[Node]:
    """The nodes, those of middle height first: their outcomes decide most others."""
    places = np.argwhere(where)
    heights = places.sum(axis=1) if places.size else np.zeros(len(places))
    order = np.argsort(np.abs(heights - sum(size - 1 for size in where.shape) / 2), kind="stable")
    return [tuple(int(level) for level in places[place]) for place in order]


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
    return [tuple(int(level) for level in place) for place in np.argwhere(edge)]
