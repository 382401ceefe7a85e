"""What a release keeps of the associations between sensitive attributes, and what it lets be joined (paper 000)."""

from itertools import combinations
from math import fsum, log

import numpy as np
import polars as pl

from manyveils.utility.comparison import Comparison, Measures


def association(comparison: Comparison) -> Measures:
    """The association loss ratio and the information exposure ratio; nothing for fewer than two sensitive columns.

    Attributes that share a published column stand in one row together: their association is kept, and whoever
    knows one reads off the other. The ratios weigh that by mutual information and by what it leaves unknown.
    """
    names = comparison.table.expand(comparison.policy.sensitive)
    if len(names) < 2:
        return {}
    codes = pl.DataFrame({name: comparison.table[name].codes for name in names})
    entropies = {name: _entropy(codes, name) for name in names}
    concerned = {name: _concerned(comparison, name) for name in names}
    shared, exposed = {}, {}
    for one, other in combinations(names, 2):
        tells = max(entropies[one] + entropies[other] - _entropy(codes, one, other), 0.0)
        shared[one, other] = tells
        exposed[one, other] = sum(
            concerned[name] * max(entropies[name] - tells, 0.0) for name in (one, other)
        )
    parts = [
        [name for name in names if name in file.attributes]
        for view in comparison.release.views
        for file in view.files
    ]
    kept = {pair for part in parts for pair in combinations(part, 2)}
    threat = fsum(len(part) * exposed[pair] for part in parts for pair in combinations(part, 2))
    return {
        "association_loss": _share(
            fsum(shared[pair] for pair in shared.keys() - kept), fsum(shared.values())
        ),
        "information_exposure": _share(threat / len(names), fsum(exposed.values())),
    }


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 1e-9 else 0.0


def _entropy(codes: pl.DataFrame, *names: str) -> float:
    keys = np.zeros(codes.height, dtype=np.int64)
    span = 1
    for name in names:
        size = int(codes[name].max() or 0) + 1  # type: ignore[arg-type]
        keys = keys * size + codes[name].to_numpy()
        span *= size
    is_dense = span <= 4 * codes.height + 1024
    counts = np.bincount(keys) if is_dense else np.unique(keys, return_counts=True)[1]
    # In order of size, so that sums do not depend on how values are called.
    present = np.sort(counts[counts > 0])
    return (
        log(codes.height) - float((present * np.log(present)).sum()) / codes.height if codes.height else 0.0
    )


def _concerned(comparison: Comparison, column: str) -> float:
    """The share of rows whose value needs protection; both values of a 0/1 column do, if what it stands for does."""
    table = comparison.table
    harmless = comparison.policy.attributes[table.home(column)].insensitive
    if table.atom(column) is not None:
        return float(table.atom(column) not in harmless)
    field = table[column]
    spared = sum(int(n) for text, n in zip(field.texts, field.counts, strict=True) if text in harmless)
    return 1 - spared / max(comparison.n_rows, 1)
