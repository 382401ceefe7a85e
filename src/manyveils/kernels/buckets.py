"""Fill buckets with rows, or persons, that share no protected value, or few of them do."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def _is_free(
    ids: np.ndarray, start: int, stop: int, used: np.ndarray, held: np.ndarray, bucket: int, most: int
) -> bool:
    for index in range(start, stop):
        if used[ids[index]] == bucket and held[ids[index]] >= most:
            return False
    return True


@kernel
def _set_leaf(tree: np.ndarray, leaf: int, rows: int) -> None:
    """Change one leaf of a tree of maxima, whose root is node 1 and whose leaves are the last half."""
    node = tree.size // 2 + leaf
    tree[node] = rows
    while node > 1:
        node //= 2
        most = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == most:
            return
        tree[node] = most


@kernel
def _fullest(tree: np.ndarray) -> int:
    """The first leaf with the most rows; -1 if none has any."""
    if tree[1] <= 0:
        return -1
    node = 1
    while node < tree.size // 2:
        node *= 2
        if tree[node] < tree[node // 2]:
            node += 1
    return node - tree.size // 2


@kernel
def fill(
    counts: np.ndarray,
    id_starts: np.ndarray,
    ids: np.ndarray,
    n_ids: int,
    size: int,
    reach: int,
    rng: np.random.Generator,
    most: int,
    seeds: np.ndarray,
    patience: int,
    tries: int,
    enough: int,
) -> np.ndarray:
    """Choose `size` kinds for each bucket so that at most `most` share an id, always serving the fullest id first.

    A kind is a combination of ids; `counts` says how many rows or persons each kind has. Up to `reach` kinds of an id
    are looked at, or `enough` that fit, and one of these is drawn by what is left of it. Gives the kinds, bucket after bucket.
    A bucket begins with the next of the `seeds`, which are kinds, while there are any. After `tries` ids in vain it
    cannot be filled, and what was chosen for it is set aside; all ends where that has happened more than `patience` times.
    """
    n_kinds = counts.size
    left = counts.copy()
    left_of_id = np.zeros(n_ids, np.int64)
    kind_counts = np.zeros(n_ids + 1, np.int64)
    for kind in range(n_kinds):
        for index in range(id_starts[kind], id_starts[kind + 1]):
            left_of_id[ids[index]] += left[kind]
            kind_counts[ids[index]] += 1
    starts = np.zeros(n_ids + 1, np.int64)
    for value in range(n_ids):
        starts[value + 1] = starts[value] + kind_counts[value]
    kinds_of = np.empty(starts[n_ids], np.int64)
    ends = starts[:-1].copy()
    free_kinds = np.empty(n_kinds, np.int64)
    n_free, free_left = 0, 0
    for kind in range(n_kinds):
        for index in range(id_starts[kind], id_starts[kind + 1]):
            kinds_of[ends[ids[index]]] = kind
            ends[ids[index]] += 1
        if id_starts[kind] == id_starts[kind + 1]:
            free_kinds[n_free] = kind
            n_free += 1
            free_left += left[kind]
    chosen = np.empty(counts.sum(), np.int64)
    used = np.full(n_ids, -1, np.int64)
    held = np.zeros(n_ids, np.int64)
    tried = np.empty(n_ids, np.int64)
    # Rows of every id that may still be served; ids that are used or tried have none for the time being.
    n_leaves = 2
    while n_leaves < n_ids:
        n_leaves *= 2
    tree = np.zeros(2 * n_leaves, np.int64)
    for value in range(n_ids):
        _set_leaf(tree, value, left_of_id[value])
    n_tried = 0
    n_chosen, bucket, n_aside = 0, 0, 0
    first, last, next_seed = 0, 0, 0
    while n_chosen + size <= chosen.size:
        for member in range(first, last):
            for index in range(id_starts[chosen[member]], id_starts[chosen[member] + 1]):
                _set_leaf(tree, ids[index], left_of_id[ids[index]])
        filled = 0
        while filled < size:
            for index in range(n_tried):
                value = tried[index]
                is_full = used[value] == bucket and held[value] >= most
                _set_leaf(tree, value, 0 if is_full else left_of_id[value])
            n_tried = 0
            pick = -1
            if filled == 0:
                while next_seed < seeds.size and left[seeds[next_seed]] == 0:
                    next_seed += 1
                if next_seed < seeds.size:
                    pick = seeds[next_seed]
            while pick < 0 and n_tried < tries:
                value = _fullest(tree)
                if n_free > 0 and (value < 0 or free_left >= left_of_id[value]):
                    pick = free_kinds[n_free - 1]
                    break
                if value < 0:
                    break
                tried[n_tried] = value
                n_tried += 1
                _set_leaf(tree, value, 0)
                total, looked, n_fit = 0, 0, 0
                index, n_unseen = starts[value], ends[value] - starts[value]
                if patience > 0:
                    # Those that were passed over pile up at the front.
                    index += int(rng.random() * n_unseen)
                while n_unseen > 0 and looked < reach and n_fit < enough:
                    n_unseen -= 1
                    if index >= ends[value]:
                        index = starts[value]
                    kind = kinds_of[index]
                    if left[kind] == 0:
                        ends[value] -= 1
                        kinds_of[index] = kinds_of[ends[value]]
                        continue
                    looked += 1
                    if _is_free(ids, id_starts[kind], id_starts[kind + 1], used, held, bucket, most):
                        n_fit += 1
                        total += left[kind]
                        if rng.random() * total < left[kind]:
                            pick = kind
                    index += 1
            if pick < 0:
                break
            left[pick] -= 1
            for index in range(id_starts[pick], id_starts[pick + 1]):
                value = ids[index]
                held[value] = held[value] + 1 if used[value] == bucket else 1
                used[value] = bucket
                left_of_id[value] -= 1
                _set_leaf(tree, value, 0 if held[value] >= most else left_of_id[value])
            if id_starts[pick] == id_starts[pick + 1]:
                free_left -= 1
                if left[pick] == 0:
                    n_free -= 1
            chosen[n_chosen + filled] = pick
            filled += 1
        bucket += 1
        first, last = n_chosen, n_chosen + filled
        if filled == size:
            n_chosen += size
            continue
        n_aside += 1
        if filled == 0 or n_aside > patience:
            break
    return chosen[:n_chosen].copy()


@kernel
def _clashes(kind: int, id_starts: np.ndarray, ids: np.ndarray, members: np.ndarray, most: int) -> bool:
    for mine in range(id_starts[kind], id_starts[kind + 1]):
        n_met = 0
        for member in members:
            for theirs in range(id_starts[member], id_starts[member + 1]):
                if ids[mine] == ids[theirs]:
                    n_met += 1
        if n_met >= most:
            return True
    return False


@kernel
def place_rest(
    kinds: np.ndarray,
    id_starts: np.ndarray,
    ids: np.ndarray,
    members: np.ndarray,
    size: int,
    reach: int,
    most: int,
) -> np.ndarray:
    """For each leftover kind a bucket with fewer than `most` of each of its ids, or -1; every bucket takes one at most."""
    n_buckets = members.size // size
    taken = np.zeros(n_buckets, np.bool_)
    homes = np.full(kinds.size, -1, np.int64)
    bucket = 0
    for rest in range(kinds.size):
        kind = kinds[rest]
        for _ in range(min(reach, n_buckets)):
            bucket = bucket + 1 if bucket + 1 < n_buckets else 0
            if taken[bucket]:
                continue
            if not _clashes(kind, id_starts, ids, members[bucket * size : (bucket + 1) * size], most):
                homes[rest] = bucket
                taken[bucket] = True
                break
    return homes
