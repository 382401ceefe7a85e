"""What a release keeps of the associations between sensitive attributes, and what it lets be joined (paper 000)."""

from itertools import combinations
from math import fsum, log

import numpy as np

from manyveils.table import Table
from manyveils.utility.comparison import Comparison, Measures


def association(comparison: Comparison) -> Measures:
    """The association loss ratio and the information exposure ratio; nothing for fewer than two sensitive attributes.

    Attributes that share a published column stand in one row together: their association is kept, and whoever
    knows one reads off the other. The ratios weigh that by mutual information and by what it leaves unknown.
    """
    table = comparison.table
    names = table.expand(comparison.policy.sensitive)
    if len(names) < 2:
        return {}
    entropies = {name: _entropy(table, name) for name in names}
    sensitive = {name: _sensitive_share(comparison, name) for name in names}
    shared, exposed = {}, {}
    for pair in combinations(names, 2):
        mutual = max(sum(entropies[name] for name in pair) - _entropy(table, *pair), 0.0)
        shared[pair] = mutual
        exposed[pair] = sum(sensitive[name] * max(entropies[name] - mutual, 0.0) for name in pair)
    columns = [
        [name for name in names if name in file.attributes]
        for view in comparison.release.views
        for file in view.files
    ]
    together = {pair for column in columns for pair in combinations(column, 2)}
    threat = fsum(len(column) * exposed[pair] for column in columns for pair in combinations(column, 2))
    return {
        "association_loss": _share(
            fsum(shared[pair] for pair in shared.keys() - together), fsum(shared.values())
        ),
        "information_exposure": _share(threat / len(names), fsum(exposed.values())),
    }


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 1e-9 else 0.0


def _entropy(table: Table, *names: str) -> float:
    """The entropy of attributes taken together, in nats."""
    if not table.n_rows:
        return 0.0
    keys, span = np.zeros(table.n_rows, dtype=np.int64), 1
    for attribute in (table[name] for name in names):
        keys = keys * attribute.n_values + attribute.codes
        span *= attribute.n_values
    is_dense = span <= 4 * table.n_rows + 1024
    counts = np.bincount(keys) if is_dense else np.unique(keys, return_counts=True)[1]
    # In order of size, so that sums do not depend on how values are called.
    present = np.sort(counts[counts > 0])
    return log(table.n_rows) - float((present * np.log(present)).sum()) / table.n_rows


def _sensitive_share(comparison: Comparison, name: str) -> float:
    """The share of rows whose value needs protection; of a derived attribute all or none, as its one value does."""
    table = comparison.table
    insensitive = comparison.policy.attributes[table.home(name)].insensitive
    if table.atom(name) is not None:
        return float(table.atom(name) not in insensitive)
    counts = zip(table[name].texts, table[name].counts, strict=True)
    return 1 - sum(int(count) for text, count in counts if text in insensitive) / max(table.n_rows, 1)
