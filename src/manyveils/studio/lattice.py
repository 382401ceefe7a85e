"""The lattice of full-domain recoding, node by node: what is lost, who is left out, and which promises hold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.errors import Change, InputError, Problem
from manyveils.methods import METHODS, load, method_of, work_of
from manyveils.methods.generalize.demand import Demand
from manyveils.methods.generalize.lattice import Counted, Node
from manyveils.methods.generalize.objectives import Loss
from manyveils.plain import readable
from manyveils.policy import Policy
from manyveils.promises.keeping import Watch, kept
from manyveils.promises.work import Work
from manyveils.reading.keys import numbered
from manyveils.release.plan import Plan
from manyveils.studio.document import policy_of
from manyveils.studio.standing import Ids
from manyveils.studio.work import Draft, Progress
from manyveils.table import Streams, hold

WHY_NOT = (
    "No key of the policy says at which levels to publish: a release is made at the optimum. What is too coarse or too "
    "fine there can be changed by the hierarchies, by suppression and by the promises."
)


@dataclass(frozen=True)
class Held:
    """A promise at a node, and how many people stand in groups that break it, before anybody is left out."""

    promise: str
    attribute: str
    n_broken: int


@dataclass(frozen=True)
class Standing:
    """What a node comes to; `is_kept` once those have been left out who must, if so many may be."""

    node: Node
    loss: float
    n_groups: int
    smallest: int
    left_out: int
    limit: int
    is_kept: bool
    promises: tuple[Held, ...]


@dataclass(frozen=True, repr=False)
class Explorer:
    """The lattice of a policy's quasi-identifiers over a table; nodes are counted when they are asked for."""

    work: Work
    demand: Demand
    loss: Loss
    # Counted nodes are remembered, which only one may do at a time.
    lock: Any = field(default_factory=Lock)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of a node's levels."""
        return tuple(column.name for column in self.demand.lattice.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each has."""
        return self.demand.lattice.shape

    def labels(self, axis: int, level: int) -> int:
        """How many labels a quasi-identifier has at a level."""
        return self.demand.lattice.columns[axis].levels.sizes[level]

    def at(self, node: Node) -> Standing:
        """What a node comes to."""
        with self.lock:
            counted = self.demand.lattice.at(node)
            falling = self.demand.falling(counted)
            lost = self.demand.lost(counted, falling)
            choice = self.demand.choice(counted, falling)
            held = [self._held(watched, counted, n) for n, watched in enumerate(self.demand.watches)]
            sizes = self._in_people(counted)
        cells = max(self.demand.lattice.n_rows * len(node), 1)
        return Standing(
            node,
            self.loss.cost(counted, lost.rows) / cells,
            int(sizes.size),
            int(sizes.min(initial=self.demand.lattice.n_rows)),
            lost.n,
            self.demand.limit,
            choice is not None,
            _once(held),
        )

    def _held(self, watched: Watch, counted: Counted, number: int) -> Held:
        entries = None if watched.subject is None else counted.entries[number]
        fine = kept(watched, entries, counted.sizes)
        guarantee = watched.promise.guarantee
        kind = f"{guarantee.kind}, {guarantee.bound} = {readable(guarantee.required)}"
        about = self.work.subject_of(watched.promise) or "everybody"
        return Held(kind, about, self._people_in(counted, ~np.asarray(fine)))

    def _in_people(self, counted: Counted) -> Ids:
        """How many people each group has; somebody with several rows counts once."""
        lattice = self.demand.lattice
        if lattice.persons is None:
            return counted.sizes
        owners = lattice.owners_of_rows(counted.node)
        _, firsts = numbered([owners, lattice.persons.numbers[lattice.persons.order]])
        return np.bincount(owners[firsts], minlength=counted.sizes.size)

    def _people_in(self, counted: Counted, groups: NDArray[np.bool_]) -> int:
        """How many people have a row in one of some groups."""
        lattice = self.demand.lattice
        if lattice.persons is None:
            return int(counted.sizes[groups].sum())
        is_there = groups[lattice.owners_of_rows(counted.node)]
        return int(np.logical_or.reduceat(is_there, lattice.persons.starts[:-1]).sum())

    def neighbours(self, node: Node) -> list[tuple[str, Node]]:
        """The nodes one level away, each with the step in words; finer ones first."""
        steps = []
        for way, words in ((-1, "finer"), (1, "coarser")):
            for axis, name in enumerate(self.names):
                level = node[axis] + way
                if 0 <= level < self.shape[axis]:
                    steps.append((f"{name} {words}", (*node[:axis], level, *node[axis + 1 :])))
        return steps


def _once(held: Iterable[Held]) -> tuple[Held, ...]:
    """A promise about every value of an attribute once, as it stands at its worst."""
    worst: dict[tuple[str, str], Held] = {}
    for own in held:
        key = own.promise, own.attribute
        if key not in worst or worst[key].n_broken < own.n_broken:
            worst[key] = own
    return tuple(worst.values())


def explore(frame: pl.DataFrame, policy: Policy) -> Explorer:
    """The lattice of a policy that publishes by full-domain recoding; others are refused."""
    work = _work(frame, policy)
    lattice = method_of(policy).lattice
    demand = None if lattice is None else lattice(work)
    if demand is None:
        what = "only full-domain recoding chooses among levels."
        other = next(name for name in METHODS if load(name).lattice is not None)
        changes = (Change("publish", "method", other),)
        where = f"{policy.name}: publish.method"
        raise InputError([Problem(where, what, f'Set method = "{other}" to look at its lattice.', changes)])
    return Explorer(work, demand, Loss(demand.lattice))


def _work(data: object, policy: Policy) -> Work:
    table, _ = hold(data, policy)
    return work_of(policy, table, Streams(0))


def find_optimum(draft: Draft, progress: Progress) -> dict[str, Any]:
    """The levels that publishing would choose, by quasi-identifier."""
    policy = policy_of(draft.text, draft.folder, draft.name)
    table, _ = hold(None, policy)
    plan = method_of(policy).plan(work_of(policy, table, Streams(0), progress))
    if not isinstance(plan, Plan):
        raise InputError.at(policy.name, "its method chooses no levels.")
    levels: Mapping[str, int] = plan.notes["levels"]  # type: ignore[assignment]
    return {"levels": dict(levels)}
