"""Pairs of neutral attributes that settle a sensitive one together, although neither does so alone."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.linting.copies import FEW_ROWS, TELLING, told_by
from manyveils.linting.finding import Doubt
from manyveils.policy import Policy
from manyveils.table import Table

Names = tuple[str, ...]

# So many rows refute a pair: within fewer rows the commonest values of groups are never rarer, but for accident.
SAMPLE = 16_384
FAR_BELOW = 0.15
# Counting all combinations takes less time than sorting rows, while there are not more.
MANY_COUNTS = 1 << 18
# So many pairs are compared with a sample, and so many of those that stand it with all rows.
MOST_PAIRS, MOST_MEASURED = 20_000, 200
REMEDY = 'Set role = "sensitive" for one of them too, or role = "drop" to leave it out'


def settling(table: Table, policy: Policy, alone: AbstractSet[Names]) -> Iterator[Doubt]:
    """A doubt for every two neutral attributes by which a sensitive one is settled; `alone` lists what is in doubt by itself.

    Those with fewest values together come first, and an attribute stands in one pair for a sensitive one, if that is
    not accepted. Where there are rules, their methods decide what stands together.
    """
    if table.n_people < FEW_ROWS or policy.rules:
        return
    neutral = [
        name for name in policy.having("neutral") if name in table.attributes and table[name].n_values > 1
    ]
    protected = [name for name in policy.sensitive if name in table.attributes]
    pairs = sorted(combinations(neutral, 2), key=lambda pair: _size(table, pair))
    sample, taken, n_measured = _sample(table), {name: set[str]() for name in protected}, 0
    asked = [(pair, name) for pair in pairs for name in protected]
    for pair, name in asked[:MOST_PAIRS]:
        if not taken[name].isdisjoint(pair) or any((one, name) in alone for one in pair):
            continue
        if n_measured == MOST_MEASURED or _is_refuted(table, pair, name, sample):
            continue
        n_measured += 1
        share, beyond = told_by(_together(table, pair), table, name)
        # A handful who have a rare value may stand in groups of their own by accident.
        if share >= TELLING and beyond >= FEW_ROWS:
            doubt = _doubt(pair, name, share)
            yield doubt
            taken[name].update(() if doubt.is_accepted(policy.accept) else pair)


def _doubt(pair: Names, name: str, share: float) -> Doubt:
    what = f"by {' and '.join(pair)} together, which are published as they are, {name} is settled for {share:.0%} "
    return Doubt("settled", (*pair, name), f"{what}of what chance leaves open.", REMEDY)


def _size(table: Table, pair: Names) -> int:
    return table[pair[0]].n_values * table[pair[1]].n_values


def _together(table: Table, pair: Names) -> NDArray[np.int32]:
    """A number for each row, the same for rows alike in both attributes, from 0 without large gaps."""
    first, second = pair
    codes = table[first].codes.astype(np.int64) * table[second].n_values + table[second].codes
    if _size(table, pair) > MANY_COUNTS:
        codes = np.unique(codes, return_inverse=True)[1]
    return codes.astype(np.int32)


def _sample(table: Table) -> NDArray[np.intp] | None:
    """Some rows, one of a person, drawn alike every time; none where rows stand for different numbers of people."""
    if table.weights is not None:
        return None
    rows = np.arange(table.n_rows)
    if table.persons is not None:
        order, starts = table.by_person
        rows = order[starts[:-1][np.diff(starts) > 0]]
    return np.random.Generator(np.random.PCG64(0)).permutation(rows)[:SAMPLE]


def _is_refuted(table: Table, pair: Names, name: str, sample: NDArray[np.intp] | None) -> bool:
    """Whether the commonest value of each group in a sample tells far too little, however it is counted."""
    n_values = table[name].n_values
    n_counts = _size(table, pair) * n_values
    if sample is None or n_counts > MANY_COUNTS:
        return False
    first, second = (table[one].codes[sample].astype(np.int64) for one in pair)
    right = table[name].codes[sample]
    cells = (first * table[pair[1]].n_values + second) * n_values + right
    largest = np.bincount(cells, minlength=n_counts).reshape(-1, n_values).max(axis=1).sum()
    commonest = np.bincount(right).max()
    return bool(largest - commonest < (TELLING - FAR_BELOW) * (len(sample) - commonest))
