"""What a bucketed release teaches about quasi-identifiers and a sensitive attribute: a naive Bayes model, by EM.

Inside a bucket the sensitive values belong to its rows in an unknown order. The model says how well each goes with
each; the order is weighed by the model, so that every row has one value and every value is used up; and the model is
fitted to that again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.sightings import column_with
from manyveils.reading.columns import PublishedColumn
from manyveils.reading.matching import ranges
from manyveils.reading.views import PublishedView

ROUNDS = 12
BALANCINGS = 5
SMOOTHING = 0.5
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, repr=False)
class Pairs:
    """Rows of one column beside the values of another in the same bucket.

    `row` is an index into the first, `cell` numbers the pairs of bucket and value; `rows` and `cells` say how many there are.
    """

    row: Ids
    value: Ids
    cell: Ids
    rows: Floats
    cells: Floats


def learnt(view: PublishedView, about: str, names: tuple[str, ...]) -> Mapping[str, Floats] | None:
    """For each attribute in another column, how often each label goes with each value; None if it is too much work.

    The result has a row per label and a column per published value, and every column sums to one.
    """
    model: dict[str, Floats] = {}
    _, own = column_with(view, about)
    for column in view.parts:
        known = [name for name in column.attributes if name in names]
        if column is own or not known:
            continue
        pairs = _pairs(column, own, about)
        if pairs is None:
            return None
        model |= _fitted(column, known, pairs, own.spreads[about].sizes.size)
    return model


def _pairs(column: PublishedColumn, own: PublishedColumn, about: str) -> Pairs | None:
    n_values = own.spreads[about].sizes.size
    cells, cell_of = np.unique(own.buckets * n_values + own.labels[about], return_inverse=True)
    counts = np.bincount(cell_of, weights=own.counts, minlength=cells.size).astype(np.float64)
    starts = np.searchsorted(cells // n_values, column.buckets)
    lengths = np.searchsorted(cells // n_values, column.buckets, side="right") - starts
    if int(lengths.sum()) > MOST_PAIRS:
        return None
    cell = ranges(starts, lengths)
    row = np.repeat(np.arange(column.counts.size), lengths)
    return Pairs(row, cells[cell] % n_values, cell, column.counts.astype(np.float64), counts)


def _fitted(column: PublishedColumn, names: list[str], pairs: Pairs, n_values: int) -> dict[str, Floats]:
    sizes = {name: column.spreads[name].sizes.size for name in names}
    labels = {name: column.labels[name][pairs.row].astype(np.int64) for name in names}
    weights = _balanced(pairs.cells[pairs.cell], pairs)
    model: dict[str, Floats] = {}
    for _ in range(ROUNDS):
        likely = pairs.cells[pairs.cell]
        for name in names:
            keys = labels[name] * n_values + pairs.value
            counts = np.bincount(keys, weights=weights, minlength=sizes[name] * n_values)
            smooth = counts.reshape(sizes[name], n_values) + SMOOTHING / sizes[name]
            model[name] = smooth / smooth.sum(axis=0)
            likely = likely * model[name][labels[name], pairs.value]
        weights = _balanced(likely, pairs)
    return model


def _balanced(weights: Floats, pairs: Pairs) -> Floats:
    """Scale weights until rows and values add up to what is published, nearly."""
    for _ in range(BALANCINGS):
        rows = np.bincount(pairs.row, weights=weights, minlength=pairs.rows.size)
        weights = weights * (pairs.rows / np.maximum(rows, 1e-300))[pairs.row]
        cells = np.bincount(pairs.cell, weights=weights, minlength=pairs.cells.size)
        weights = weights * (pairs.cells / np.maximum(cells, 1e-300))[pairs.cell]
    return weights
