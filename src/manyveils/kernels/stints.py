"""What else may be true of persons: values that could be exchanged while every group keeps what it has."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def find(starts: np.ndarray, items: np.ndarray, part: int, item: int) -> int:
    """Where a part has an item, of which it lists each once and in order; -1 where it does not."""
    first, stop = starts[part], starts[part + 1]
    place = first + np.searchsorted(items[first:stop], item)
    return place if place < stop and items[place] == item else -1


@kernel
def _ring(
    end: int,
    other: int,
    own: int,
    classes: np.ndarray,
    ends: np.ndarray,
    class_starts: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    end_starts: np.ndarray,
    cells_of_end: np.ndarray,
    reached: np.ndarray,
) -> None:
    """Mark the values that someone who ended in one way could have in place of her own, if it were for those who did.

    One of a class who ended so takes a value of one of that class who ended in the other way, and that one hers; then
    one of another class takes the value that is missing now, and so on until somebody takes the first.
    """
    reached[:] = False
    reached[own] = True
    is_growing = True
    while is_growing:
        is_growing = False
        for index in range(end_starts[end], end_starts[end + 1]):
            cell = cells_of_end[index]
            there = find(class_starts, ends, classes[cell], other)
            if there < 0:
                continue
            meets = False
            for entry in range(starts[there], starts[there + 1]):
                if reached[values[entry]]:
                    meets = True
                    break
            if meets:
                for entry in range(starts[cell], starts[cell + 1]):
                    if not reached[values[entry]]:
                        reached[values[entry]] = True
                        is_growing = True


@kernel
def _by_guest(
    cell: int,
    own: int,
    value: int,
    list_starts: np.ndarray,
    lists: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    guest_starts: np.ndarray,
    guest_keys: np.ndarray,
    guests: np.ndarray,
    n_values: int,
) -> bool:
    """Whether somebody of a cell has a value who is in others too, and could take another in all of these."""
    key = cell * n_values + value
    place = np.searchsorted(guest_keys, key)
    if place == guest_keys.size or guest_keys[place] != key:
        return False
    for index in range(guest_starts[place], guest_starts[place + 1]):
        can_take = True
        for step in range(list_starts[guests[index]], list_starts[guests[index] + 1]):
            if lists[step] != cell and find(starts, values, lists[step], own) < 0:
                can_take = False
                break
        if can_take:
            return True
    return False


@kernel
def _in_others(
    value: int, first: int, stop: int, but: int, lists: np.ndarray, starts: np.ndarray, values: np.ndarray
) -> bool:
    """Whether a value is in all cells of a list but one."""
    for place in range(first, stop):
        if place != but and find(starts, values, lists[place], value) < 0:
            return False
    return True


@kernel
def exchangeable(
    list_starts: np.ndarray,
    lists: np.ndarray,
    own: np.ndarray,
    alike: np.ndarray,
    alike_starts: np.ndarray,
    alike_values: np.ndarray,
    classes: np.ndarray,
    ends: np.ndarray,
    class_starts: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    end_starts: np.ndarray,
    cells_of_end: np.ndarray,
    guest_starts: np.ndarray,
    guest_keys: np.ndarray,
    guests: np.ndarray,
    rings: np.ndarray,
    sources: np.ndarray,
    labels: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """How many different labels persons of each kind could have while all groups keep what they have; no more than wanted.

    Persons of a kind are in the cells `lists[list_starts[kind] : list_starts[kind + 1]]` and have the value `own[kind]`.
    Cells are listed class after class, from `class_starts` on, in order of their ends; cell c is of class `classes[c]`,
    ended as `ends[c]`, and has persons who are in no other cell with the values from `starts[c]` to `starts[c + 1]`.
    Ends are numbered from 0, and `cells_of_end` lists the cells of each from `end_starts` on. Of each cell and value that
    others have, `cell · values + value` in `guest_keys`, `guests` lists their kinds.

    Kinds with equal cells have one number in `alike`; `alike_values` lists the values of these, from `alike_starts` on.

    A person may take the value of somebody who is in the same cells. Or one that somebody in each of her cells has who is
    in no other, and takes hers in return. In one of her
    cells it may be a guest, in whose other cells somebody takes hers; or one of her class who ended otherwise, if
    persons of other classes who ended as these exchange values in a ring that gives both ends back what they had; this
    where `rings` says so of her cell, and `sources` of that one's.
    """
    found = np.zeros(own.size, np.int64)
    seen = np.full(labels.max() + 1, -1, np.int64)
    n_values = labels.size
    reached = np.zeros(n_values, np.bool_)
    for kind in range(own.size):
        first, stop = list_starts[kind], list_starts[kind + 1]
        seen[labels[own[kind]]] = kind
        n_possible = 1
        for entry in range(alike_starts[alike[kind]], alike_starts[alike[kind] + 1]):
            if seen[labels[alike_values[entry]]] != kind:
                seen[labels[alike_values[entry]]] = kind
                n_possible += 1
        for entry in range(starts[lists[first]], starts[lists[first] + 1]):
            value = values[entry]
            if n_possible >= wanted[kind] or seen[labels[value]] == kind:
                continue
            if _in_others(value, first, stop, first, lists, starts, values):
                seen[labels[value]] = kind
                n_possible += 1
        for index in range(first, stop):
            cell = lists[index]
            low = np.searchsorted(guest_keys, cell * n_values)
            high = np.searchsorted(guest_keys, (cell + 1) * n_values)
            for place in range(low, high):
                value = guest_keys[place] - cell * n_values
                if n_possible >= wanted[kind] or seen[labels[value]] == kind:
                    continue
                if _in_others(value, first, stop, index, lists, starts, values) and _by_guest(
                    cell,
                    own[kind],
                    value,
                    list_starts,
                    lists,
                    starts,
                    values,
                    guest_starts,
                    guest_keys,
                    guests,
                    n_values,
                ):
                    seen[labels[value]] = kind
                    n_possible += 1
            for source in range(class_starts[classes[cell]], class_starts[classes[cell] + 1]):
                if source == cell or n_possible >= wanted[kind] or not (rings[cell] and sources[source]):
                    continue
                is_ready = False
                for entry in range(starts[source], starts[source + 1]):
                    value = values[entry]
                    if seen[labels[value]] == kind:
                        continue
                    if not _in_others(value, first, stop, index, lists, starts, values):
                        continue
                    if not is_ready:
                        _ring(
                            ends[cell],
                            ends[source],
                            own[kind],
                            classes,
                            ends,
                            class_starts,
                            starts,
                            values,
                            end_starts,
                            cells_of_end,
                            reached,
                        )
                        is_ready = True
                    if reached[value] and n_possible < wanted[kind]:
                        seen[labels[value]] = kind
                        n_possible += 1
        found[kind] = min(n_possible, wanted[kind])
    return found
