"""Neutral attributes that give a sensitive one away: near-copies of it, and what settles it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyveils.linting.finding import Doubt
from manyveils.policy import Policy
from manyveils.table import Attribute, Table

Codes = NDArray[np.int64]

# The share of what there is to learn of an attribute that another one tells.
TELLING = 0.9
# Numbers whose ranks go together so closely are two accounts of one thing.
ALIKE = 0.99
FEW_NUMBERS = 10
# Below this many rows nothing is beyond accident.
FEW_ROWS = 20
LOOKED_AT = 50_000
REMEDY = 'Set role = "sensitive" for it too, or role = "drop" to leave it out'


def copies(table: Table, policy: Policy) -> Iterator[Doubt]:
    """A doubt for every neutral attribute that tells a sensitive one, or follows from it, in nearly all rows."""
    if table.n_people < FEW_ROWS:
        return
    neutral = [name for name in policy.having("neutral") if name in table.attributes]
    protected = [name for name in policy.sensitive if name in table.attributes]
    for name in neutral:
        for sensitive in protected:
            yield from _compared(table, name, sensitive)


def _compared(table: Table, neutral: str, sensitive: str) -> Iterator[Doubt]:
    there, back = told(table, neutral, sensitive), told(table, sensitive, neutral)
    about = (neutral, sensitive)
    if there >= TELLING and back < TELLING:
        what = f"it is published as it is, and by it {sensitive} is settled for {there:.0%} of what chance leaves open."
        yield Doubt("settled", about, what, REMEDY)
    elif there >= TELLING or back >= TELLING or go_together(table[neutral], table[sensitive]) >= ALIKE:
        what = f"it is published as it is, and says nearly the same as {sensitive}, or a coarser form of it."
        yield Doubt("near-copy", about, what, REMEDY)


def told(table: Table, known: str, asked: str) -> float:
    """How much of what chance leaves open about an attribute another one tells, from 0 to 1.

    A row is told if most of the other rows with its known value have its asked one: a value that only one row has
    tells nothing of any other, and who is alone with it is the business of `singling`.
    """
    return told_by(table[known].codes, table, asked)[0]


def told_by(known: NDArray[np.int32], table: Table, asked: str) -> tuple[float, int]:
    """The same of any codes that rows are known by, and how many people are told beyond chance."""
    rows = _some(known, table.n_rows)
    left, right = known[rows].astype(np.int64), table[asked].codes[rows].astype(np.int64)
    weights = None if table.weights is None else table.weights[rows]
    if table.persons is not None:
        left, right = _once_a_person(left, right, table.persons[rows], table[asked].n_values)
    n_people = len(left) if weights is None else int(weights.sum())
    counts, groups = _joint(left, right, table[asked].n_values, weights)
    commonest = int(np.bincount(right, weights).max(initial=0))
    if commonest == n_people:
        return 0.0, 0
    beyond = _told_rows(counts, groups) - commonest
    return beyond / (n_people - commonest), beyond


def _some(codes: NDArray[np.int32], n_rows: int) -> NDArray[np.intp]:
    """All rows of some values, enough of them, drawn alike every time; a sample of rows would tear values apart."""
    if n_rows <= LOOKED_AT:
        return np.arange(n_rows)
    n_values = int(codes.max(initial=0)) + 1
    order = np.random.Generator(np.random.PCG64(0)).permutation(n_values)
    reached = np.cumsum(np.bincount(codes, minlength=n_values)[order])
    chosen = np.zeros(n_values, dtype=bool)
    chosen[order[: int(np.searchsorted(reached, LOOKED_AT)) + 1]] = True
    rows = np.flatnonzero(chosen[codes])
    # A common value may bring far more rows, of which any will do.
    return rows[:: max(1, len(rows) // LOOKED_AT)]


def _once_a_person(left: Codes, right: Codes, persons: Codes, n_right: int) -> tuple[Codes, Codes]:
    """Each person's pairs of values once, however many rows repeat them."""
    pairs = left * n_right + right
    order = np.lexsort((pairs, persons))
    is_new = np.ones(len(pairs), dtype=bool)
    is_new[1:] = (np.diff(pairs[order]) != 0) | (np.diff(persons[order]) != 0)
    kept = order[is_new]
    return left[kept], right[kept]


def _joint(left: Codes, right: Codes, n_right: int, weights: Codes | None) -> tuple[Codes, Codes]:
    """People for each pair of values, and the left value of each pair, in its order."""
    pairs, inverse = np.unique(left * n_right + right, return_inverse=True)
    counts = np.bincount(inverse, weights, minlength=len(pairs)).astype(np.int64)
    return counts, pairs // n_right


def _told_rows(counts: Codes, groups: Codes) -> int:
    """People whose value most of the others in their group have."""
    if not len(groups):
        return 0
    # The commonest value of each group stands last in it, the next one before it.
    order = np.lexsort((counts, groups))
    last = np.flatnonzero(np.append(np.diff(groups[order]) != 0, True))
    largest = counts[order][last]
    has_next = np.diff(last, prepend=-1) > 1
    following = np.where(has_next, counts[order][np.maximum(last - 1, 0)], 0)
    return int(largest[largest - 1 > following].sum())


def go_together(first: Attribute, second: Attribute) -> float:
    """How closely the ranks of two attributes of numbers go together, from 0 to 1; 0 for others, and for few numbers."""
    if first.kind != "numeric" or second.kind != "numeric":
        return 0.0
    if min(first.n_values, second.n_values) < FEW_NUMBERS or first.weights is not None:
        return 0.0
    step = max(1, len(first.codes) // LOOKED_AT)
    left, right = first.codes[::step], second.codes[::step]
    present = np.ones(len(left), dtype=bool)
    for attribute, codes in ((first, left), (second, right)):
        present &= codes < attribute.n_values - attribute.has_missing
    if present.sum() < FEW_ROWS:
        return 0.0
    ranks, others = _ranks(left[present]), _ranks(right[present])
    if np.ptp(ranks) == 0 or np.ptp(others) == 0:
        return 0.0
    return abs(float(np.corrcoef(ranks, others)[0, 1]))


def _ranks(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The rank of each row by its code, the same for equal codes."""
    counts = np.bincount(codes)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return middle[codes]
