"""The share of alike rows that each sensitive value may fill, and integer programs (HiGHS) over buckets within the shares."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    Diverse,
    FrequencyDiversity,
    Guarantee,
    Linkability,
)
from manyveils.promises.entries import Ids, dense, examples, numbered
from manyveils.promises.work import Work
from manyveils.table import Table

Numbers = NDArray[np.float64]
LEAST_SECONDS = 0.01
MOST_COMBINATIONS = 20_000


@dataclass(frozen=True)
class Combinations:
    """Every combination of sensitive values in the table, numbered in the order of their codes, with a row of each."""

    names: tuple[str, ...]
    of_row: Ids
    example: Ids

    @property
    def counts(self) -> Ids:
        """Rows per combination."""
        return np.bincount(self.of_row, minlength=self.example.size)


def combinations_of(work: Work, names: tuple[str, ...]) -> Combinations:
    """Count the combinations of some attributes; too many are refused, for no program could handle them."""
    of_row, n_combinations = numbered(work.table, names)
    if n_combinations > MOST_COMBINATIONS:
        what = f"the sensitive attributes have {n_combinations} different combinations; "
        what += f"multi-sa takes at most {MOST_COMBINATIONS}."
        remedy = 'Make them coarser, protect fewer of them, or use method = "guardian" or "anatomize".'
        raise PolicyError.at(work.policy.name, what, remedy)
    return Combinations(names, of_row, examples(of_row, n_combinations))


def _numbered(table: Table, names: tuple[str, ...], rows: Ids) -> tuple[Ids, int]:
    """The combination of each listed row, and how many combinations there are."""
    return dense(tuple(codes[rows] for codes in table.codes(names)), table.sizes(names), rows.size)


@dataclass(frozen=True)
class Cap:
    """The share of a line that each value of one protected attribute may fill.

    A line holds the combinations that someone who knows the other sensitive attributes cannot tell apart;
    a cell holds those of a line that have the same protected value. `top / bottom` is the share of a cell.
    """

    line_of: Ids
    cell_of: Ids
    line_of_cell: Ids
    top: Ids
    bottom: Ids

    def slack(self, amounts: Ids) -> Ids:
        """How far each cell is below its share, times `bottom`; negative where it is above."""
        lines = _summed(self.line_of, amounts)[self.line_of_cell]
        return self.top * lines - self.bottom * _summed(self.cell_of, amounts)

    def allowed(self, amounts: Ids) -> Ids:
        """How many rows each cell may have, with its line as it is."""
        return self.top * _summed(self.line_of, amounts)[self.line_of_cell] // self.bottom

    @property
    def is_simple(self) -> bool:
        """Whether no cell holds more than one combination; multi-valued attributes are not so."""
        return self.line_of_cell.size == self.cell_of.size


def _summed(owners: Ids, amounts: Ids) -> Ids:
    # Sums of rows are whole numbers far below 2^53, so weighing in floats is exact.
    return np.bincount(owners, weights=amounts).astype(np.int64)


def keeps(amounts: Ids, caps: tuple[Cap, ...]) -> bool:
    """Whether a bucket with these rows of each combination is within every share."""
    return bool((amounts >= 0).all()) and all((cap.slack(amounts) >= 0).all() for cap in caps)


def caps_of(work: Work, combinations: Combinations) -> tuple[Cap, ...]:
    """One cap for every attribute or combination whose values some promise bounds the share of.

    Claim: a bucket within every cap keeps every rule, whatever it takes as known, and every promise of frequency,
    of distinct or of entropy diversity, conditional or not.
    Why: a line is what the strongest adversary sees. Who knows less sees several lines as one, and shares that hold
    in each of them hold in their sum. No value above one l-th means l values or more, and entropy of log l or more.
    Where values ask for different l, buckets that break distinct l are merged afterwards.
    Tested by: tests/claims/test_multi_sa.py
    """
    bounded = dict.fromkeys(
        (promise.protects, promise.guarantee.level)
        for promise in work.promises
        if (share_of(promise.guarantee) or 1) < 1
    )
    return tuple(_cap(work, combinations, protects, level) for protects, level in bounded)


def share_of(guarantee: Guarantee, text: str | None = None) -> Fraction | None:
    """The share that a value may not exceed, or the strictest of all; nothing for guarantees that do not bound it.

    What is exempt from a larger l of entropy or recursive diversity is not in a mixture, so there all share the strictest.
    """
    match guarantee:
        case FrequencyDiversity() | DistinctDiversity() if text is not None:
            return Fraction(1, guarantee.l_for(text))
        case Diverse():
            return Fraction(1, guarantee.strongest)
        case CappedShare(alpha=bound) | Linkability(epsilon=bound):
            return bound
    return None


def _cap(work: Work, combinations: Combinations, protects: tuple[str, ...], level: int) -> Cap:
    table, rows = work.table, combinations.example
    values, n_values = _numbered(table.at_level(protects, level), protects, rows)
    lines, n_lines = _numbered(table, _known(table, combinations.names, protects), rows)
    cell_of, n_cells = dense((lines, values), (n_lines, n_values), rows.size)
    inside = examples(cell_of, n_cells)
    return Cap(lines, cell_of, lines[inside], *_shares(work, protects, level, rows[inside]))


def _known(table: Table, names: tuple[str, ...], protects: tuple[str, ...]) -> tuple[str, ...]:
    """What is taken as known: the other attributes; nothing beside a combination, which is promised as it is."""
    if len(protects) > 1:
        return ()
    return tuple(name for name in names if table.home(name) != table.home(protects[0]))


def _shares(work: Work, protects: tuple[str, ...], level: int, rows: Ids) -> tuple[Ids, Ids]:
    """The smallest share that is promised of the value, or of the label, of each row, as a fraction; 1 where nothing is."""
    top, bottom = np.ones((2, rows.size), dtype=np.int64)
    for promise in work.promises:
        if (promise.protects, promise.guarantee.level) == (protects, level):
            for share, concerned in _bounded(promise, work.table, rows):
                is_stricter = concerned & (share.numerator * bottom < share.denominator * top)
                top[is_stricter], bottom[is_stricter] = share.numerator, share.denominator
    return top, bottom


def _bounded(promise: Promise, table: Table, rows: Ids) -> Iterator[tuple[Fraction, NDArray[np.bool_]]]:
    """The shares that a promise bounds values by, each with the rows whose value it speaks of; all have combinations."""
    guarantee = promise.guarantee
    strictest = share_of(guarantee)
    if strictest is None:
        return
    if len(promise.protects) > 1:
        yield strictest, np.ones(rows.size, dtype=bool)
        return
    attribute = table[promise.protects[0]]
    spared, listed = promise.insensitive, guarantee.listed or attribute.texts
    named = np.array([text in listed and text not in spared for text in attribute.texts])
    labels = attribute.at_level(guarantee.level)
    concerned = attribute.labels_of(named, guarantee.level)
    shares = [share_of(guarantee, text) for text in labels.texts]
    for share in dict.fromkeys(shares):
        assert share is not None
        own = np.array([other == share for other in shares])
        yield share, (concerned & own)[labels.codes[rows]]


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
