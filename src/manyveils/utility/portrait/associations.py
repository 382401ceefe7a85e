"""What goes with what: in the original, and in people drawn from what the release implies."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyveils.release import Release
from manyveils.table import Attribute, Table
from manyveils.utility.portrait.scale import Scale, by_name, by_rank
from manyveils.utility.portrait.shares import Floats, Shown, numbers_of
from manyveils.utility.portrait.ties import Binned, matrix

MOST_ROWS = 100_000
# Every column of one attribute is held against every column of another.
MOST_COLUMNS = 16
RANKS = 8


def compared(release: Release, table: Table, homes: Sequence[str]) -> Shown:
    """Associations before and after, on the same scales; of very many rows, in a sample of them."""
    rows = np.arange(table.n_rows)
    if rows.size > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    before: Binned = {}
    after: Binned = {}
    for home in homes:
        for column in _commonest([table[name] for name in table.expand((home,))]):
            scale = _coarse(column.texts, column.numbers if column.kind == "numeric" else None, column.counts)
            texts = release.reading.estimate.domains[column.name].texts
            n = len(scale.bins) + 1
            # Values that the original does not have stand together at the end.
            before.setdefault(home, []).append((scale.of(column.texts)[column.codes[rows]] % n, n))
            after.setdefault(home, []).append((scale.of(texts)[release.reading.drawn[column.name]] % n, n))
    return {
        "attributes": list(homes),
        "before": matrix(before, n_people=rows.size),
        "after": matrix(after, n_people=rows.size),
    }


def _commonest(columns: Sequence[Attribute]) -> Sequence[Attribute]:
    """Of an attribute with very many values to a cell, the columns of those that most people have."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    return sorted(columns, key=lambda column: int(column.counts[column.absence]))[:MOST_COLUMNS]


def alone(release: Release, names: Sequence[str]) -> Shown:
    """Associations by the release alone."""
    binned: Binned = {}
    for name in names:
        domain, codes = release.reading.estimate.domains[name], release.reading.drawn[name]
        scale = _coarse(domain.texts, numbers_of(domain), np.bincount(codes, minlength=len(domain.texts)))
        binned[name] = [(scale.of(domain.texts)[codes], len(scale.bins))]
    return {"attributes": list(names), "after": matrix(binned, n_people=release.rows)}


def _coarse(texts: Sequence[str], numbers: Floats | None, counts: NDArray[np.int64]) -> Scale:
    weights = counts.astype(np.float64)
    if numbers is None or len(texts) <= RANKS:
        return by_name(texts, weights, most=RANKS)
    return by_rank(texts, numbers, weights, most=RANKS)
