"""How many persons of a group hold different values, a different one each: maximum matchings, of all groups at once."""

import numpy as np
import polars as pl

from manyveils.reading.keys import combined, dense

MATCHED = pl.Schema({"group": pl.Int64, "n_matched": pl.Int64})


def matched(edges: pl.DataFrame) -> pl.DataFrame:
    """How many persons of each group hold different values, a different one each: group, n_matched."""
    edges = edges.select("group", "person", "value").unique()
    return maximum_matchings(edges) if edges.height else pl.DataFrame(schema=MATCHED)


def maximum_matchings(edges: pl.DataFrame) -> pl.DataFrame:
    """The size of a maximum matching in each group: group, n_matched."""
    from scipy import sparse  # Takes longer to load than most views to judge.
    from scipy.sparse.csgraph import maximum_bipartite_matching

    group, person, value = (edges[name].to_numpy() for name in ("group", "person", "value"))
    persons, values = dense(combined([group, person])), dense(combined([group, value]))
    shape = int(persons.max()) + 1, int(values.max()) + 1
    graph = sparse.csr_array((np.ones(group.size, dtype=np.int8), (persons, values)), shape=shape)
    partner = maximum_bipartite_matching(graph, perm_type="column")
    group_of = np.empty(shape[0], dtype=np.int64)
    group_of[persons] = group
    counts = np.bincount(group_of[partner >= 0], minlength=int(group.max()) + 1)
    numbers = np.unique(group)
    return pl.DataFrame({"group": numbers, "n_matched": counts[numbers]})
