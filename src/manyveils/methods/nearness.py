"""Where persons stand by their quasi-identifiers, which groups are near each other, and who is far off from hers."""

import numpy as np
from numpy.typing import NDArray

from manyveils.promises.entries import Ids, distinct, examples
from manyveils.table import Table

Bools = NDArray[np.bool_]
# So many of a group are where it is; whoever is nearer to its middle than so is near in any case.
MOST, NEXT_TO = 0.9, 0.02


def places_of(table: Table, names: tuple[str, ...], n_persons: int) -> tuple[NDArray[np.float64], ...]:
    """Where persons stand in each of some attributes: the rank of a value of theirs among all, from 0 to 1."""
    assert table.persons is not None
    rows = examples(table.persons, n_persons)
    places = []
    for name in names:
        counts = table[name].counts
        ranks = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
        places.append(ranks[table[name].codes[rows]])
    return tuple(places)


def far_off(place: NDArray[np.float64], groups: Ids, n_groups: int) -> Bools:
    """Who stands much farther from the middle of her group than most of it do; nobody who is in none."""
    there = np.flatnonzero(groups >= 0)
    off = np.zeros(groups.size, dtype=bool)
    middle = _quantile(place[there], groups[there], n_groups, 0.5)
    far = np.abs(place[there] - middle[groups[there]])
    reach = _quantile(far, groups[there], n_groups, MOST)
    off[there] = far > np.maximum(1.5 * reach, NEXT_TO)[groups[there]]
    return off


def _quantile(values: NDArray[np.float64], groups: Ids, n_groups: int, share: float) -> NDArray[np.float64]:
    """The value below which so large a share of each group is; 0 for groups without any."""
    order = np.lexsort((values, groups))
    sizes = np.bincount(groups, minlength=n_groups)
    places = np.cumsum(sizes) - sizes + np.floor(share * np.maximum(sizes - 1, 0)).astype(np.int64)
    quantiles = np.zeros(n_groups)
    quantiles[sizes > 0] = values[order[places[sizes > 0]]]
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
