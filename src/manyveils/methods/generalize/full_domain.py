"""Full-domain generalization: one level for every quasi-identifier, the optimal one or the best that is found in time."""

from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from manyveils.errors import Change, InfeasibleError, PolicyError, Problem
from manyveils.methods.generalize.anytime import Anytime
from manyveils.methods.generalize.budget import Budget
from manyveils.methods.generalize.demand import Choice, Demand
from manyveils.methods.generalize.lattice import Lattice, lattice_of
from manyveils.methods.generalize.objectives import OBJECTIVES
from manyveils.methods.generalize.search import Search
from manyveils.policy.guarantees import OF_ALL_GROUPS
from manyveils.promises.exchanges import STRICTEST
from manyveils.promises.explain import refuse
from manyveils.promises.keeping import Watch, watch_counts
from manyveils.promises.sightings import Told, about_constants, sightings_of
from manyveils.promises.work import Work
from manyveils.release.draft import Drafts
from manyveils.release.plan import FromRows, LeveledView, Plan

if TYPE_CHECKING:
    from manyveils.methods.generalize.overall import MeanRisk, Overall

MONDRIAN = 'recoding = "mondrian"'
# Lattices of more nodes are searched as long as a limit allows.
MOST_NODES = 20_000_000
MANY_VALUES = 100_000
# Groups beside earlier releases are so many times as large as those of a first one, if there are so many of them still.
WIDER, FEWEST = 2, 4
# What is checked of a larger lattice if nothing is said: so many labels are read, in so many nodes at least and at most.
LABELS_READ, FEWEST_CHECKS, MOST_CHECKS = 10_000_000_000, 1_000, 20_000


@dataclass(frozen=True)
class Limits:
    """How long the lattice may be searched; without any, until the optimum is known, if the lattice is not too large."""

    check_limit: int | None = None
    time_limit: float | None = None

    def for_lattice(self, shape: tuple[int, ...], n_groups: int) -> "Limits":
        """These limits, or those that a lattice needs."""
        if self != Limits() or prod(shape) <= MOST_NODES:
            return self
        checks = LABELS_READ // max(n_groups * len(shape), 1)
        return Limits(check_limit=min(max(checks, FEWEST_CHECKS), MOST_CHECKS))

    @property
    def notes(self) -> dict[str, object]:
        """The limits there are."""
        both = {"check_limit": self.check_limit, "time_limit": self.time_limit}
        return {name: limit for name, limit in both.items() if limit is not None}


def plan_full_domain(work: Work, objective: str, limits: Limits) -> Plan | FromRows:
    """The best node of the lattice, and the groups that are left out there."""
    refuse_valued(work, instead=MONDRIAN)
    work = _with_room_beside(work)
    lattice, watches, overall, mean_risk = _lattice(work)
    limits = limits.for_lattice(lattice.shape, lattice.base.sizes.size)
    _refuse_beside(work)
    # Beside earlier releases more is asked at first than is promised.
    for strictness in range(STRICTEST, -1, -1) if work.table.earlier is not None else (0,):
        sightings = _sightings(work, strictness)
        demand = Demand(
            lattice, OBJECTIVES[objective](lattice), watches, work.limit, sightings, overall, mean_risk
        )
        try:
            if work.table.earlier is not None:
                _refuse_top(work, demand)
            best, found = _optimal(work, demand) if limits == Limits() else _best(work, demand, limits)
            break
        except InfeasibleError as error:
            if work.table.earlier is None:
                raise
            if not strictness:
                raise _not_beside(work) from error
    counted = lattice.roll(lattice.base, best.node)
    lost = demand.lost(counted, demand.falling(counted))
    levels = dict(zip(work.quasi, best.node, strict=True))
    # Whoever goes has a row in a group that broke a promise, and of such a group nobody stays.
    left_out = counted.labels[:, lost.rows == counted.sizes].T.astype(np.int64)
    notes = {
        "recoding": "full-domain",
        "objective": objective,
        "cost": best.cost,
        "levels": levels,
        "heights": {attribute.name: len(attribute.levels) - 1 for attribute in lattice.columns},
        "nodes": prod(lattice.shape),
        **found,
    }
    view = LeveledView("main", work.published, levels, left_out)
    if work.table.earlier is None:
        return Plan((view,), notes)
    # Beside earlier releases some go whose groups stay.
    assert lost.owners is not None
    assert lattice.persons is not None
    rows = np.sort(lattice.persons.order[lost.owners >= 0])
    return FromRows(lambda own: Drafts((view.draft_of(own.table, rows),), notes))


def demand_of(work: Work, objective: str) -> Demand:
    """What is asked of every node of the lattice, without earlier releases; for whoever looks at nodes one by one."""
    refuse_valued(work, instead=MONDRIAN)
    lattice, watches, overall, mean_risk = _lattice(work)
    measured = OBJECTIVES[objective](lattice)
    return Demand(lattice, measured, watches, work.limit, _sightings(work, 0), overall, mean_risk)


def _lattice(
    work: Work,
) -> "tuple[Lattice, tuple[Watch, ...], tuple[Overall, ...], MeanRisk | None]":
    judged, overall, mean_risk = _overall(work)
    watches = watch_counts(work, judged.with_room, work.sensitive, work.quasi)
    columns, table = tuple(work.table[name] for name in work.quasi), work.counts(work.quasi)
    return lattice_of(columns, table, watches), watches, overall, mean_risk


