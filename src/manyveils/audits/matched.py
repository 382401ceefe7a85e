"""How many persons of a group hold different values, a different one each: maximum matchings, of all groups at once."""

import numpy as np
import polars as pl

from manyveils.compiling import kernel
from manyveils.reading.keys import Ids, combined, dense, numbered
from manyveils.table.order import in_order

MATCHED = pl.Schema({"group": pl.Int64, "n_matched": pl.Int64})


def matched(edges: pl.DataFrame) -> pl.DataFrame:
    """How many persons of each group hold different values, a different one each: group, n_matched."""
    edges = edges.select("group", "person", "value").unique()
    if not edges.height:
        return pl.DataFrame(schema=MATCHED)
    group, person, value = (edges[name].to_numpy() for name in edges.columns)
    groups, firsts = numbered([group])
    values, shown = numbered([groups, value])
    counts = matched_in(groups[shown], values, dense(combined([groups, person])), edges.height)
    return pl.DataFrame({"group": group[firsts], "n_matched": counts})


def matched_in(groups: Ids, values: Ids, persons: Ids, enough: int) -> Ids:
    """The same for values that stand in the order of their groups; `enough` is said of more.

    `groups` are those of the values, and `values` and `persons` say who holds what; both have other numbers in other groups.
    """
    starts = np.append(0, np.cumsum(np.bincount(groups)))
    holder_starts = np.append(0, np.cumsum(np.bincount(values)))
    return n_matched(starts, holder_starts, persons[in_order(values)], enough)


@kernel
def n_matched(starts: Ids, holder_starts: Ids, holders: Ids, enough: int) -> Ids:
    """The size of a maximum matching between the values and the persons of each group; `enough` where it is that or more.

    Group g has the values from `starts[g]` to `starts[g + 1]`, and value v the holders from `holder_starts[v]` to
    `holder_starts[v + 1]`, who have other numbers in other groups.

    Claim: no group with fewer than `enough` could match more.
    Why: a matching that could grow has a path from a value without a person that ends at a person without a value,
    and goes back from each person to her value (Berge). Every value looks for one. What a search reaches in vain leads
    nowhere later either, until a path is found; so each value found costs the edges of its group once.
    Tested by: tests/claims/test_judging_kernels.py
    """
    n_values, n_persons = holder_starts.size - 1, holders.max() + 1 if holders.size else 0
    matched = np.zeros(starts.size - 1, np.int64)
    value_of, reached = np.full(n_persons, -1), np.full(n_persons, -1)
    from_value, person_of = np.empty(n_persons, np.int64), np.full(n_values, -1)
    waiting = np.empty(n_values + 1, np.int64)
    search = 0
    for group in range(starts.size - 1):
        search += 1
        for value in range(starts[group], starts[group + 1]):
            if matched[group] >= enough:
                break
            waiting[0], done, n_waiting, end = value, 0, 1, -1
            while done < n_waiting and end < 0:
                own = waiting[done]
                done += 1
                for place in range(holder_starts[own], holder_starts[own + 1]):
                    person = holders[place]
                    if reached[person] == search:
                        continue
                    reached[person] = search
                    from_value[person] = own
                    if value_of[person] < 0:
                        end = person
                        break
                    waiting[n_waiting] = value_of[person]
                    n_waiting += 1
            if end < 0:
                continue
            matched[group] += 1
            search += 1
            person = end
            while person >= 0:
                # The path gives this person the value that reached her, and whoever had it goes on.
                own = from_value[person]
                before = person_of[own]
                value_of[person], person_of[own] = own, person
                person = before
    return matched


@n_matched.of_few
def _by_scipy(starts: Ids, holder_starts: Ids, holders: Ids, enough: int) -> Ids:
    from scipy import sparse  # Takes longer to load than most views to judge.
    from scipy.sparse.csgraph import maximum_bipartite_matching

    shape = holder_starts.size - 1, int(holders.max(initial=-1)) + 1
    graph = sparse.csr_array((np.ones(holders.size, dtype=np.int8), holders, holder_starts), shape=shape)
    is_matched = maximum_bipartite_matching(graph, perm_type="column") >= 0
    matched = np.append(0, np.cumsum(is_matched))
    return np.minimum(matched[starts[1:]] - matched[starts[:-1]], enough)
