"""How persons are sorted by one release and by the next: who left a group, who came into it, and who stayed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from manyveils.kernels.grouping import number
from manyveils.promises.entries import Ids

Bools = NDArray[np.bool_]
# What is seen of a group: itself, who left it, who came into it, and who stayed.
SHOWN, LEFT, JOINED, STAYED = range(4)


@dataclass(frozen=True, repr=False)
class Parting:
    """How persons were sorted by the last release, and how they are now: who left a group, came into it, and stayed.

    A last group is followed by the one that has most of its persons; of several, by the one with the first person of all.
    `left` are pairs of a person and the group that followed hers without her. Of the pairs of a person and her group,
    `is_new` are those of persons who were in none of the groups that it follows, where it follows some.
    """

    persons: Ids
    groups: Ids
    n_groups: int
    # The group that follows each last one; -1 where nobody of it is there any more.
    successors: Ids
    # Pairs of a person and the last group she was in, that she left and that she stayed with.
    left: tuple[Ids, Ids]
    stays: tuple[Ids, Ids]
    is_new: Bools
    # The groups that can be told apart into those who came and those who stayed.
    is_split: Bools

    @cached_property
    def members(self) -> tuple[Ids, Ids]:
        """Every person with everything she is seen in, as often as she is: `4 · group + what`."""
        split = self.is_split[self.groups]
        part = 4 * self.groups[split] + np.where(self.is_new[split], JOINED, STAYED)
        persons = np.concatenate([self.persons, self.left[0], self.persons[split]])
        return persons, np.concatenate([4 * self.groups, 4 * self.left[1] + LEFT, part])


def parting(last: tuple[Ids, Ids], n_last: int, own: tuple[Ids, Ids], n_groups: int, n_all: int) -> Parting:
    """Compare the last groups of persons with those they are in now; pairs of a person and a group, by person."""
    (who, before), (persons, groups) = last, own
    first_of = np.full(n_groups, n_all, dtype=np.int64)
    first_of[groups[::-1]] = persons[::-1]
    n_own = np.bincount(persons, minlength=n_all)
    lengths = n_own[who]
    pair = np.repeat(np.arange(who.size), lengths)
    steps = np.cumsum(n_own)[who] - np.cumsum(lengths)
    place = np.arange(pair.size) + steps[pair]
    met = before[pair] * n_groups + groups[place]
    numbers, firsts = number(met)
    n_met = np.bincount(numbers, minlength=firsts.size)
    old, new = np.divmod(met[firsts], max(n_groups, 1))
    order = np.lexsort((first_of[new], -n_met, old))
    is_first = np.diff(old[order], prepend=-1) != 0
    successors = np.full(n_last, -1, dtype=np.int64)
    successors[old[order[is_first]]] = new[order[is_first]]
    stays = groups[place] == successors[before[pair]]
    has_stayed = np.zeros(who.size, dtype=bool)
    has_stayed[pair[stays]] = True
    is_left = ~has_stayed & (successors[before] >= 0)
    is_new = np.ones(persons.size, dtype=bool)
    is_new[place[stays]] = False
    follows = np.bincount(successors[successors >= 0], minlength=n_groups) > 0
    is_new &= follows[groups]
    is_split = np.bincount(groups[is_new], minlength=n_groups) > 0
    return Parting(
        persons,
        groups,
        n_groups,
        successors,
        (who[is_left], successors[before[is_left]]),
        (who[has_stayed], before[has_stayed]),
        is_new,
        is_split,
    )
