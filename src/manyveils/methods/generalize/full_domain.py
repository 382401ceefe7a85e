"""Full-domain generalization: one level per quasi-identifier for the whole table, the optimal ones."""

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.methods.generalize.lattice import Lattice, count_base
from manyveils.methods.generalize.objectives import OBJECTIVES
from manyveils.methods.generalize.search import Search
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import all_kept, watch_counts
from manyveils.promises.work import Work
from manyveils.release.plan import LeveledView, Plan

MOST_NODES = 20_000_000
MANY_VALUES = 100_000


def plan_full_domain(work: Work, objective: str) -> Plan:
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
    if problems:
        raise PolicyError(problems)
