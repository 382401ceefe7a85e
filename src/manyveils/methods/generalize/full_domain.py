"""Full-domain generalization: one level per quasi-identifier for the whole table, the optimal ones."""

from dataclasses import dataclass

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.methods.generalize.lattice import Lattice, count_base
from manyveils.methods.generalize.objectives import OBJECTIVES
from manyveils.methods.generalize.search import Search
from manyveils.methods.leveled import Leveled
from manyveils.methods.work import Decided
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import all_kept, watch_counts
from manyveils.promises.work import Work

MOST_NODES = 20_000_000
MANY_VALUES = 100_000


@dataclass(frozen=True)
class Plan:
    """The chosen level of each quasi-identifier, and what was found on the way."""

    levels: dict[str, int]
    cost: float
    n_nodes: int
    n_checked: int
    suppressed: int


def decide_full_domain(work: Work, objective: str) -> Decided:
    """The optimal node of the lattice, and the classes that are left out there."""
    refuse_wide(work, MOST_NODES, instead='recoding = "mondrian"')
    watches = watch_counts(work, work.promises, work.sensitive, work.quasi)
    columns = tuple(work.table[name] for name in work.quasi)
    base, _ = count_base(columns, work.counts(work.quasi), watches)
    lattice = Lattice(columns, base)
    search = Search(
        lattice,
        OBJECTIVES[objective](lattice),
        watches,
        work.limit,
        lambda share: work.progress("searching the lattice", share),
    )
    best = search.run()
    if best is None:
        raise refuse(work, watches)
    counted, _ = lattice.roll(base, best.node)
    fine = all_kept(watches, counted.entries, counted.sizes)
    levels = dict(zip(work.quasi, best.node, strict=True))
    plan = Plan(levels, best.cost, int(np.prod(lattice.shape)), search.n_checked, best.suppressed)
    lost = counted.labels[:, ~fine].T.astype(np.int64)
    return Decided((Leveled("main", work.published, levels, lost),), _notes(plan, objective, lattice))


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
        problems.append(
            Problem(
                work.policy.name,
                f"the lattice has {n_nodes:.3g} nodes, {most_nodes:,} at most.",
                f"Use fewer levels or quasi-identifiers, or {instead}.",
            )
        )
    if problems:
        raise PolicyError(problems)


def _notes(plan: Plan, objective: str, lattice: Lattice) -> dict[str, object]:
    return {
        "recoding": "full-domain",
        "objective": objective,
        "cost": plan.cost,
        "levels": plan.levels,
        "heights": {column.name: len(column.levels) - 1 for column in lattice.columns},
        "nodes": plan.n_nodes,
        "nodes_checked": plan.n_checked,
    }
