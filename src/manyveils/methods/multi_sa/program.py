"""Integer programs over the rows of each combination, solved by HiGHS."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.methods.multi_sa.caps import Cap
from manyveils.promises.entries import Ids

Numbers = NDArray[np.float64]
LEAST_SECONDS = 0.01


@dataclass(frozen=True)
class Solved:
    """Rows of each combination, if some were found; the best that can be hoped for; whether time ran out."""

    amounts: Ids | None
    bound: float
    timed_out: bool


@dataclass(frozen=True)
class _Constraints:
    """Rows of a sparse matrix over the combinations and one total per line, with their limits."""

    rows: Ids
    columns: Ids
    factors: Numbers
    least: Numbers
    most: Numbers
    totals: Numbers


def largest(counts: Ids, caps: tuple[Cap, ...], seconds: float) -> Solved:
    """The most rows that one bucket within every cap can have."""
    every = np.arange(counts.size)
    return _solved(-1.0, np.zeros(counts.size), counts, [_within(cap, every) for cap in caps], seconds)


def smallest(left: Ids, caps: tuple[Cap, ...], among: Ids, seed: int, seconds: float) -> Solved:
    """The fewest rows, one of the combination `seed` included, that can leave: they and the rest are within every cap.

    Only combinations listed in `among` may leave.
    """
    least = (among == seed).astype(np.float64)
    parts = [_within(cap, among, cap.slack(left)) for cap in caps]
    found = _solved(1.0, least, left[among], parts, seconds)
    if found.amounts is None:
        return found
    amounts = np.zeros_like(left)
    amounts[among] = found.amounts
    return Solved(amounts, found.bound, found.timed_out)


def _within(cap: Cap, among: Ids, slack: Ids | None = None) -> _Constraints:
    """Every cell within its share of the line's total; with the slack of all rows, the rest is so too."""
    lines, line = np.unique(cap.line_of[among], return_inverse=True)
    cells, cell = np.unique(cap.cell_of[among], return_inverse=True)
    own, place, variables = np.arange(lines.size), np.arange(cells.size), np.arange(among.size)
    total_of_cell = np.searchsorted(lines, cap.line_of_cell[cells])
    # A total equals the rows of its line; a cell is at most its share of the total, and at least that less the slack.
    rows = (line, own, lines.size + cell, lines.size + place)
    columns = (variables, among.size + own, variables, among.size + total_of_cell)
    share = cap.top[cells] / cap.bottom[cells]
    factors = (-np.ones(among.size), np.ones(lines.size), np.ones(among.size), -share)
    spare = np.full(cells.size, np.inf) if slack is None else slack[cells] / cap.bottom[cells]
    return _Constraints(
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(factors),
        np.concatenate((np.zeros(lines.size), -spare)),
        np.zeros(lines.size + cells.size),
        _most_of_lines(cap, lines, cells, slack),
    )


def _most_of_lines(cap: Cap, lines: Ids, cells: Ids, slack: Ids | None) -> Numbers:
    """How many rows may leave each line, so that the cells nothing leaves stay within their share of the rest."""
    most = np.full(int(cap.line_of.max()) + 1, np.inf)
    if slack is not None:
        stays = np.ones(slack.size, dtype=bool)
        stays[cells] = False
        np.minimum.at(most, cap.line_of_cell[stays], slack[stays] // cap.top[stays])
    return most[lines]


def _solved(sign: float, least: Numbers, most: Ids, parts: list[_Constraints], seconds: float) -> Solved:
    from scipy.optimize import Bounds, milp

    n_totals = sum(part.totals.size for part in parts)
    is_variable = np.concatenate((np.ones(most.size), np.zeros(n_totals)))
    answer = milp(
        sign * is_variable,
        # Totals are whole anyhow; HiGHS 1.12 crashes on some programs in which they may be anything.
        integrality=np.ones(is_variable.size),
        bounds=Bounds(
            np.concatenate((least, np.zeros(n_totals))),
            np.concatenate((most, *(part.totals for part in parts))),
        ),
        constraints=_together(parts, most.size, n_totals),
        options={"time_limit": max(seconds, LEAST_SECONDS), "mip_rel_gap": 0.0},
    )
    amounts = None if answer.x is None else np.round(answer.x[: most.size]).astype(np.int64)
    bound = sign * answer.mip_dual_bound if answer.mip_dual_bound is not None else float(most.sum())
    return Solved(amounts, float(bound), answer.status == 1)


def _together(parts: list[_Constraints], n_variables: int, n_totals: int) -> Any:
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array

    rows, columns, n_rows, before = [], [], 0, 0
    for part in parts:
        rows.append(part.rows + n_rows)
        # Every part has totals of its own behind the variables, which all parts share.
        columns.append(np.where(part.columns < n_variables, part.columns, part.columns + before))
        n_rows += part.least.size
        before += part.totals.size
    factors = np.concatenate([part.factors for part in parts])
    matrix = csr_array(
        (factors, (np.concatenate(rows), np.concatenate(columns))), shape=(n_rows, n_variables + n_totals)
    )
    return LinearConstraint(
        matrix, np.concatenate([part.least for part in parts]), np.concatenate([part.most for part in parts])
    )
