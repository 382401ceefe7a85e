"""How well a release answers count queries: the relative error over a random workload (paper 002)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyveils.utility.comparison import Comparison, Measures

N_QUERIES = 100
N_ATTRIBUTES = 3
SHARE = 0.4
SEED = 1
Masks = dict[str, NDArray[np.bool_]]


def query_error(comparison: Comparison) -> Measures:
    """The mean and median of |actual - estimated| / actual over queries that hold for somebody.

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
    asked = [
        (count, masks)
        for masks in random_queries(comparison, n_queries, n_attributes, share, seed)
        if (count := _actual(comparison, masks))
    ]
    actual = np.array([count for count, _ in asked], dtype=np.float64)
    return actual, np.array([estimated(comparison, masks) for _, masks in asked])


def random_queries(
    comparison: Comparison, n_queries: int, n_attributes: int, share: float, seed: int
) -> Iterator[Masks]:
    """Draw queries: for some attributes, the values that are asked for."""
    rng = np.random.default_rng(seed)
    names = comparison.table.expand(comparison.policy.published)
    for _ in range(n_queries if names else 0):
        chosen = rng.choice(len(names), min(n_attributes, len(names)), replace=False)
        masks = {}
        for place in sorted(chosen):
            n_values = comparison.table[names[place]].n_values
            masks[names[place]] = rng.permutation(n_values) < max(1, round(share * n_values))
        yield masks


def _actual(comparison: Comparison, masks: Masks) -> int:
    fits = np.ones(comparison.n_rows, dtype=bool)
    for name, held in masks.items():
        fits &= held[comparison.table[name].codes]
    return int(fits.sum())


def estimated(comparison: Comparison, masks: Masks) -> float:
    """The count that the release gives for a query."""
    reading = comparison.release.reading
    told: Masks = {}
    for name, held in masks.items():
        if name not in comparison.places:
            # Nothing is published of the attribute.
            return 0.0
        wanted = comparison.places[name][held]
        told[name] = np.zeros(len(reading.estimate.domains[name].texts), dtype=bool)
        told[name][wanted[wanted >= 0]] = True
    return reading.count_of(told).estimate
