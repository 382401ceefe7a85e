"""Whether attributes that are said not to change are still what earlier releases show of persons."""

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.policy import Policy
from manyveils.reading.keys import Bools, Floats, Ids
from manyveils.table import Table
from manyveils.table.earlier import Earlier, Held

# Counts are of persons; where a label hid whose a value was, or it changed, they are sums of shares, and say nothing.
ROUNDING = 1e-6


def refuse_changed(table: Table, policy: Policy) -> None:
    """Refuse attributes that are said to be constant, and of which groups had less than their persons have now."""
    assert table.earlier is not None
    problems = []
    for name in policy.constant:
        held = table.earlier.held.get(name)
        n_changed = 0 if held is None else n_changed_persons(table, table.earlier, held, name)
        if n_changed:
            what = f"changes between releases for {n_changed:,} of {table.n_persons:,} persons at least."
            remedy = "Correct the data, or drop constant: it may then differ from release to release."
            problems.append(Problem(f"{policy.name}: attributes.{name}.constant", what, remedy))
    PolicyError.refuse(problems)


def n_changed_persons(table: Table, earlier: Earlier, held: Held, name: str) -> int:
    """How many persons of some release at least have another value now than they had in it.

    Claim: it is 0 where nobody's value changed, and above where a group had a value less often than its persons have it.
    Why: a group of an earlier release has the value of each of its persons, so of each value at least as many as those
    of its persons who are in the table and have it.
    Tested by: tests/claims/test_chain_judged.py
    """
    own = np.zeros(table.n_persons, dtype=np.int64)
    own[np.arange(table.n_rows) if table.persons is None else table.persons] = table[name].codes
    asked = _whole(held, earlier.n_groups)[earlier.groups] & (earlier.persons < own.size)
    persons, groups = earlier.persons[asked], earlier.groups[asked]
    wanted = groups * held.n_values + own[persons]
    cells = held.groups * held.n_values + held.codes
    if not cells.size:
        return 0
    nearest = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
    found = np.where(cells[nearest] == wanted, nearest, cells.size)
    has = np.append(np.rint(held.weights), 0.0)
    n_wanted = np.bincount(found, minlength=has.size)
    if not (n_wanted > has).any():
        return 0
    over = np.flatnonzero((n_wanted > has)[found])
    over = over[_place(found[over]) >= has[found[over]]]
    pairs = np.unique(earlier.release_of[groups[over]] * own.size + persons[over])
    return int(np.bincount(pairs // own.size).max())


def _whole(held: Held, n_groups: int) -> Bools:
    """The groups that have every value a whole number of times."""
    is_partly = np.abs(held.weights - np.rint(held.weights)) > ROUNDING
    whole = np.zeros(n_groups, dtype=bool)
    whole[held.groups] = True
    whole[held.groups[is_partly]] = False
    return whole


def _place(numbers: Ids) -> Floats:
    """How many equal numbers come before each."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1) > 0)
    lengths = np.diff(np.append(starts, ordered.size))
    place = np.empty(numbers.size)
    place[order] = np.arange(ordered.size) - np.repeat(starts, lengths)
    return place
