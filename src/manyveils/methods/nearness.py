"""Where persons stand by their quasi-identifiers, which groups are near each other, and who is far off from hers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.entries import Ids, dense, distinct, examples
from manyveils.table import Table

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
# So many of a group are where it is; whoever is nearer to its middle than so is near in any case.
MOST, NEXT_TO = 0.9, 0.02


@dataclass(frozen=True, repr=False)
class Place:
    """Where persons stand in an attribute: a value of theirs, and the rank of each value among all, from 0 to 1."""

    codes: Ids
    ranks: Floats

    def middles(self, groups: Ids, persons: Ids, n_groups: int) -> Floats:
        """Where each group of some persons stands on average; none is empty."""
        sizes = np.bincount(groups, minlength=n_groups)
        return np.bincount(groups, self.ranks[self.codes[persons]], minlength=n_groups) / sizes


def places_of(table: Table, names: tuple[str, ...], n_persons: int) -> tuple[Place, ...]:
    """Where persons stand in each of some attributes."""
    assert table.persons is not None
    rows = examples(table.persons, n_persons)
    places = []
    for name in names:
        counts = table[name].counts
        ranks = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
        places.append(Place(table[name].codes[rows].astype(np.int64), ranks))
    return tuple(places)


def far_off(place: Place, groups: Ids, n_groups: int) -> Bools:
    """Who stands much farther from the middle of her group than most of it do; nobody who is in none."""
    there = np.flatnonzero(groups >= 0)
    off = np.zeros(groups.size, dtype=bool)
    # Persons of one group and one value stand alike.
    both = groups[there], place.codes[there]
    alike, n_alike = dense(both, (n_groups, place.ranks.size), there.size)
    counts, some = np.bincount(alike, minlength=n_alike), examples(alike, n_alike)
    owners, stands = both[0][some], place.ranks[both[1][some]]
    far = np.abs(stands - _quantile(stands, counts, owners, n_groups, 0.5)[owners])
    reach = _quantile(far, counts, owners, n_groups, MOST)
    off[there] = (far > np.maximum(1.5 * reach, NEXT_TO)[owners])[alike]
    return off


def _quantile(values: Floats, counts: Ids, groups: Ids, n_groups: int, share: float) -> Floats:
    """The value below which so large a share of each group is, whose values are counted; 0 for groups without any."""
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups, counts, minlength=n_groups).astype(np.int64)
    places = np.cumsum(sizes) - sizes + np.floor(share * np.maximum(sizes - 1, 0)).astype(np.int64)
    quantiles = np.zeros(n_groups)
    at = np.searchsorted(np.cumsum(counts[order]), places[sizes > 0], side="right")
    quantiles[sizes > 0] = values[order[at]]
    return quantiles


def near_order(middles: NDArray[np.float64]) -> Ids:
    """An order of points in which near ones stand together: halved again and again where they are spread most.

    >>> near_order(np.array([[0.0, 9.0, 1.0, 8.0]]))
    array([0, 2, 3, 1])
    """
    n = middles.shape[1]
    order, starts = np.arange(n), np.zeros(1, dtype=np.int64)
    while starts.size < n:
        stops = np.append(starts[1:], n)
        listed = middles[:, order]
        spread = np.maximum.reduceat(listed, starts, axis=1) - np.minimum.reduceat(listed, starts, axis=1)
        widest = np.repeat(np.argmax(spread, axis=0), stops - starts)
        part = np.repeat(np.arange(starts.size), stops - starts)
        order = order[np.lexsort((listed[widest, np.arange(n)], part))]
        starts = distinct(np.append(starts, (starts + stops) // 2))
    return order


def with_near(broken: Bools, order: Ids, sizes: Ids) -> tuple[Ids, Ids]:
    """Groups to be joined, in pairs of near ones that are broken, and the one that each is joined with.

    One alone is joined with so many of the nearest that it becomes twice as large. In the order near ones stand together.

    >>> with_near(np.array([True, False, True]), np.array([2, 1, 0]), np.array([5, 5, 5]))
    (array([2, 0]), array([2, 2]))
    """
    own = order[broken[order]]
    if own.size == 1:
        place = int(np.flatnonzero(order == own[0])[0])
        near = order[np.argsort(np.abs(np.arange(order.size) - place), kind="stable")]
        n_more = int(np.searchsorted(np.cumsum(sizes[near[1:]]), sizes[near[0]])) + 1
        own = near[: 1 + max(n_more, 1)]
        return own, np.full(own.size, own[0])
    # The last one of an odd number stands beside the pair before it.
    return own, own[np.minimum(np.arange(own.size) // 2, own.size // 2 - 1) * 2]
