"""Fill buckets with rows that share no protected value."""

import numpy as np
from numba import njit


@njit(cache=True)
def _is_free(ids: np.ndarray, start: int, stop: int, used: np.ndarray, bucket: int) -> bool:
    for place in range(start, stop):
        if used[ids[place]] == bucket:
            return False
    return True


@njit(cache=True)
def _fullest(left_of_id: np.ndarray, used: np.ndarray, tried: np.ndarray, bucket: int, turn: int) -> int:
    best, most = -1, 0
    for each in range(left_of_id.size):
        if left_of_id[each] > most and used[each] != bucket and tried[each] != turn:
            best, most = each, left_of_id[each]
    return best


@njit(cache=True)
def fill(
    counts: np.ndarray,
    id_starts: np.ndarray,
    ids: np.ndarray,
    n_ids: int,
    size: int,
    reach: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose `size` kinds of rows for each bucket so that no two share an id, always serving the fullest id first.

    A kind is a combination of ids; `counts` says how many rows each kind has. Up to `reach` kinds of an id are
    looked at, and one is drawn by the rows that are left of it. Gives the kinds, bucket after bucket; it ends where
    a bucket cannot be filled.
    """
    n_kinds = counts.size
    left = counts.copy()
    left_of_id = np.zeros(n_ids, np.int64)
    kind_counts = np.zeros(n_ids + 1, np.int64)
    for kind in range(n_kinds):
        for place in range(id_starts[kind], id_starts[kind + 1]):
            left_of_id[ids[place]] += left[kind]
            kind_counts[ids[place]] += 1
    starts = np.zeros(n_ids + 1, np.int64)
    for each in range(n_ids):
        starts[each + 1] = starts[each] + kind_counts[each]
    kinds_of = np.empty(starts[n_ids], np.int64)
    ends = starts[:-1].copy()
    free_kinds = np.empty(n_kinds, np.int64)
    n_free, free_left = 0, 0
    for kind in range(n_kinds):
        for place in range(id_starts[kind], id_starts[kind + 1]):
            kinds_of[ends[ids[place]]] = kind
            ends[ids[place]] += 1
        if id_starts[kind] == id_starts[kind + 1]:
            free_kinds[n_free] = kind
            n_free += 1
            free_left += left[kind]
    chosen = np.empty(counts.sum(), np.int64)
    used = np.full(n_ids, -1, np.int64)
    tried = np.full(n_ids, -1, np.int64)
    n_chosen, bucket, turn = 0, 0, 0
    while n_chosen + size <= chosen.size:
        filled = 0
        while filled < size:
            turn += 1
            pick = -1
            while pick < 0:
                each = _fullest(left_of_id, used, tried, bucket, turn)
                if n_free > 0 and (each < 0 or free_left >= left_of_id[each]):
                    pick = free_kinds[n_free - 1]
                    break
                if each < 0:
                    break
                tried[each] = turn
                total, looked, place = 0, 0, starts[each]
                while place < ends[each] and looked < reach:
                    kind = kinds_of[place]
                    if left[kind] == 0:
                        ends[each] -= 1
                        kinds_of[place] = kinds_of[ends[each]]
                        continue
                    looked += 1
                    if _is_free(ids, id_starts[kind], id_starts[kind + 1], used, bucket):
                        total += left[kind]
                        if rng.random() * total < left[kind]:
                            pick = kind
                    place += 1
            if pick < 0:
                return chosen[:n_chosen].copy()
            left[pick] -= 1
            for place in range(id_starts[pick], id_starts[pick + 1]):
                used[ids[place]] = bucket
                left_of_id[ids[place]] -= 1
            if id_starts[pick] == id_starts[pick + 1]:
                free_left -= 1
                if left[pick] == 0:
                    n_free -= 1
            chosen[n_chosen + filled] = pick
            filled += 1
        n_chosen += size
        bucket += 1
    return chosen[:n_chosen].copy()


@njit(cache=True)
def place_rest(
    kinds: np.ndarray, id_starts: np.ndarray, ids: np.ndarray, members: np.ndarray, size: int, reach: int
) -> np.ndarray:
    """For each leftover kind a bucket without any of its ids, or -1; every bucket takes one leftover at most."""
    n_buckets = members.size // size
    taken = np.zeros(n_buckets, np.bool_)
    homes = np.full(kinds.size, -1, np.int64)
    at = 0
    for rest in range(kinds.size):
        kind = kinds[rest]
        for _ in range(min(reach, n_buckets)):
            at = at + 1 if at + 1 < n_buckets else 0
            if taken[at]:
                continue
            clash = False
            for place in range(at * size, (at + 1) * size):
                other = members[place]
                for mine in range(id_starts[kind], id_starts[kind + 1]):
                    for theirs in range(id_starts[other], id_starts[other + 1]):
                        clash = clash or ids[mine] == ids[theirs]
            if not clash:
                homes[rest] = at
                taken[at] = True
                break
    return homes
