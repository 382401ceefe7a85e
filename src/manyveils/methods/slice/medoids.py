"""Clusters of attributes around medoids (PAM), and how many clusters there should be."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def medoid_clusters(distance: Matrix, n_clusters: int) -> list[list[int]]:
    """Partition points into clusters so that the sum of distances to their medoids cannot fall by one exchange.

    >>> medoid_clusters(np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0.0]]), 2)
    [[0, 1], [2]]
    """
    medoids = _build(distance, n_clusters)
    while True:
        exchanges = [
            sorted({*medoids} - {out} | {into})
            for out in medoids
            for into in range(len(distance))
            if into not in medoids
        ]
        best = min(exchanges, key=lambda exchanged: _cost(distance, exchanged), default=medoids)
        if _cost(distance, best) >= _cost(distance, medoids) - 1e-12:
            break
        medoids = best
    nearest = np.argmin(distance[:, medoids], axis=1)
    # A medoid belongs to itself even where another one is as near.
    nearest[medoids] = np.arange(len(medoids))
    return [np.flatnonzero(nearest == cluster).tolist() for cluster in range(len(medoids))]


def _build(distance: Matrix, n_clusters: int) -> list[int]:
    """Choose medoids one by one, each the point that lowers the cost most."""
    medoids: list[int] = []
    for _ in range(n_clusters):
        rest = [point for point in range(len(distance)) if point not in medoids]
        medoids.append(min(rest, key=lambda point: _cost(distance, [*medoids, point])))
    return sorted(medoids)


def _cost(distance: Matrix, medoids: list[int]) -> float:
    return float(distance[:, medoids].min(axis=1).sum())


def silhouette(distance: Matrix, clusters: list[list[int]]) -> float:
    """The mean over points of how much nearer they are to their own cluster than to the next; 0 for singletons."""
    return float(np.mean([_score(distance, clusters, own, point) for own in clusters for point in own]))


def _score(distance: Matrix, clusters: list[list[int]], own: list[int], point: int) -> float:
    if len(own) == 1:
        return 0.0
    inside = float(distance[point, [member for member in own if member != point]].mean())
    rest = (cluster for cluster in clusters if cluster is not own)
    outside = min((float(distance[point, cluster].mean()) for cluster in rest), default=0.0)
    widest = max(inside, outside)
    return (outside - inside) / widest if widest > 0 else 0.0


def best_clusters(distance: Matrix) -> list[list[int]]:
    """The clusters, two or more, with the best silhouette."""
    n = len(distance)
    if n < 3:
        return [[point] for point in range(n)]
    candidates = [medoid_clusters(distance, n_clusters) for n_clusters in range(2, n)]
    return max(candidates, key=lambda clusters: silhouette(distance, clusters))
