"""What a release keeps of the associations between sensitive attributes, and what it lets be joined (paper 000)."""

from itertools import combinations
from math import fsum, log

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
        "association_loss": _share(fsum(shared[pair] for pair in shared.keys() - kept), fsum(shared.values())),
        "information_exposure": _share(threat / len(names), fsum(exposed.values())),
    }


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 1e-9 else 0.0


def _entropy(codes: pl.DataFrame, *names: str) -> float:
    # Groups come in any order, and sums of floats depend on it.
    counts = codes.group_by(*names).len()["len"].sort().to_list()
    return log(codes.height) - fsum(n * log(n) for n in counts) / codes.height if codes.height else 0.0


def _concerned(comparison: Comparison, column: str) -> float:
    """The share of rows whose value needs protection; both values of a 0/1 column do, if what it stands for does."""
    for attribute, bits in comparison.table.derived.items():
        if column in bits:
            atom = column.removeprefix(f"{attribute}=")
            return float(atom not in comparison.policy.attributes[attribute].insensitive)
    harmless = comparison.policy.attributes[column].insensitive
    field = comparison.table[column]
    spared = sum(int(n) for text, n in zip(field.texts, field.counts, strict=True) if text in harmless)
    return 1 - spared / max(comparison.n_rows, 1)
