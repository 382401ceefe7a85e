"""Groups that can be told by subtracting one release from the next: who left a group, who joined it, and who stayed."""

from dataclasses import dataclass

import numpy as np

from manyveils.audits.signatures import Pairs
from manyveils.reading.keys import Bools, Ids, ranges


@dataclass(frozen=True, repr=False)
class Derived:
    """How the groups of this release go on from those of the last one.

    The cluster of a group are the groups before whose persons went to it more than to any other. `stays` says which
    pairs of the last release are of persons who are in the group that theirs went to, and `is_in_cluster` which pairs
    of this one are of persons who come from its cluster. `left` are pairs of the last release with the group they left.
    """

    successor: Ids
    stays: Bools
    is_in_cluster: Bools
    left: Pairs
    is_split: Bools


def derived(before: Pairs, after: Pairs, n_before: int, n_after: int) -> Derived:
    """Go on from groups before to groups after.

    The successor of a group is the one after that has most of its persons; of several, the one with the lowest number of
    a person, then the one with fewer persons, and then with lower numbers in all; -1 where it has none.

    Claim: where nobody stayed together with all others of her group, who left and who joined stand in groups of their own.
    Why: whoever has both releases subtracts what one group shows from what the other does.
    Tested by: tests/claims/test_chain_judged.py
    """
    n_persons = 1 + max(int(before.persons.max(initial=-1)), int(after.persons.max(initial=-1)))
    n_of = np.bincount(after.persons, minlength=n_persons)
    first = np.cumsum(n_of) - n_of
    lengths = n_of[before.persons]
    # Every pair before with every group after of the same person.
    own = np.repeat(np.arange(before.persons.size), lengths)
    place = ranges(first[before.persons], lengths)
    successor = _successors(before.groups[own], after, place, n_before, n_after)
    went = successor[before.groups[own]] == after.groups[place]
    stays = np.zeros(before.persons.size, dtype=bool)
    stays[own[went]] = True
    is_in_cluster = np.zeros(after.persons.size, dtype=bool)
    is_in_cluster[place[went]] = True
    has_cluster = np.zeros(n_after, dtype=bool)
    has_cluster[successor[successor >= 0]] = True
    has_joined = np.zeros(n_after, dtype=bool)
    has_joined[after.groups[~is_in_cluster]] = True
    target = successor[before.groups]
    leaves = (target >= 0) & ~stays
    left = Pairs(before.persons[leaves], target[leaves])
    return Derived(successor, stays, is_in_cluster, left, has_cluster & has_joined)


def _successors(groups: Ids, after: Pairs, place: Ids, n_before: int, n_after: int) -> Ids:
    least = np.full(n_after, np.iinfo(np.int64).max)
    least[after.groups[::-1]] = after.persons[::-1]
    # Who has several rows may be the first person of several groups.
    sizes = np.bincount(after.groups, minlength=n_after)
    sums = np.bincount(after.groups, weights=after.persons, minlength=n_after)
    keys, counts = np.unique(groups * max(n_after, 1) + after.groups[place], return_counts=True)
    source, target = np.divmod(keys, max(n_after, 1))
    order = np.lexsort((sums[target], sizes[target], least[target], -counts, source))
    source, target = source[order], target[order]
    is_first = np.diff(source, prepend=-1) > 0
    successor = np.full(n_before, -1, dtype=np.int64)
    successor[source[is_first]] = target[is_first]
    return successor
