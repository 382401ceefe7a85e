"""The compiled kernels once more in plain Python, as slow and as clear as can be."""

from collections import Counter, defaultdict
from collections.abc import Sequence

Entry = tuple[int, int, int]


def number(keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Number equal keys in order of appearance; also where each appears first.

    >>> number([7, 5, 7])
    ([0, 1, 0], [0, 1])
    """
    seen: dict[int, int] = {}
    ids = [seen.setdefault(key, len(seen)) for key in keys]
    return ids, [list(keys).index(key) for key in seen]


def roll_up(
    codes: Sequence[Sequence[int]], maps: Sequence[Sequence[int]], sizes: Sequence[int]
) -> tuple[list[int], list[tuple[int, ...]], list[int]]:
    """Map classes to coarser ones: new class of each, labels of the new classes, their sizes."""
    mapped = [
        tuple(step[code] for step, code in zip(maps, row, strict=True)) for row in zip(*codes, strict=True)
    ]
    order = list(dict.fromkeys(mapped))
    ids = [order.index(row) for row in mapped]
    return (
        ids,
        order,
        [sum(s for s, i in zip(sizes, ids, strict=True) if i == each) for each in range(len(order))],
    )


def merge_entries(owner_of: Sequence[int], entries: Sequence[Entry]) -> Counter[tuple[int, int]]:
    """Add up (owner, code, count) entries after owners became one another's."""
    merged: Counter[tuple[int, int]] = Counter()
    for owner, code, count in entries:
        if owner_of[owner] >= 0:
            merged[owner_of[owner], code] += count
    return merged


def largest(entries: Sequence[Entry], n_owners: int, depth: int) -> list[list[int]]:
    """The largest counts of each owner, filled up with zeros."""
    counts = defaultdict(list)
    for owner, _, count in entries:
        counts[owner].append(count)
    return [(sorted(counts[owner], reverse=True) + [0] * depth)[:depth] for owner in range(n_owners)]


def ordered_distance(entries: Sequence[Entry], sizes: Sequence[int], cumulative: Sequence[int]) -> list[int]:
    """For each owner the sum of |cumulative share difference| over all values, times size and total."""
    total = cumulative[-1]
    distances = []
    for owner, size in enumerate(sizes):
        held = 0
        distance = 0
        for value, below in enumerate(cumulative):
            held += sum(count for each, v, count in entries if each == owner and v == value)
            distance += abs(held * total - below * size)
        distances.append(distance)
    return distances


def differences(entries: Sequence[Entry], sizes: Sequence[int], reference: Sequence[int]) -> list[int]:
    """For each owner the sum of |share difference| over all values, times size and total."""
    held = {(owner, value): count for owner, value, count in entries}
    total = sum(reference)
    return [
        sum(abs(held.get((owner, value), 0) * total - count * size) for value, count in enumerate(reference))
        for owner, size in enumerate(sizes)
    ]


def most_alike(groups: Sequence[Sequence[tuple[float, int]]], reach: float) -> list[int]:
    """For each group of (number, count), the most rows within reach of one of its numbers."""
    return [
        max((sum(c for y, c in group if abs(y - x) <= reach) for x, _ in group), default=0)
        for group in groups
    ]