def _overall(work: Work) -> "tuple[Work, tuple[Overall, ...], MeanRisk | None]":
    """What is asked of all groups together, and the work without it."""
    if not any(isinstance(promise.guarantee, OF_ALL_GROUPS) for promise in work.promises):
        return work, (), None
    from manyveils.methods.generalize.overall import overall_of  # Few policies ask for it.

    return overall_of(work)


def _with_room_beside(work: Work) -> Work:
    """The same with room for some to leave every group also beside earlier releases, so that a next one finds a node.

    Those who come into a group stand beside all others of it, and some of them leave again, so that it is wider.
    """
    if work.table.earlier is None:
        return work
    from manyveils.promises.exchanges import LEAVING, room_to_leave

    share = work.policy.publish.leaving
    room = room_to_leave(work.policy, work.table, work.promises, LEAVING if share is None else float(share))
    return replace(work, room=min(WIDER * room, max(work.table.n_persons // FEWEST, 1)))


def _sightings(work: Work, strictness: int) -> Told | None:
    """What several groups of a person may not tell together, of this release or of earlier ones."""
    if work.table.earlier is not None:
        from manyveils.promises.beside import beside_of  # Few publications ask for it.

        return beside_of(work.policy, work.table, work.promises, strictness)
    constant = about_constants(work.policy, work.table, work.promises)
    return sightings_of(constant, work.table, work.sensitive)


def _optimal(work: Work, demand: Demand) -> tuple[Choice, dict[str, object]]:
    search = Search(demand, partial(work.progress, "searching the lattice"))
    best = search.run()
    if best is None:
        raise refuse(work, demand.watches)
    return best, {"nodes_checked": search.budget.n_checked}


def _best(work: Work, demand: Demand, limits: Limits) -> tuple[Choice, dict[str, object]]:
    """The best node within the limits, and how far from the optimum it can be."""
    progress = partial(work.progress, "searching the lattice")
    budget = Budget(limits.check_limit, limits.time_limit, progress)
    search = Anytime(demand, work.counts(work.quasi), budget, _overall(work)[0].least_rows)
    search.run()
    best, is_settled = search.best, search.is_settled
    if best is None:
        raise refuse(work, demand.watches) if is_settled else _not_found(work, budget)
    bound = min(search.bound, best.cost)
    gap = 0.0 if is_settled else 1 - bound / best.cost
    return best, {
        "nodes_checked": budget.n_checked,
        **limits.notes,
        "cost_at_least": best.cost if is_settled else bound,
        "gap": gap,
        "is_optimal": is_settled,
    }


def _refuse_top(work: Work, demand: Demand) -> None:
    """Refuse at once what even the coarsest node does not keep: there people move least."""
    top = tuple(size - 1 for size in demand.lattice.shape)
    counted = demand.lattice.at(top)
    if demand.choice(counted, demand.falling(counted)) is None:
        raise _not_beside(work)


def _refuse_beside(work: Work) -> None:
    """Beside earlier releases, persons must be known, and have one row each."""
    table = work.table
    if table.earlier is None:
        return
    n_nameless = int(table.earlier.hashes[: table.n_persons].null_count())
    if n_nameless or table.n_rows > table.n_persons:
        what = "full-domain recoding goes on from earlier releases only where everybody is known and has one row."
        raise InfeasibleError(
            [Problem(f"{work.policy.name}: publish.recoding", what, 'Use recoding = "mondrian".')]
        )


def _not_beside(work: Work) -> InfeasibleError:
    what = "no node of the lattice keeps every promise beside the earlier releases: too many moved from label to label."
    remedy = 'Use recoding = "mondrian", which keeps those together who stood together, or raise suppression.'
    return InfeasibleError([Problem(f"{work.policy.name}: publish.recoding", what, remedy)])


def _not_found(work: Work, budget: Budget) -> InfeasibleError:
    what = f"none of {budget.n_checked:,} nodes of the lattice that were checked keeps every promise."
    remedy = "Raise check_limit or time_limit, lower a threshold, or allow more suppression."
    return InfeasibleError([Problem(f"{work.policy.name}: publish", what, remedy)])


def refuse_valued(work: Work, *, instead: str) -> None:
    """Refuse quasi-identifiers with many values and no steps between."""
    PolicyError.refuse(_valued(work, instead))


def refuse_wide(work: Work, most_nodes: int, *, instead: str) -> None:
    """Refuse quasi-identifiers without steps and lattices too large to be judged as a whole."""
    problems = _valued(work, instead)
    n_nodes = prod(len(work.table[name].levels) for name in work.quasi)
    if n_nodes > most_nodes:
        what = f"the lattice has {float(n_nodes):.3g} nodes, {most_nodes:,} at most."
        remedy = f"Use fewer levels or quasi-identifiers, or {instead}."
        problems.append(Problem(work.policy.name, what, remedy))
    PolicyError.refuse(problems)


def _valued(work: Work, instead: str) -> list[Problem]:
    return [
        Problem(
            f"{work.policy.name}: attributes.{name}",
            f"a quasi-identifier with {work.table[name].n_values:,} different values and no hierarchy.",
            f"Give it one (widths = [10, 100, 1000] for numbers), or use {instead}.",
            (Change("publish", "recoding", "mondrian"),) if instead == MONDRIAN else (),
        )
        for name in work.quasi
        if work.table[name].n_values > MANY_VALUES and len(work.table[name].levels) <= 2
    ]
