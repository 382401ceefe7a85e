"""Persons who have several rows, counted once in every group; rows come person after person."""

import numpy as np

from manyveils.compiling import kernel

NOWHERE = -1
NOBODY = -1


@kernel
def first_of_person(
    starts: np.ndarray, units: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which rows are a person's first in their unit, which her first with their value there, and her rows in the unit.

    Person p has the rows from `starts[p]` to `starts[p + 1]`; a row with a negative unit is nowhere.
    """
    is_first = np.zeros(units.size, np.bool_)
    is_new = np.zeros(units.size, np.bool_)
    n_rows = np.zeros(units.size, np.int64)
    for person in range(starts.size - 1):
        start, stop = starts[person], starts[person + 1]
        for row in range(start, stop):
            unit, value = units[row], values[row]
            if unit < 0:
                continue
            is_first[row] = is_new[row] = True
            for other in range(start, stop):
                if units[other] != unit:
                    continue
                n_rows[row] += 1
                if other < row:
                    is_first[row] = False
                    if values[other] == value:
                        is_new[row] = False
    return is_first, is_new, n_rows


@first_of_person.of_few
def _first_of_few(
    starts: np.ndarray, units: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    persons = np.zeros(units.size, np.int64)
    np.add.at(persons, starts[1:-1][starts[1:-1] < units.size], 1)
    return first_by_sorting(np.cumsum(persons), units, values)


def first_by_sorting(
    persons: np.ndarray, units: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `first_of_person`, for persons with any number of rows; rows have persons."""
    order = np.lexsort((np.arange(units.size), values, units, persons))
    new_unit = _changes(persons[order]) | _changes(units[order])
    new_value = new_unit | _changes(values[order])
    numbers = np.cumsum(new_unit) - 1
    n_rows = np.bincount(numbers)[numbers] if units.size else numbers
    is_there = units[order] >= 0
    firsts = np.empty(units.size, np.bool_), np.empty(units.size, np.bool_), np.empty(units.size, np.int64)
    for result, ordered in zip(
        firsts, (new_unit & is_there, new_value & is_there, n_rows * is_there), strict=True
    ):
        result[order] = ordered
    return firsts


def _changes(numbers: np.ndarray) -> np.ndarray:
    changes = np.ones(numbers.size, np.bool_)
    changes[1:] = numbers[1:] != numbers[:-1]
    return changes


@kernel
def are_matched(
    starts: np.ndarray, value_starts: np.ndarray, persons: np.ndarray, wanted: np.ndarray, n_persons: int
) -> np.ndarray:
    """Which units have as many persons as wanted with different values, a different one each.

    Unit u has the values from `starts[u]` to `starts[u + 1]`, and value v is held by the persons from
    `value_starts[v]` to `value_starts[v + 1]`.

    Claim: values find persons as long as more pairs are possible.
    Why: a value that finds no free person frees one along an alternating path if there is one (Berge).
    Tested by: tests/claims/test_crowds.py
    """
    value_of = np.full(n_persons, NOBODY, np.int64)
    person_of = np.full(value_starts.size, NOBODY, np.int64)
    came_by = np.full(n_persons, NOBODY, np.int64)
    queue = np.empty(value_starts.size, np.int64)
    is_enough = np.zeros(starts.size - 1, np.bool_)
    for unit in range(starts.size - 1):
        n_pairs = 0
        for value in range(starts[unit], starts[unit + 1]):
            if n_pairs >= wanted[unit]:
                break
            queue[0] = value
            head, tail, free = 0, 1, NOBODY
            while head < tail and free == NOBODY:
                asking = queue[head]
                head += 1
                for place in range(value_starts[asking], value_starts[asking + 1]):
                    person = persons[place]
                    if came_by[person] != NOBODY:
                        continue
                    came_by[person] = asking
                    if value_of[person] == NOBODY:
                        free = person
                        break
                    queue[tail] = value_of[person]
                    tail += 1
            n_pairs += free != NOBODY
            while free != NOBODY:
                asking = came_by[free]
                handed_on = person_of[asking]
                value_of[free], person_of[asking] = asking, free
                free = handed_on
            for step in range(tail):
                for place in range(value_starts[queue[step]], value_starts[queue[step] + 1]):
                    came_by[persons[place]] = NOBODY
        is_enough[unit] = n_pairs >= wanted[unit]
        for place in range(value_starts[starts[unit]], value_starts[starts[unit + 1]]):
            value_of[persons[place]] = NOBODY
    return is_enough


@kernel
def most_persons_alike(
    starts: np.ndarray,
    numbers: np.ndarray,
    persons: np.ndarray,
    concerned: np.ndarray,
    reach: float,
    n_persons: int,
) -> np.ndarray:
    """For each run of sorted numbers, the most different persons within `reach` of a number that is asked about."""
    most = np.zeros(starts.size - 1, np.int64)
    held = np.zeros(n_persons, np.int64)
    for unit in range(starts.size - 1):
        low, high, within = starts[unit], starts[unit], 0
        for entry in range(starts[unit], starts[unit + 1]):
            while high < starts[unit + 1] and numbers[high] <= numbers[entry] + reach:
                held[persons[high]] += 1
                within += held[persons[high]] == 1
                high += 1
            while numbers[low] < numbers[entry] - reach:
                held[persons[low]] -= 1
                within -= held[persons[low]] == 0
                low += 1
            if concerned[entry] and within > most[unit]:
                most[unit] = within
        for entry in range(low, high):
            held[persons[entry]] = 0
    return most


@kernel
def have_persons(starts: np.ndarray, owners: np.ndarray, asked: np.ndarray, wanted: int) -> np.ndarray:
    """Which of the owners that are asked about have rows of so many different persons; no more is counted than needed."""
    latest = np.full(asked.size, NOBODY, np.int64)
    n_persons = np.where(asked, 0, wanted)
    n_open = np.count_nonzero(asked) if wanted > 0 else 0
    for person in range(starts.size - 1):
        if n_open == 0:
            break
        for row in range(starts[person], starts[person + 1]):
            owner = owners[row]
            if owner < 0 or n_persons[owner] == wanted or latest[owner] == person:
                continue
            latest[owner] = person
            n_persons[owner] += 1
            n_open -= n_persons[owner] == wanted
    return asked & (n_persons >= wanted)


@have_persons.of_few
def _few_have_persons(starts: np.ndarray, owners: np.ndarray, asked: np.ndarray, wanted: int) -> np.ndarray:
    persons = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    there = owners >= 0
    pairs = np.unique(persons[there] * asked.size + owners[there])
    return asked & (np.bincount(pairs % max(asked.size, 1), minlength=asked.size) >= wanted)


@kernel
def have_pairs(
    starts: np.ndarray, owners: np.ndarray, values: np.ndarray, asked: np.ndarray, wanted: int
) -> np.ndarray:
    """Which of the owners that are asked about have so many persons with different values, as far as is met on the way.

    Everybody takes her first value in the owner that nobody has taken there before.
    """
    latest = np.full(asked.size, NOBODY, np.int64)
    n_pairs = np.where(asked, 0, wanted)
    taken = np.empty((asked.size, max(wanted, 1)), np.int64)
    n_open = np.count_nonzero(asked) if wanted > 0 else 0
    for person in range(starts.size - 1):
        if n_open == 0:
            break
        for row in range(starts[person], starts[person + 1]):
            owner = owners[row]
            if owner < 0 or n_pairs[owner] == wanted or latest[owner] == person:
                continue
            is_new = True
            for pair in range(n_pairs[owner]):
                if taken[owner, pair] == values[row]:
                    is_new = False
                    break
            if is_new:
                latest[owner] = person
                taken[owner, n_pairs[owner]] = values[row]
                n_pairs[owner] += 1
                n_open -= n_pairs[owner] == wanted
    return asked & (n_pairs >= wanted)


@kernel
def leave(starts: np.ndarray, owners: np.ndarray, failing: np.ndarray, touched: np.ndarray) -> int:
    """Let everybody with a row in an owner that fails leave with all her rows, in place; returns how many persons leave.

    The owners they leave are marked as touched.
    """
    n_leaving = 0
    for person in range(starts.size - 1):
        leaves = False
        for row in range(starts[person], starts[person + 1]):
            if owners[row] >= 0 and failing[owners[row]]:
                leaves = True
                break
        if leaves:
            n_leaving += 1
            for row in range(starts[person], starts[person + 1]):
                if owners[row] >= 0:
                    touched[owners[row]] = True
                owners[row] = NOWHERE
    return n_leaving


@leave.of_few
def _few_leave(starts: np.ndarray, owners: np.ndarray, failing: np.ndarray, touched: np.ndarray) -> int:
    persons = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    there = owners >= 0
    leaves = np.zeros(starts.size - 1, np.bool_)
    leaves[persons[there][failing[owners[there]]]] = True
    gone = leaves[persons] & there
    touched[owners[gone]] = True
    owners[gone] = NOWHERE
    return int(np.count_nonzero(leaves))
