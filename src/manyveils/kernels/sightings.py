"""What someone can still believe of a person whom she finds in several groups."""

import numpy as np

from manyveils.compiling import kernel

# More rows of one person are sorted by NumPy.
FEW_ROWS = 32


@kernel
def groups_of_persons(starts: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different groups of every person, in order: where those of each begin, and the groups.

    Person p has the rows from `starts[p]` to `starts[p + 1]`; a row with a negative owner is nowhere.
    """
    begins = np.zeros(starts.size, np.int64)
    groups = np.empty(owners.size, np.int64)
    filled = 0
    for person in range(starts.size - 1):
        first, last = filled, filled
        for row in range(starts[person], starts[person + 1]):
            if owners[row] >= 0:
                groups[last] = owners[row]
                last += 1
        if last - first > FEW_ROWS:
            groups[first:last] = np.sort(groups[first:last])
        for place in range(first + 1, last):
            owner, before = groups[place], place
            while before > first and groups[before - 1] > owner:
                groups[before] = groups[before - 1]
                before -= 1
            groups[before] = owner
        for place in range(first, last):
            if filled == first or groups[filled - 1] != groups[place]:
                groups[filled] = groups[place]
                filled += 1
        begins[person + 1] = filled
    return begins, groups[:filled].copy()


@groups_of_persons.of_few
def _groups_of_few(starts: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    persons = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    n_groups = owners.max(initial=0) + 1
    there = owners >= 0
    pairs = np.unique(persons[there] * n_groups + owners[there])
    return np.searchsorted(pairs, np.arange(starts.size) * n_groups), pairs % n_groups


@kernel
def _smallest(begins: np.ndarray, groups: np.ndarray, value_starts: np.ndarray, index: int) -> int:
    """The group of a list that has the fewest values."""
    smallest = groups[begins[index]]
    for place in range(begins[index], begins[index + 1]):
        group = groups[place]
        n_values = value_starts[group + 1] - value_starts[group]
        if n_values < value_starts[smallest + 1] - value_starts[smallest]:
            smallest = group
    return smallest


@kernel
def keep_values(
    begins: np.ndarray, groups: np.ndarray, value_starts: np.ndarray, values: np.ndarray, wanted: int
) -> np.ndarray:
    """For which lists of groups so many values stand in all groups of the list; laid out as `beliefs` wants it."""
    fine = np.zeros(begins.size - 1, np.bool_)
    for index in range(begins.size - 1):
        smallest, n_possible = _smallest(begins, groups, value_starts, index), 0
        last = value_starts[smallest + 1]
        for entry in range(value_starts[smallest], last):
            if n_possible == wanted or n_possible + last - entry < wanted:
                break
            is_possible = True
            for place in range(begins[index], begins[index + 1]):
                first, stop = value_starts[groups[place]], value_starts[groups[place] + 1]
                there = first + np.searchsorted(values[first:stop], values[entry])
                if there == stop or values[there] != values[entry]:
                    is_possible = False
                    break
            n_possible += is_possible
        fine[index] = n_possible >= wanted
    return fine


@kernel
def beliefs(
    begins: np.ndarray,
    groups: np.ndarray,
    value_starts: np.ndarray,
    values: np.ndarray,
    gains: np.ndarray,
    base: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values that stand in all groups of each list, as (list, value, log of the belief up to a factor).

    List i has the groups from `begins[i]` to `begins[i + 1]`, one at least. Group g has the values from `value_starts[g]`
    to `value_starts[g + 1]`, in order, each with the log of what its share gains over the table's, whose log is in `base`.
    """
    most = 0
    for index in range(begins.size - 1):
        smallest = _smallest(begins, groups, value_starts, index)
        most += value_starts[smallest + 1] - value_starts[smallest]
    lists, possible, logs = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.float64)
    filled = 0
    for index in range(begins.size - 1):
        smallest = _smallest(begins, groups, value_starts, index)
        for entry in range(value_starts[smallest], value_starts[smallest + 1]):
            value, total, is_possible = values[entry], base[values[entry]], True
            for place in range(begins[index], begins[index + 1]):
                first, stop = value_starts[groups[place]], value_starts[groups[place] + 1]
                there = first + np.searchsorted(values[first:stop], value)
                if there == stop or values[there] != value:
                    is_possible = False
                    break
                total += gains[there]
            if is_possible:
                lists[filled], possible[filled], logs[filled] = index, value, total
                filled += 1
    return lists[:filled].copy(), possible[:filled].copy(), logs[:filled].copy()
