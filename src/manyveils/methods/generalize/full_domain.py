"""Full-domain generalization: the optimal level of every quasi-identifier, found by checking few nodes of the lattice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.methods.generalize.lattice import Counted, Lattice, Node, lattice_of
from manyveils.methods.generalize.objectives import OBJECTIVES, Objective
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import Watch, all_kept, kept, watch_counts
from manyveils.promises.work import Work
from manyveils.release.plan import LeveledView, Plan

MOST_NODES = 20_000_000
MANY_VALUES = 100_000


@dataclass(frozen=True, order=True)
class Choice:
    """A node that keeps every promise; of several the smallest is best: the cheapest, with the fewest rows left out."""

    cost: float
    suppressed: int
    node: Node


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

    lattice: Lattice
    objective: Objective
    watches: tuple[Watch, ...]
    limit: int
    progress: Callable[[float], None]
    best: Choice | None = None
    n_checked: int = 0
    closed: NDArray[np.bool_] = field(init=False)
    hopeful: NDArray[np.bool_] = field(init=False)
    floor: NDArray[np.float64] = field(init=False)
    lost: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        shape = self.lattice.shape
        self.closed, self.hopeful = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.floor, self.lost = self.objective.floor.copy(), np.zeros(shape, dtype=np.int64)
        keeps = [watched.promise.merging_keeps for watched in self.watches]
        heals = [watched.promise.one_part_heals for watched in self.watches]
        # Without suppression a broken promise stays broken further down if merging keeps it;
        # with suppression, rows that fail can only be counted on to grow if one good part heals.
        self._falls = keeps if self.limit == 0 else heals
        self._closed, self._floor, self._lost = (
            grid.reshape(-1) for grid in (self.closed, self.floor, self.lost)
        )
        self._per_lost = self.objective.per_lost_row(self.limit).reshape(-1)
        self._stops_above = self.limit == 0 and all(keeps)

    def run(self) -> Choice | None:
        """Find the border below which nothing is left to hope for, then check what may be cheaper above it."""
        order = np.argsort(self.objective.guide, axis=None, kind="stable").tolist()
        hopeful = self.hopeful.reshape(-1)
        for position, index in enumerate(order):
            if self._is_open(index) and not hopeful[index]:
                self._halve(self._path(self._node(index)))
            if position % 256 == 0:
                self.progress(position / len(order))
        for index in order:
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
        counted = self.lattice.at(node)
        self.n_checked += 1
        self.closed[node] = True
        above = tuple(slice(level, None) for level in node)
        below = tuple(slice(0, level + 1) for level in node)
        falling = self._kept_by(counted, falls=True)
        n_falling = int(counted.sizes[~falling].sum())
        if n_falling > self.limit:
            self.closed[below] = True
            return True
        self.hopeful[above] = True
        if n_falling:
            self.lost[below] = np.maximum(self.lost[below], n_falling)
        self._rise(counted, above)
        fine = falling & self._kept_by(counted, falls=False)
        suppressed = int(counted.sizes[~fine].sum())
        if suppressed <= self.limit and suppressed < self.lattice.n_rows:
            choice = Choice(self.objective.cost(counted, fine), suppressed, node)
            self.best = choice if self.best is None else min(self.best, choice)
            if self._stops_above:
                self.closed[above] = True
        return False

    def _rise(self, counted: Counted, above: tuple[slice, ...]) -> None:
        """Nothing above costs less than the node's bound."""
        bound = self.objective.bound(counted)
        if bound > self.floor[counted.node]:
            self.floor[above] = np.maximum(self.floor[above], bound)

    def _kept_by(self, counted: Counted, *, falls: bool) -> NDArray[np.bool_]:
        fine = np.ones(counted.sizes.size, dtype=bool)
        for index, watched in enumerate(self.watches):
            if self._falls[index] == falls:
                entries = None if watched.subject is None else counted.entries[index]
                fine &= kept(watched, entries, counted.sizes)
        return fine


def plan_full_domain(work: Work, objective: str) -> Plan:
    """The optimal node of the lattice, and the classes that are left out there."""
    refuse_wide(work, MOST_NODES, instead='recoding = "mondrian"')
    watches = watch_counts(work, work.promises, work.sensitive, work.quasi)
    columns = tuple(work.table[name] for name in work.quasi)
    lattice = lattice_of(columns, work.counts(work.quasi), watches)
    progress = partial(work.progress, "searching the lattice")
    search = Search(lattice, OBJECTIVES[objective](lattice), watches, work.limit, progress)
    best = search.run()
    if best is None:
        raise refuse(work, watches)
    counted = lattice.roll(lattice.base, best.node)
    fine = all_kept(watches, counted.entries, counted.sizes)
    levels = dict(zip(work.quasi, best.node, strict=True))
    left_out = counted.labels[:, ~fine].T.astype(np.int64)
    notes = {
        "recoding": "full-domain",
        "objective": objective,
        "cost": best.cost,
        "levels": levels,
        "heights": {attribute.name: len(attribute.levels) - 1 for attribute in lattice.columns},
        "nodes": int(np.prod(lattice.shape)),
        "nodes_checked": search.n_checked,
    }
    return Plan((LeveledView("main", work.published, levels, left_out),), notes)


def refuse_wide(work: Work, most_nodes: int, *, instead: str) -> None:
    """Refuse quasi-identifiers without steps and lattices too large to search."""
    problems = [
        Problem(
            f"{work.policy.name}: attributes.{name}",
            f"a quasi-identifier with {work.table[name].n_values:,} different values and no hierarchy.",
            f"Give it one (widths = [10, 100, 1000] for numbers), or use {instead}.",
        )
        for name in work.quasi
        if work.table[name].n_values > MANY_VALUES and len(work.table[name].levels) <= 2
    ]
    n_nodes = float(np.prod([float(len(work.table[name].levels)) for name in work.quasi]))
    if n_nodes > most_nodes:
        what = f"the lattice has {n_nodes:.3g} nodes, {most_nodes:,} at most."
        remedy = f"Use fewer levels or quasi-identifiers, or {instead}."
        problems.append(Problem(work.policy.name, what, remedy))
    PolicyError.refuse(problems)
