"""What the worlds of a block tell: the mean number of people of each kind, and which kinds are possible.

Means are counted kind after kind, remembering only how many people each row still lacks; where there are too many
worlds, they are fitted.
What is possible is found exactly by constraint solving (CP-SAT), or within bounds by linear programming (HiGHS). There,
counts may be fractions: what is found impossible is impossible, but some of it may be missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, identity

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.worlds.blocks import CALL, CELL, CHOICE, PIVOT, SCALING, Block, Effort

LEAST_ROUNDS, MOST_ROUNDS = 20, 500
CLOSE = 1e-7
A_WHILE = 0.3
ROUNDING = 1e-6

State = tuple[int, ...]
Level = dict[State, int]


class Undecided(Exception):
    """It cannot be told with the effort or the memory that is allowed, or the solver is not installed."""


@dataclass(frozen=True)
class _Step:
    """A kind whose number is chosen: its rows, and how many people later kinds can still bring to each."""

    kind: int
    rows: State
    later: dict[int, int]
    low: int
    high: int
    ways: int


def mean_people(block: Block, limit: int, effort: Effort) -> Floats:
    """The mean number of people of each kind over all worlds of a block, which are counted exactly.

    `Undecided` if more than the limit would have to be remembered, or worked.
    """
    steps = list(_steps(block))
    levels: list[Level] = [{tuple(block.totals.tolist()): 1}]
    remembered = 1
    for step in steps:
        level: Level = {}
        for state, weight in levels[-1].items():
            for _, after, factor in _choices(state, step):
                level[after] = level.get(after, 0) + weight * factor
                # Going back takes as much again.
                effort.spend(2 * CHOICE)
            if remembered + len(level) > limit or effort.is_spent:
                raise Undecided
        remembered += len(level)
        levels.append(level)
    return _means(block, steps, levels)


def _means(block: Block, steps: list[_Step], levels: list[Level]) -> Floats:
    """Go back from the end, adding up how often each number of people was chosen."""
    final = levels[-1]
    total = sum(final.values())
    expected = np.zeros(block.size)
    onwards: Level = dict.fromkeys(final, 1)
    for step, level in reversed([*zip(steps, levels[:-1], strict=True)] if total else []):
        people, before = 0, {}
        for state, weight in level.items():
            ahead = 0
            for n, after, factor in _choices(state, step):
                reached = factor * onwards.get(after, 0)
                ahead += reached
                people += n * weight * reached
            before[state] = ahead
        expected[step.kind] = people / total
        onwards = before
    return expected


def _choices(state: State, step: _Step) -> Iterator[tuple[int, State, int]]:
    """Each number of people that may be of this kind, what is lacking then, and in how many ways they are chosen."""
    lacking = [state[row] for row in step.rows]
    low, high = step.low, min(step.high, *lacking)
    for row, lacks in zip(step.rows, lacking, strict=True):
        low = max(low, lacks - step.later[row])
    for n in range(low, high + 1):
        after = list(state)
        for row in step.rows:
            after[row] -= n
        yield n, tuple(after), comb(lacking[0], n) * step.ways**n


def _steps(block: Block) -> Iterator[_Step]:
    later = block.in_rows(block.high)
    for kind in _order(block).tolist():
        rows = tuple(row for row in block.rows[:, kind].tolist() if row >= 0)
        high = int(block.high[kind])
        for row in rows:
            later[row] -= high
        ahead = {row: int(later[row]) for row in rows}
        yield _Step(kind, rows, ahead, int(block.low[kind]), high, int(block.ways[kind]))


def _order(block: Block) -> Ids:
    """Row by row, the one with fewest kinds left first, so that few rows are half full at a time."""
    left = np.ones(block.size, dtype=bool)
    begun = np.zeros(block.totals.size, dtype=bool)
    order: list[int] = []
    while left.any():
        n_left = block.in_rows(left)
        waiting = np.flatnonzero(n_left)
        row = min(waiting.tolist(), key=lambda row: (n_left[row] - 2 * begun[row], row))
        chosen = np.flatnonzero(left & (block.rows == row).any(axis=0))
        order += chosen.tolist()
        met = block.rows[:, chosen].ravel()
        begun[met[met >= 0]] = True
        left[chosen] = False
    return np.array(order, dtype=np.int64)


def fitted_people(block: Block, effort: Effort) -> Floats:
    """The numbers of people per kind that are likeliest among very many worlds: iterative proportional fitting.

    Every row in turn is scaled to the people that stand in it, over and over. Where the views hang together as a tree,
    or there is one view only, this is the exact mean; elsewhere it is the estimate of least assumption, good for many
    people and rough for few. It is kept between the least and the most people of each kind.
    """
    people, totals = block.ways.astype(np.float64), block.totals
    for turn in range(MOST_ROUNDS):
        furthest = 0.0
        for rows in block.rows:
            reached = np.bincount(rows + 1, weights=people, minlength=totals.size + 1)[1:]
            # Who stands in no row of a column has the last factor.
            factor = np.divide(totals, reached, out=np.zeros(totals.size), where=reached > 0)
            factor = np.append(factor, 1.0)[rows]
            people = people * factor
            furthest = max(furthest, float(np.abs(factor - 1)[people > CLOSE].max(initial=0)))
        effort.spend(SCALING * (block.rows.size + totals.size))
        if furthest < CLOSE or (turn >= LEAST_ROUNDS and effort.is_spent):
            break
    return np.clip(people, block.low, block.high)


def possible_exactly(block: Block, effort: Effort) -> Bools:
    """Which kinds somebody is of in some world: world after world, until no world shows a new one; or `Undecided`."""
    possible = np.zeros(block.size, dtype=bool)
    while not possible.all():
        left = np.flatnonzero(~possible)
        world = _with_some(block, left, effort)
        if world is None:
            break
        possible[left[world[left] >= 1]] = True
    return possible


def _with_some(block: Block, kinds: Ids, effort: Effort) -> Ids | None:
    """A world with people of many of some kinds; None if it has been proven that no world has any."""
    cp_model = _cp_model()
    model, people = _model(block, effort)
    flags = [model.new_bool_var("") for _ in kinds]
    for kind, flag in zip(kinds.tolist(), flags, strict=True):
        model.add(people[kind] >= 1).only_enforce_if(flag)
    model.add_bool_or(flags)
    model.maximize(sum(flags))
    # A good world soon leads on better than the best one late.
    for units in (A_WHILE, float("inf")):
        solver, status = _decided(model, min(units, effort.left), effort)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return np.array([solver.value(number) for number in people], dtype=np.int64)
        if status == cp_model.INFEASIBLE:
            return None
    raise Undecided


def _model(block: Block, effort: Effort) -> tuple[Any, list[Any]]:
    """The worlds of a block, and a variable for the people of each kind."""
    model = _cp_model().CpModel()
    effort.spend(CALL + CELL * block.rows.size)
    bounds = zip(block.low.tolist(), block.high.tolist(), strict=True)
    people = [model.new_int_var(low, high, "") for low, high in bounds]
    matrix = block.matrix.tocsr()
    for row, total in enumerate(block.totals.tolist()):
        inside = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        model.add(sum(people[kind] for kind in inside.tolist()) == total)
    return model, people


def _decided(model: Any, units: float, effort: Effort) -> tuple[Any, Any]:
    """The solver after it worked on a model, and what became of it."""
    if effort.is_spent:
        raise Undecided
    solver = _cp_model().CpSolver()
    # One worker and no clock: the same question gets the same answer on any machine.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    # Otherwise the solver takes Ctrl-C for itself, and leaves it so that it ends the process on the spot.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.max_deterministic_time = units
    status = solver.solve(model)
    effort.spend(CALL + solver.response_proto.deterministic_time)
    return solver, status


def _cp_model() -> Any:
    """The solver, which the extra `attack` brings; without it there are bounds only."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise Undecided from None
    return cp_model


