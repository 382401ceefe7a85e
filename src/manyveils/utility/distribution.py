"""What a release keeps of distributions: its divergence from the original, the counts it gives, associations."""

from collections.abc import Iterator
from itertools import combinations
from math import fsum, log

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.table import Table
from manyveils.utility.comparison import Comparison, Measures

N_QUERIES = 100
N_ATTRIBUTES = 3
SHARE = 0.4
SEED = 1
Masks = dict[str, NDArray[np.bool_]]


def divergence(comparison: Comparison) -> Measures:
    """Sum p ln(p / p̂) over the rows of the original: the Kullback-Leibler divergence, in nats.

    Rows that p̂ takes for impossible (suppressed ones may be) would make it infinite: it is taken over
    the other rows, and `kl_unseen` is the share of the impossible ones.
    """
    estimate, table = comparison.release.reading.estimate, comparison.table
    names = [name for step in estimate.steps for name in step.new]
    if not names or not table.n_rows:
        return {}
    codes = {f"#{name}": comparison.release_codes[name][table[name].codes] for name in names}
    rows = pl.DataFrame(codes).group_by(list(codes), maintain_order=True).len("rows")
    counts = rows["rows"].to_numpy().astype(np.float64)
    known = np.logical_and.reduce([rows[name].to_numpy() >= 0 for name in codes])
    tuples = {name: rows[f"#{name}"].to_numpy()[known] for name in names}
    estimated = np.zeros(counts.size)
    estimated[known] = estimate.probability(tuples, int(known.sum()))
    is_possible = estimated > 0
    total = counts[is_possible].sum()
    if not total:
        return {"kl_unseen": 1.0}
    shares = counts[is_possible] / total
    kl = float((shares * np.log(shares / estimated[is_possible])).sum())
    unseen = 1 - float(total) / table.n_rows
    measures: Measures = {"kl": max(kl, 0.0)}
    return measures | {"kl_unseen": unseen} if unseen > 0 else measures


def query_error(comparison: Comparison) -> Measures:
    """The mean and median of |actual - estimated| / actual over random queries that hold for somebody (paper 002).

    Each asks for a random set of 40 % of the values of each of three random attributes; the same queries for every
    release of a table, so that releases compare.
    """
    actual, estimated = workload(
        comparison, n_queries=N_QUERIES, n_attributes=N_ATTRIBUTES, share=SHARE, seed=SEED
    )
    if not actual.size:
        return {}
    errors = np.abs(actual - estimated) / actual
    return {"query_error": float(errors.mean()), "query_error_median": float(np.median(errors))}


def workload(
    comparison: Comparison, *, n_queries: int, n_attributes: int, share: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Actual and estimated counts of random queries; those that hold for nobody are left out."""
    queries = [
        (count, masks)
        for masks in random_queries(comparison, n_queries, n_attributes, share, seed)
        if (count := _actual(comparison, masks))
    ]
    actual = np.array([count for count, _ in queries], dtype=np.float64)
    return actual, np.array([estimated(comparison, masks) for _, masks in queries])


def random_queries(
    comparison: Comparison, n_queries: int, n_attributes: int, share: float, seed: int
) -> Iterator[Masks]:
    """Draw queries: for some attributes, the values that are asked for."""
    rng = np.random.default_rng(seed)
    names = comparison.table.expand(comparison.policy.published)
    for _ in range(n_queries if names else 0):
        chosen = rng.choice(len(names), min(n_attributes, len(names)), replace=False)
        masks = {}
        for name in (names[index] for index in sorted(chosen)):
            n_values = comparison.table[name].n_values
            masks[name] = rng.permutation(n_values) < max(1, round(share * n_values))
        yield masks


def _actual(comparison: Comparison, masks: Masks) -> int:
    fits = np.ones(comparison.n_rows, dtype=bool)
    for name, mask in masks.items():
        fits &= mask[comparison.table[name].codes]
    return int(fits.sum())


def estimated(comparison: Comparison, masks: Masks) -> float:
    """The count that the release gives for a query; 0 if it asks for an attribute that is not published."""
    reading = comparison.release.reading
    if not masks.keys() <= comparison.release_codes.keys():
        return 0.0
    release_masks: Masks = {}
    for name, mask in masks.items():
        codes = comparison.release_codes[name][mask]
        release_masks[name] = np.zeros(len(reading.estimate.domains[name].texts), dtype=bool)
        release_masks[name][codes[codes >= 0]] = True
    return reading.count_of(release_masks).estimate


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
