"""Whether the optimum is one: the lowest cost over every node, and Polars' count at the node found."""

import numpy as np

from benchmarks.cases import Case, K
from benchmarks.line import Line, checked
from benchmarks.polars_lattice import FORMS, discernibility, label_columns
from benchmarks.trail import work_of
from manyveils.methods.generalize.lattice import Lattice, lattice_of
from manyveils.methods.generalize.objectives import OBJECTIVES, Objective
from manyveils.promises.keeping import Watch, all_kept, watch
from manyveils.release import Drafts
from manyveils.table import Table

ROUNDING = 1e-9


def optimum(case: Case, table: Table, made: Drafts) -> Line:
    """Compare what the search found with the exhaustive optimum."""
    found, lowest = float(str(made.notes["cost"])), _lowest(case, table)
    met = abs(found - lowest) <= ROUNDING * lowest and _polars_agrees(case, table, made, found)
    return checked(
        f"optimum: {case.name}",
        f"{found:,.0f}",
        f"{lowest:,.0f} over all {made.notes['nodes']:,} nodes",
        met=met,
    )


def _lowest(case: Case, table: Table) -> float:
    work = work_of(case.policy, table)
    watches = watch(work.promises, table, work.sensitive)
    columns = tuple(table[name] for name in work.quasi)
    lattice = lattice_of(columns, table, watches)
    return exhaustive(lattice, OBJECTIVES[case.objective](lattice), watches, work.limit)


def exhaustive(lattice: Lattice, objective: Objective, watches: tuple[Watch, ...], limit: int) -> float:
    """The lowest cost over every node: slow."""
    best = float("inf")
    for node in np.ndindex(lattice.shape):
        counted = lattice.at(node)
        fine = all_kept(watches, counted.entries, counted.sizes)
        if int(counted.sizes[~fine].sum()) <= min(limit, int(counted.sizes.sum()) - 1):
            best = min(best, objective.cost(counted, np.where(fine, 0, counted.sizes)))
    return best


def _polars_agrees(case: Case, table: Table, made: Drafts, found: float) -> bool:
    if not case.beside_polars or case.objective != "discernibility":
        return True
    levels = made.notes["levels"]
    assert isinstance(levels, dict)
    node = tuple(levels[name] for name in case.policy.quasi)
    labels = label_columns(case.policy, table, K)
    return all(discernibility(labels, node, form) == found for form in FORMS)
