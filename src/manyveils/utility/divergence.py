"""How far the distribution a release implies is from that of the original: the Kullback-Leibler divergence."""

import numpy as np
import polars as pl

from manyveils.utility.comparison import Comparison, Measures


def divergence(comparison: Comparison) -> Measures:
    """Sum p ln(p / p̂) over the rows of the original, in nats.

    Rows that p̂ takes for impossible (those that were suppressed may be) would make it infinite: it is taken over
    the other rows, and their share is told beside it.
    """
    estimate = comparison.release.reading.estimate
    names = [name for step in estimate.steps for name in step.new]
    table = comparison.table
    if not names or not table.n_rows:
        return {}
    codes = {f"#{name}": comparison.places[name][table[name].codes] for name in names}
    rows = pl.DataFrame(codes).group_by(list(codes), maintain_order=True).len("#rows")
    counts = rows["#rows"].to_numpy().astype(np.float64)
    known = np.logical_and.reduce([rows[f"#{name}"].to_numpy() >= 0 for name in names])
    tuples = {name: rows[f"#{name}"].to_numpy()[known] for name in names}
    estimated = np.zeros(counts.size)
    estimated[known] = estimate.probability(tuples, int(known.sum()))
    seen = estimated > 0
    total = counts[seen].sum()
    if not total:
        return {"kl_unseen": 1.0}
    shares = counts[seen] / total
    measured = float((shares * np.log(shares / estimated[seen])).sum())
    unseen = 1 - float(total) / table.n_rows
    measures: Measures = {"kl": max(measured, 0.0)}
    return measures | {"kl_unseen": unseen} if unseen > 0 else measures
