"""What several releases of the same people tell together, in plain Python: slow, and straight from the definition.

A release is the rows of its table (whose each is, and her value, which does not change) and its groups of persons.
It imports none of the makers' or judges' code.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Person = Hashable
Beliefs = dict[str, Fraction]


class Tied(Exception):
    """It is not said which of several groups goes on from one: persons with several rows are in all of them."""


@dataclass(frozen=True)
class Published:
    """One release: the value of each person of its table, in the order of her number, and who is in which group."""

    values: Mapping[Person, str]
    groups: Sequence[frozenset[Person]]


@dataclass(frozen=True)
class Group:
    """A group that someone sees: who is in it, how often it has each value, and how often that was to be expected."""

    persons: frozenset[Person]
    counts: Mapping[str, int]
    expected: Beliefs
    is_shown: bool

    def gain(self, value: str) -> Fraction:
        """How much likelier a value is for its persons."""
        count = self.counts.get(value, 0)
        return Fraction(count) / self.expected[value] if count else Fraction(0)


@dataclass
class Known:
    """All groups of a chain, release by release."""

    releases: list[list[Group]] = field(default_factory=list)

    @property
    def groups(self) -> list[Group]:
        """All groups of all releases."""
        return [group for release in self.releases for group in release]

    def belief(self, person: Person, prior: Beliefs) -> Beliefs:
        """b(v) in proportion to p(v) · Π of what the groups she is in gain on v."""
        own = [group for group in self.groups if person in group.persons]
        raw = {
            value: p * math.prod((group.gain(value) for group in own), start=Fraction(1))
            for value, p in prior.items()
        }
        total = sum(raw.values(), Fraction(0))
        return {value: weight / total for value, weight in raw.items() if weight}


def prior(release: Published, known: Known) -> Beliefs:
    """How often values are in a table; of one that nobody has any more, as if one had it."""
    counts = Counter(release.values.values())
    counts.update({value: 1 for group in known.groups for value in group.counts if value not in counts})
    return {value: Fraction(count, counts.total()) for value, count in counts.items()}


def successors(before: Sequence[frozenset[Person]], release: Published) -> list[int | None]:
    """Where most persons of each group went; of several groups, the one with the first person of the table, and the fewest."""
    number = {person: place for place, person in enumerate(release.values)}

    def rank(group: frozenset[Person], place: int) -> tuple[int, int, int, int]:
        numbers = [number[person] for person in release.groups[place]]
        return -len(group & release.groups[place]), min(numbers), len(numbers), sum(numbers)

    found: list[int | None] = []
    for group in before:
        ranked = sorted(
            (rank(group, place), place) for place, after in enumerate(release.groups) if group & after
        )
        best = [place for own, place in ranked if own == ranked[0][0]]
        if len({release.groups[place] for place in best}) > 1:
            raise Tied
        found.append(best[0] if best else None)
    return found


def chain(releases: Sequence[Published]) -> Known:
    """The groups that can be told from releases, one after another, of an attribute that does not change."""
    known, last = Known(), list[Group]()
    for release in releases:
        p = prior(release, known)
        everybody = {person for group in known.groups for person in group.persons} | {*release.values}
        beliefs = {person: known.belief(person, p) for person in everybody}
        last = _shown(release, beliefs, last, known)
    return known


def _shown(
    release: Published, beliefs: Mapping[Person, Beliefs], last: Sequence[Group], known: Known
) -> list[Group]:
    goes_to = successors([group.persons for group in last], release)
    shown, more = list[Group](), list[Group]()
    for place, persons in enumerate(release.groups):
        cluster = [group for group, target in zip(last, goes_to, strict=True) if target == place]
        there = frozenset(person for group in cluster for person in group.persons)
        counts = Counter(release.values[person] for person in persons)
        own = Group(persons, counts, _expected(list(persons), beliefs), is_shown=True)
        # Who left: a person as often as she was seen in the cluster.
        gone = [person for group in cluster for person in group.persons - persons]
        if gone:
            counts = Counter[str]()
            for group in cluster:
                counts.update(group.counts)
                counts.subtract(release.values[person] for person in group.persons & persons)
            assert min(counts.values()) >= 0
            counts = +counts
            more.append(Group(frozenset(gone), counts, _expected(gone, beliefs), is_shown=False))
        if there and persons - there:
            for part in (persons - there, persons & there):
                counts = Counter(release.values[person] for person in part)
                more.append(Group(part, counts, _expected(list(part), beliefs), is_shown=False))
            own = Group(persons, own.counts, {v: Fraction(c) for v, c in own.counts.items()}, is_shown=True)
        shown.append(own)
    known.releases.append([*shown, *more])
    return shown


def _expected(persons: Sequence[Person], beliefs: Mapping[Person, Beliefs]) -> Beliefs:
    total: Beliefs = {}
    for person in persons:
        for value, share in beliefs[person].items():
            total[value] = total.get(value, Fraction(0)) + share
    return total


def told(known: Known, p: Beliefs) -> dict[frozenset[int], tuple[set[Person], Beliefs]]:
    """Of those to whom the last release adds something, by the groups they are in: who they are, and what is believed."""
    groups = known.groups
    new = {person for group in known.releases[-1] for person in group.persons}
    found: dict[frozenset[int], tuple[set[Person], Beliefs]] = {}
    for person in new:
        own = frozenset(place for place, group in enumerate(groups) if person in group.persons)
        found.setdefault(own, (set(), known.belief(person, p)))[0].add(person)
    return found
