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
    """Rows of each combination, if a solution was found; the best that can be hoped for; whether time ran out."""

    amounts: Ids | None
    bound: float
    timed_out: bool


@dataclass(frozen=True)
class _Constraints:
    """Sparse matrices over the combinations and over one total per line, and limits of both."""

    amounts: Any
    totals: Any
    least: Numbers
    largest_totals: Numbers


def largest(counts: Ids, caps: tuple[Cap, ...], seconds: float) -> Solved:
    """The most rows that one bucket within every cap can have."""
    every = np.arange(counts.size)
    return _solved(-1.0, np.zeros(counts.size), counts, [_within(cap, every) for cap in caps], seconds)


def smallest(left: Ids, caps: tuple[Cap, ...], among: Ids, seed: int, seconds: float) -> Solved:
    """The fewest rows, one of the combination `seed` included, that can leave: they and the rest are within every cap.

    Only combinations listed in `among` may leave.
    """
    least = (among == seed).astype(np.float64)
    constraints = [_within(cap, among, cap.slack(left)) for cap in caps]
    solved = _solved(1.0, least, left[among], constraints, seconds)
    if solved.amounts is None:
        return solved
    amounts = np.zeros_like(left)
    amounts[among] = solved.amounts
    return Solved(amounts, solved.bound, solved.timed_out)


def _within(cap: Cap, among: Ids, slack: Ids | None = None) -> _Constraints:
    """Every cell within its share of the line's total; with the slack of all rows, the rest is so too.

    A total equals the rows of its line; a cell is at most its share of the total, and at least that less the slack.
    """
    from scipy.sparse import csr_array

    lines, line = np.unique(cap.line_of[among], return_inverse=True)
    cells, cell = np.unique(cap.cell_of[among], return_inverse=True)
    height = lines.size + cells.size
    of_amounts = np.append(line, lines.size + cell), np.tile(np.arange(among.size), 2)
    total_of_cell = np.searchsorted(lines, cap.line_of_cell[cells])
    of_totals = np.arange(height), np.append(np.arange(lines.size), total_of_cell)
    shares = np.append(np.ones(lines.size), -cap.top[cells] / cap.bottom[cells])
    spare = np.full(cells.size, np.inf) if slack is None else slack[cells] / cap.bottom[cells]
    return _Constraints(
        csr_array((np.repeat([-1.0, 1.0], among.size), of_amounts), shape=(height, among.size)),
        csr_array((shares, of_totals), shape=(height, lines.size)),
        np.append(np.zeros(lines.size), -spare),
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
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_diag, hstack, vstack

    largest_totals = np.concatenate([part.largest_totals for part in parts])
    is_amount = np.append(np.ones(most.size), np.zeros(largest_totals.size))
    # Every cap has totals of its own behind the amounts, which all caps share.
    matrix = hstack([vstack([part.amounts for part in parts]), block_diag([part.totals for part in parts])])
    answer = milp(
        sign * is_amount,
        # Totals are whole anyhow; HiGHS 1.12 crashes on some programs in which they may be anything.
        integrality=np.ones(is_amount.size),
        bounds=Bounds(np.append(least, np.zeros(largest_totals.size)), np.append(most, largest_totals)),
        constraints=LinearConstraint(matrix.tocsr(), np.concatenate([part.least for part in parts]), 0.0),
        options={"time_limit": max(seconds, LEAST_SECONDS), "mip_rel_gap": 0.0},
    )
    amounts = None if answer.x is None else np.round(answer.x[: most.size]).astype(np.int64)
    bound = sign * answer.mip_dual_bound if answer.mip_dual_bound is not None else float(most.sum())
    return Solved(amounts, float(bound), answer.status == 1)
