"""The share of rows that look alike to someone which each sensitive value may fill: the constraints on every bucket."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from manyveils.errors import PolicyError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    CappedShare,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Guarantee,
    Linkability,
    RecursiveDiversity,
)
from manyveils.promises.entries import Ids, dense
from manyveils.promises.work import Work
from manyveils.table import Table

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
    of_row, n_combinations = _numbered(work.table, names, np.arange(work.table.n_rows))
    if n_combinations > MOST_COMBINATIONS:
        what = f"the sensitive attributes have {n_combinations} different combinations; "
        what += f"multi-sa takes at most {MOST_COMBINATIONS}."
        remedy = 'Make them coarser, protect fewer of them, or use method = "guardian" or "anatomize".'
        raise PolicyError([Problem(work.policy.name, what, remedy)])
    return Combinations(names, of_row, _examples(of_row, n_combinations))


def _numbered(table: Table, names: tuple[str, ...], rows: Ids) -> tuple[Ids, int]:
    """The combination of each listed row, and how many combinations there are."""
    return dense(tuple(codes[rows] for codes in table.codes(names)), table.sizes(names), rows.size)


def _examples(numbers: Ids, n_numbers: int) -> Ids:
    """Where each number occurs last."""
    example = np.zeros(n_numbers, dtype=np.int64)
    example[numbers] = np.arange(numbers.size)
    return example


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
    Tested by: tests/claims/test_multi_sa.py
    """
    bounded = dict.fromkeys(
        promise.protects for promise in work.promises if (share_of(promise.guarantee) or 1) < 1
    )
    return tuple(_cap(work, combinations, protects) for protects in bounded)


def share_of(guarantee: Guarantee) -> Fraction | None:
    """The share that no value may exceed; nothing for guarantees that do not bound it."""
    match guarantee:
        case (
            FrequencyDiversity(l=l) | DistinctDiversity(l=l) | EntropyDiversity(l=l) | RecursiveDiversity(l=l)
        ):
            return Fraction(1, l)
        case CappedShare(alpha=bound) | Linkability(epsilon=bound):
            return bound
        case _:
            return None


def _cap(work: Work, combinations: Combinations, protects: tuple[str, ...]) -> Cap:
    table, rows = work.table, combinations.example
    values, n_values = _numbered(table, protects, rows)
    lines, n_lines = _numbered(table, _known(table, combinations.names, protects), rows)
    cell_of, n_cells = dense((lines, values), (n_lines, n_values), rows.size)
    inside = _examples(cell_of, n_cells)
    return Cap(lines, cell_of, lines[inside], *_shares(work, protects, rows[inside]))


def _known(table: Table, names: tuple[str, ...], protects: tuple[str, ...]) -> tuple[str, ...]:
    """What is taken as known: the other attributes; nothing beside a combination, which is promised as it is."""
    if len(protects) > 1:
        return ()
    return tuple(name for name in names if table.home(name) != table.home(protects[0]))


def _shares(work: Work, protects: tuple[str, ...], rows: Ids) -> tuple[Ids, Ids]:
    """The smallest share that is promised of the value of each row, as a fraction; 1 where nothing is."""
    top, bottom = np.ones(rows.size, dtype=np.int64), np.ones(rows.size, dtype=np.int64)
    for promise in work.promises:
        share = share_of(promise.guarantee)
        if share and promise.protects == protects:
            is_stricter = share.numerator * bottom < share.denominator * top
            is_stricter &= _concerns(promise, work.table, rows)
            top[is_stricter], bottom[is_stricter] = share.numerator, share.denominator
    return top, bottom


def _concerns(promise: Promise, table: Table, rows: Ids) -> NDArray[np.bool_]:
    """Whether a promise is about the value that a row has; it is about every combination."""
    if len(promise.protects) > 1:
        return np.ones(rows.size, dtype=bool)
    attribute = table[promise.protects[0]]
    listed = promise.guarantee.values if isinstance(promise.guarantee, CappedShare) else ()
    concerned = np.array(
        [text not in promise.insensitive and (not listed or text in listed) for text in attribute.texts]
    )
    return concerned[attribute.codes[rows]]