def possible_at_most(block: Block, effort: Effort) -> Bools:
    """Which kinds somebody may be of in some world; false is proven, and what there is no effort left for is true."""
    possible = np.zeros(block.size, dtype=bool)
    while not possible.all():
        left = np.flatnonzero(~possible)
        world = _widest(block, left, effort)
        if world is None:
            possible[left] = True
        elif (world[left] >= 1 - ROUNDING).any():
            possible[left] = world[left] >= 1 - ROUNDING
        else:
            return possible | _reached(block, left, effort)
    return possible


def _reached(block: Block, kinds: Ids, effort: Effort) -> Bools:
    """Which of some kinds reach one person, asked one by one."""
    reached = np.zeros(block.size, dtype=bool)
    for kind in kinds.tolist():
        if not reached[kind]:
            weights = np.where(np.arange(block.size) == kind, -1.0, 0.0)
            world = _best(block, weights, block.matrix.tocsr(), effort)
            if world is None:
                reached[kind] = True
            else:
                reached[kinds] |= world[kinds] >= 1 - ROUNDING
    return reached


def _widest(block: Block, kinds: Ids, effort: Effort) -> Floats | None:
    """A world in which as many of these kinds as possible have someone, counting each at most once."""
    n = kinds.size
    inside = coo_array((np.ones(n), (np.arange(n), kinds)), shape=(n, block.size))
    rows = hstack([block.matrix, coo_array((block.totals.size, n))]).tocsr()
    weights = np.concatenate([np.zeros(block.size), -np.ones(n)])
    world = _best(block, weights, rows, effort, hstack([-inside, identity(n)]).tocsr())
    return None if world is None else world[: block.size]


def _best(
    block: Block, weights: Floats, rows: csr_array, effort: Effort, below: csr_array | None = None
) -> Floats | None:
    """A world in which a sum of people is least; variables beyond the kinds lie between 0 and 1."""
    step = PIVOT * (weights.size + block.totals.size)
    most = int(effort.left / step)
    if most <= 0:
        return None
    more = np.tile([0.0, 1.0], (weights.size - block.size, 1))
    result = linprog(
        weights,
        A_eq=rows,
        b_eq=block.totals,
        A_ub=below,
        b_ub=None if below is None else np.zeros(below.shape[0]),
        bounds=np.concatenate([np.stack([block.low, block.high], axis=1), more]),
        method="highs-ds",
        options={"maxiter": most},
    )
    effort.spend(CALL + step * max(int(result.nit), 1))
    return np.asarray(result.x) if result.status == 0 else None
