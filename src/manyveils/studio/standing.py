"""Who stands out before anything is published: how many people are alike, whom few attributes single out, what is certain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.reading.keys import combined, dense, numbered
from manyveils.table import Attribute
from manyveils.utility.special_uniques import Keys, special_uniques_of

Ids = NDArray[np.int64]
Names = tuple[str, ...]
# Pairs are looked at among so many attributes, those with the most values.
MOST_PAIRED = 12


@dataclass(frozen=True, repr=False)
class People:
    """Columns by name, and the person of each row; None where every row is a person of its own."""

    attributes: Mapping[str, Attribute]
    persons: Ids | None
    n_rows: int

    @property
    def n_persons(self) -> int:
        """How many persons there are."""
        return self.n_rows if self.persons is None else int(self.persons.max(initial=-1)) + 1

    def groups(self, names: Sequence[str]) -> Ids:
        """A number for each row that is equal for rows alike in some columns."""
        if not names:
            return np.zeros(self.n_rows, dtype=np.int64)
        return dense(combined([self.attributes[name].codes.astype(np.int64) for name in names]))


@dataclass(frozen=True, repr=False)
class Crowds:
    """How many people look like each person, herself included: in ascending order, the smallest of her groups."""

    sizes: Ids

    @property
    def n_persons(self) -> int:
        """How many persons there are."""
        return self.sizes.size

    @property
    def alone(self) -> int:
        """How many persons nobody else looks like."""
        return self.below(2)

    def below(self, k: int) -> int:
        """How many persons stand in groups of fewer than k."""
        return int(np.searchsorted(self.sizes, k))


def crowds_of(people: People, names: Sequence[str]) -> Crowds:
    """The people who are alike in some columns; somebody with several rows is found by the rarest of them."""
    groups, persons = people.groups(names), people.persons
    if persons is None:
        return Crowds(np.sort(np.bincount(groups)[groups]))
    _, firsts = numbered([groups, persons])
    sizes = np.bincount(groups[firsts])
    least = np.full(people.n_persons, people.n_rows)
    np.minimum.at(least, persons[firsts], sizes[groups[firsts]])
    return Crowds(np.sort(least))


@dataclass(frozen=True)
class Telling:
    """Columns somebody may know together, and how many persons are then alone."""

    names: Names
    alone: int


def most_telling(people: People, names: Sequence[str], most: int = 5) -> list[Telling]:
    """Each column by itself, and the pairs by which most people are alone."""
    varied = sorted(names, key=lambda name: -people.attributes[name].n_values)[:MOST_PAIRED]
    told = [Telling(some, crowds_of(people, some).alone) for some in combinations(varied, 2)]
    single = [Telling((name,), crowds_of(people, (name,)).alone) for name in names]
    pairs = sorted(told, key=lambda telling: (-telling.alone, telling.names))[:most]
    return sorted(single, key=lambda telling: (-telling.alone, telling.names)) + pairs


def singling_shares(people: People, names: Sequence[str]) -> dict[str, float]:
    """The share of all special uniques that each column takes part in (SUDA2), the largest first; empty if nobody is alone.

    Shares add up to more than 1, because a person may be singled out by several columns together.
    """
    if not names:
        return {}
    special = special_uniques_of(_keys(people, names))
    if not special.scores.any():
        return {}
    return dict(sorted(special.by_attribute.items(), key=lambda pair: -pair[1]))


def _keys(people: People, names: Sequence[str]) -> Keys:
    groups = people.groups(names)
    if people.persons is None:
        _, firsts = numbered([groups])
        counts = np.bincount(groups)[groups[firsts]]
        persons, sizes = np.arange(firsts.size), counts
    else:
        _, firsts = numbered([groups, people.persons])
        sizes = np.bincount(groups[firsts])
        counts, persons = sizes[groups[firsts]], people.persons[firsts]
    columns = {name: people.attributes[name] for name in names}
    return Keys(
        {name: column.codes[firsts].astype(np.int64) for name, column in columns.items()},
        {
            name: (column.codes[firsts] == column.n_values - 1) & column.has_missing
            for name, column in columns.items()
        },
        counts,
        persons,
        sizes,
        people.n_persons,
    )


@dataclass(frozen=True)
class Certain:
    """Of how many persons a sensitive value is certain already: to who knows the quasi-identifiers, and another value too.

    `knowing` is the other sensitive attribute that gives most away, if there is one.
    """

    attribute: str
    n_persons: int
    knowing: str | None
    n_knowing: int


def certain_by(people: People, quasi: Sequence[str], sensitive: Sequence[str]) -> list[Certain]:
    """What is certain of each sensitive attribute if the table is given away as it is."""
    found = []
    for name in sensitive:
        others = {other: n_certain(people, (*quasi, other), name) for other in sensitive if other != name}
        worst = max(others, key=lambda other: others[other], default=None)
        found.append(Certain(name, n_certain(people, quasi, name), worst, others[worst] if worst else 0))
    return found


def n_certain(people: People, known: Sequence[str], name: str) -> int:
    """Of how many persons an attribute is certain: all rows alike in what is known have one and the same value."""
    groups = people.groups(known)
    _, firsts = numbered([groups, people.attributes[name].codes.astype(np.int64)])
    is_certain = np.bincount(groups[firsts])[groups] == 1
    return int(is_certain.sum() if people.persons is None else np.unique(people.persons[is_certain]).size)


@dataclass(frozen=True)
class Bound:
    """The largest l any method could keep for a sensitive attribute, whatever it does."""

    attribute: str
    distinct: int
    frequency: int


def bounds_of(people: People, sensitive: Sequence[str]) -> list[Bound]:
    """Before any method: l distinct values need as many, and no value may be that of more than one in l persons of all."""
    found = []
    for name in sensitive:
        codes = people.attributes[name].codes.astype(np.int64)
        if people.persons is not None:
            codes = codes[numbered([codes, people.persons])[1]]
        counts = np.bincount(codes)
        most = int(counts.max(initial=0))
        found.append(Bound(name, int((counts > 0).sum()), people.n_persons // most if most else 0))
    return found
