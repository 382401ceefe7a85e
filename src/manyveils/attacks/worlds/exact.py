"""What holds in every world of a block, and what in none: constraint solving (CP-SAT)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyveils.attacks.people import Bools, Ids
from manyveils.attacks.worlds.blocks import Block
from manyveils.attacks.worlds.effort import CALL, CELL, Effort

A_WHILE = 0.3


class Undecided(Exception):
    """The solver could not decide with the effort it had, or is not installed."""


@dataclass(frozen=True, repr=False)
class Worlds:
    """The possible worlds of a block, open to questions; each question is answered exactly, or `Undecided`."""

    block: Block
    effort: Effort

    def possible(self) -> Bools:
        """Which kinds somebody is of in some world: world after world, until no world shows a new one."""
        possible = np.zeros(self.block.size, dtype=bool)
        while not possible.all():
            left = np.flatnonzero(~possible)
            model, people = self._model()
            flags = [model.new_bool_var("") for _ in left]
            for kind, flag in zip(left.tolist(), flags, strict=True):
                model.add(people[kind] >= 1).only_enforce_if(flag)
            model.add_bool_or(flags)
            model.maximize(sum(flags))
            world = self._good(model, people)
            if world is None:
                break
            possible[left[world[left] >= 1]] = True
        return possible

    def between(self, group: Ids) -> tuple[int, int]:
        """The least and the most people that a group of kinds has in any world."""
        ends = []
        for sign in (1, -1):
            model, people = self._model()
            model.minimize(sign * sum(people[kind] for kind in group.tolist()))
            ends.append(int(self._best(model, people)[group].sum()))
        return ends[0], ends[1]

    def _model(self) -> tuple[Any, list[Any]]:
        block, model = self.block, _cp_model().CpModel()
        self.effort.spend(CALL + CELL * block.rows.size)
        people = [
            model.new_int_var(low, high, "")
            for low, high in zip(block.low.tolist(), block.high.tolist(), strict=True)
        ]
        matrix = block.matrix.tocsr()
        for row, total in enumerate(block.totals.tolist()):
            inside = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            model.add(sum(people[kind] for kind in inside.tolist()) == total)
        return model, people

    def _best(self, model: Any, people: list[Any]) -> Ids:
        """The best world; that there is none better has been proven."""
        solver, status = self._solved(model, self.effort.left)
        if status != _cp_model().OPTIMAL:
            raise Undecided
        return _world(solver, people)

    def _good(self, model: Any, people: list[Any]) -> Ids | None:
        """A good world; nothing if it has been proven that there is none."""
        cp_model = _cp_model()
        # A good world soon leads on better than the best one late.
        for units in (A_WHILE, float("inf")):
            solver, status = self._solved(model, min(units, self.effort.left))
            if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return _world(solver, people)
            if status == cp_model.INFEASIBLE:
                return None
        raise Undecided

    def _solved(self, model: Any, units: float) -> tuple[Any, Any]:
        """The solver after it worked on a model, and what became of it."""
        if self.effort.is_spent:
            raise Undecided
        solver = _cp_model().CpSolver()
        # One worker and no clock: the same question gets the same answer on any machine.
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        # Otherwise the solver takes Ctrl-C for itself, and leaves it so that it ends the process on the spot.
        solver.parameters.catch_sigint_signal = False
        solver.parameters.max_deterministic_time = units
        status = solver.solve(model)
        self.effort.spend(CALL + solver.response_proto.deterministic_time)
        return solver, status


def _world(solver: Any, people: list[Any]) -> Ids:
    """The number of people of each kind that a solver found."""
    return np.array([solver.value(number) for number in people], dtype=np.int64)


def _cp_model() -> Any:
    """The solver, which the extra `attack` brings; without it there are bounds only."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise Undecided from None
    return cp_model
