"""Give equal rows equal numbers, and add up their counts."""

import numpy as np

from manyveils.compiling import kernel

EMPTY = -1
# A table with so many places for every key is made faster than keys are hashed.
NEAR = 8


@kernel
def _hash(key: np.int64) -> np.uint64:
    # Keys of many yes/no columns differ in their high bits alone, which must reach the low ones.
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))


@kernel
def number(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number equal keys from 0 in order of appearance; also where each number appears first."""
    n = keys.size
    slots = 4
    while slots < 2 * n:
        slots *= 2
    mask = np.uint64(slots - 1)
    table = np.full(slots, EMPTY, np.int32)
    ids = np.empty(n, np.int64)
    firsts = np.empty(n, np.int64)
    seen = np.empty(n, np.int64)
    n_numbers = 0
    for row in range(n):
        key = keys[row]
        slot = _hash(key) & mask
        while True:
            occupant = table[slot]
            if occupant == EMPTY:
                table[slot] = n_numbers
                firsts[n_numbers] = row
                seen[n_numbers] = key
                ids[row] = n_numbers
                n_numbers += 1
                break
            if seen[occupant] == key:
                ids[row] = occupant
                break
            slot = (slot + np.uint64(1)) & mask
    return ids, firsts[:n_numbers].copy()


@number.of_few
def _number_few(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, firsts, sorted_number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[sorted_number], firsts[order]


@kernel
def pack(codes: np.ndarray, maps: np.ndarray, starts: np.ndarray, radices: np.ndarray) -> np.ndarray:
    """Write each column of codes, mapped attribute by attribute, as one mixed-radix number.

    A column's map begins at its start; one whose start is negative stays as it is.
    """
    n_attributes, n = codes.shape
    keys = np.zeros(n, np.int64)
    for attribute in range(n_attributes):
        start, radix = starts[attribute], radices[attribute]
        if radix == 1:
            # All have the one label there is.
            continue
        if start < 0:
            for row in range(n):
                keys[row] = keys[row] * radix + codes[attribute, row]
        else:
            for row in range(n):
                keys[row] = keys[row] * radix + maps[start + codes[attribute, row]]
    return keys


@kernel
def number_below(keys: np.ndarray, span: int) -> tuple[np.ndarray, np.ndarray]:
    """Number equal keys, all from 0 and below a span, as `number` does; takes a place in memory for each."""
    numbers = np.full(span, EMPTY, np.int32)
    ids = np.empty(keys.size, np.int64)
    firsts = np.empty(min(keys.size, span), np.int64)
    n_numbers = 0
    for row in range(keys.size):
        found = numbers[keys[row]]
        if found == EMPTY:
            found = np.int32(n_numbers)
            numbers[keys[row]] = found
            firsts[n_numbers] = row
            n_numbers += 1
        ids[row] = found
    return ids, firsts[:n_numbers].copy()


@kernel
def roll_up(
    codes: np.ndarray, maps: np.ndarray, starts: np.ndarray, radices: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Map classes to coarser ones: the new class of each, the codes of the new classes, and their sizes."""
    keys = pack(codes, maps, starts, radices)
    span = 1
    for radix in radices:
        span *= radix
    ids, firsts = number_below(keys, span) if span <= NEAR * keys.size else number(keys)
    n_attributes = codes.shape[0]
    coarse = np.empty((n_attributes, firsts.size), codes.dtype)
    for attribute in range(n_attributes):
        start = starts[attribute]
        for group in range(firsts.size):
            code = codes[attribute, firsts[group]]
            coarse[attribute, group] = code if start < 0 else maps[start + code]
    totals = np.zeros(firsts.size, np.int64)
    for row in range(ids.size):
        totals[ids[row]] += sizes[row]
    return ids, coarse, totals


@roll_up.of_few
def _roll_up_few(
    codes: np.ndarray, maps: np.ndarray, starts: np.ndarray, radices: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mapped = codes.copy()
    for attribute, start in enumerate(starts.tolist()):
        # A column whose start is negative stays as it is.
        if start >= 0:
            mapped[attribute] = maps[start + codes[attribute]]
    keys = np.zeros(codes.shape[1], np.int64)
    for labels, radix in zip(mapped, radices, strict=True):
        keys = keys * radix + labels
    ids, firsts = _number_few(keys)
    return ids, mapped[:, firsts].astype(codes.dtype, order="C"), _added_up(sizes, ids, firsts.size)


def _added_up(counts: np.ndarray, ids: np.ndarray, n_ids: int) -> np.ndarray:
    totals = np.zeros(n_ids, np.int64)
    np.add.at(totals, ids, counts)
    return totals


@kernel
def smallest_below(nodes: np.ndarray, sizes: np.ndarray, node: np.ndarray) -> int:
    """The place of the smallest table among those of nodes nowhere above a node; -1 if there is none."""
    best = -1
    for place in range(sizes.size):
        if best >= 0 and sizes[place] >= sizes[best]:
            continue
        is_below = True
        for axis in range(node.size):
            if nodes[place, axis] > node[axis]:
                is_below = False
                break
        if is_below:
            best = place
    return best


@smallest_below.of_few
def _smallest_below_few(nodes: np.ndarray, sizes: np.ndarray, node: np.ndarray) -> int:
    below = np.flatnonzero((nodes <= node).all(axis=1))
    return int(below[np.argmin(sizes[below])]) if below.size else -1


@kernel
def merge_entries(
    owner_of: np.ndarray, owners: np.ndarray, codes: np.ndarray, counts: np.ndarray, n_owners: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add up (owner, code, count) entries whose owners became one; entries come and go in order of code.

    Entries whose new owner is negative are dropped.
    """
    last = np.full(n_owners, -1, np.int64)
    entry_of = np.empty(n_owners, np.int64)
    new_owners = np.empty(owners.size, np.int64)
    new_codes = np.empty(owners.size, np.int64)
    new_counts = np.empty(owners.size, np.int64)
    filled = 0
    for entry in range(owners.size):
        owner = owner_of[owners[entry]]
        if owner < 0:
            continue
        if last[owner] == codes[entry]:
            new_counts[entry_of[owner]] += counts[entry]
            continue
        last[owner] = codes[entry]
        entry_of[owner] = filled
        new_owners[filled] = owner
        new_codes[filled] = codes[entry]
        new_counts[filled] = counts[entry]
        filled += 1
    return new_owners[:filled].copy(), new_codes[:filled].copy(), new_counts[:filled].copy()


@merge_entries.of_few
def _merge_few(
    owner_of: np.ndarray, owners: np.ndarray, codes: np.ndarray, counts: np.ndarray, n_owners: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    new_owners = owner_of[owners].astype(np.int64)
    kept = new_owners >= 0
    new_owners, codes, counts = new_owners[kept], codes[kept], counts[kept]
    # Codes may be large, but they come in order.
    runs = np.cumsum(np.diff(codes, prepend=codes[:1]) != 0)
    ids, firsts = _number_few(runs * n_owners + new_owners)
    return new_owners[firsts], codes[firsts].astype(np.int64), _added_up(counts, ids, firsts.size)
