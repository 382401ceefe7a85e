"""How large the groups of a release are."""

from collections.abc import Iterator

import numpy as np
import polars as pl

FEW = 12
EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000, 10_000_000)


def sized(view: str, sizes: pl.Series) -> dict[str, object]:
    """The smallest, the middle and the largest group of a view, and how many groups and rows there are in bands of size.

    >>> found = sized("main", pl.Series([4, 4, 17]))
    >>> found["smallest"], found["largest"], found["bands"][0]
    (4, 17, {'low': 3, 'high': 4, 'groups': 2, 'rows': 8})
    """
    held = np.sort(sizes.to_numpy())
    return {
        "view": view,
        "groups": int(held.size),
        "rows": int(held.sum()),
        "smallest": int(held[0]) if held.size else 0,
        "median": float(np.median(held)) if held.size else 0.0,
        "largest": int(held[-1]) if held.size else 0,
        "bands": list(_bands(held)),
    }


def _bands(held: np.ndarray) -> Iterator[dict[str, int]]:
    """Bands of one size where there is room for that, and of growing width otherwise."""
    if not held.size:
        return
    few = int(held[-1] - held[0]) < FEW
    edges = range(int(held[0]), int(held[-1]) + 2) if few else (*EDGES, int(held[-1]) + 1)
    places = np.searchsorted(edges, held, side="right") - 1
    for place in range(int(places[0]), int(places[-1]) + 1):
        inside = held[places == place]
        yield {
            "low": int(edges[place]),
            "high": int(edges[place + 1]) - 1,
            "groups": int(inside.size),
            "rows": int(inside.sum()),
        }
