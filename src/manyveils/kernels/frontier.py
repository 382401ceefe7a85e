"""The best divisions of a set into parts, when gains and costs of parts add up."""

import numpy as np

from manyveils.compiling import kernel

SHELVES = 512


@kernel
def _grown(array: np.ndarray, needed: int) -> np.ndarray:
    if needed <= array.size:
        return array
    larger = np.empty(max(needed, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger


@kernel
def _undominated(costs: np.ndarray, gains: np.ndarray, parts: np.ndarray, befores: np.ndarray, n: int) -> int:
    """Keep, in order of cost, the points that gain more than every cheaper one; how many there are."""
    order = np.argsort(costs[:n], kind="mergesort")
    cost, gain, part, before = costs[order], gains[order], parts[order], befores[order]
    n_kept = 0
    for index in range(n):
        if n_kept and costs[n_kept - 1] == cost[index] and gains[n_kept - 1] < gain[index]:
            n_kept -= 1
        if n_kept == 0 or gains[n_kept - 1] < gain[index]:
            costs[n_kept], gains[n_kept] = cost[index], gain[index]
            parts[n_kept], befores[n_kept] = part[index], before[index]
            n_kept += 1
    return n_kept


@kernel
def frontier(gain: np.ndarray, cost: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, ...]:
    """For the divisions of sets into allowed parts, the points (cost, gain) that no other division betters.

    Sets are bit masks; `gain`, `cost` and `allowed` speak of each mask as one part.
    The points of mask `s` stand from `starts[s]` to `starts[s + 1]`, in order of cost, each with the part that holds
    the mask's lowest member and the index of the point that the rest of the mask contributes.
    Only the whole set and masks without its lowest member are worked out.

    Claim: no division is better than every point listed: for each there is a point as cheap that gains as much.
    Why: costs and gains add up over parts, so replacing the division of the rest by a point that betters it betters
    the whole; a point is dropped only for another of the same mask that costs no more and gains no less.
    Tested by: tests/claims/test_codip.py
    """
    n_masks = gain.size
    starts = np.zeros(n_masks + 1, np.int64)
    costs, gains = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    parts, befores = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    # The empty set has one division, which costs and gains nothing.
    filled = 1
    starts[1] = 1
    room = 1 << 20
    new_costs, new_gains = np.empty(room, np.int64), np.empty(room, np.int64)
    new_parts, new_befores = np.empty(room, np.int64), np.empty(room, np.int64)
    shelves = np.empty(SHELVES + 1, np.int64)
    for mask in range(1, n_masks):
        if mask % 2 and mask != n_masks - 1:
            starts[mask + 1] = filled
            continue
        lowest = mask & -mask
        others = mask ^ lowest
        n_new = 0
        # The most gained so far at each price or below; most points are found bettered here at once.
        shelves[:] = -1
        step = cost[mask] // SHELVES + 1
        rest = others
        while True:
            part = mask ^ rest
            if allowed[part]:
                for index in range(starts[rest], starts[rest + 1]):
                    price, won = costs[index] + cost[part], gains[index] + gain[part]
                    shelf = price // step
                    if shelf and shelves[shelf - 1] >= won:
                        continue
                    if n_new == room:
                        n_new = _undominated(new_costs, new_gains, new_parts, new_befores, n_new)
                    new_costs[n_new], new_gains[n_new] = price, won
                    new_parts[n_new], new_befores[n_new] = part, index
                    n_new += 1
                    while shelf <= SHELVES and shelves[shelf] < won:
                        shelves[shelf] = won
                        shelf += 1
            if rest == 0:
                break
            rest = (rest - 1) & others
        n_new = _undominated(new_costs, new_gains, new_parts, new_befores, n_new)
        costs, gains = _grown(costs, filled + n_new), _grown(gains, filled + n_new)
        parts, befores = _grown(parts, filled + n_new), _grown(befores, filled + n_new)
        for index in range(n_new):
            costs[filled + index], gains[filled + index] = new_costs[index], new_gains[index]
            parts[filled + index], befores[filled + index] = new_parts[index], new_befores[index]
        filled += n_new
        starts[mask + 1] = filled
    return starts, costs[:filled], gains[:filled], parts[:filled], befores[:filled]
