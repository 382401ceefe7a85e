"""How well the distribution that a release implies matches the original: its divergence, and the counts it gives."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
    rows = pl.DataFrame(codes).group_by(list(codes), maintain_order=True).len("#rows")
    counts = rows["#rows"].to_numpy().astype(np.float64)
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
