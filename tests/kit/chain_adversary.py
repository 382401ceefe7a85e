"""Someone who has all releases of the same people and knows who they are, in plain Python: what becomes certain for her.

She reads the published files and shares no code with what makes, judges or attacks releases. She knows who is in each
table and everybody's quasi-identifiers then, or even in which group everybody is (`where`). What she finds is certain,
but not all that is: a lower bound on what can be known. Each person must have one row in each release.
"""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

Label = tuple[str, ...]
Group = int | Label
Crowds = dict[frozenset[str], Counter[str]]
ROUNDS = 4
# Larger parts of crowds are not followed up: there are very many, and little comes of them.
LARGEST_PART = 60


@dataclass(frozen=True)
class Seen:
    """One release, for one attribute: what each person may have, and the groups of which all members are known."""

    possible: dict[str, set[str]]
    groups: Crowds


@dataclass(frozen=True)
class Certain:
    """The values that are certain: by intersecting alone, by subtracting too, and by ruling out who is certain."""

    by_intersecting: dict[str, str]
    by_subtracting: dict[str, str]
    by_all: dict[str, str]


def certain(releases: Sequence[Seen]) -> Certain:
    """Whose value of a constant attribute is certain to someone who has all these releases."""
    intersected = Knowledge(releases)
    intersected.narrow()
    subtracted = Knowledge(releases)
    subtracted.learn(rules_out=False)
    return Certain(intersected.settled(), subtracted.settled(), all_certain(releases))


def all_certain(releases: Sequence[Seen]) -> dict[str, str]:
    """The values that are certain to someone who intersects, subtracts and rules out: the quick way to all of them."""
    everything = Knowledge(releases)
    everything.learn(rules_out=True)
    return everything.settled()


class Knowledge:
    """What each person may have, and crowds of whom all values together are known."""

    def __init__(self, releases: Sequence[Seen]) -> None:
        self.possible: dict[str, set[str]] = {}
        self.crowds: Crowds = {}
        self.compared: set[tuple[frozenset[str], frozenset[str]]] = set()
        for seen in releases:
            for person, values in seen.possible.items():
                self.possible[person] = self.possible.get(person, values) & values
            for persons, values in seen.groups.items():
                self.add(persons, values)
        for before, after in combinations(releases, 2):
            for one, other in ((before, after), (after, before)):
                for persons, values in joined(one.groups, other.groups):
                    self.add(persons, values)
        # All crowds are compared with those that releases show; comparing all with all would take too long.
        self.shown = set(self.crowds)

    def add(self, persons: frozenset[str], values: Counter[str]) -> bool:
        """Remember a crowd; whether it is news."""
        assert len(persons) == values.total()
        known = self.crowds.setdefault(persons, values)
        assert known == values, "a constant attribute changed"
        return known is values

    def settled(self) -> dict[str, str]:
        """Whose value is certain."""
        assert all(self.possible.values()), "a constant attribute changed, or a release is false"
        return {person: next(iter(own)) for person, own in self.possible.items() if len(own) == 1}

    def learn(self, *, rules_out: bool) -> None:
        """Draw conclusions until there is nothing new, or often enough."""
        for _ in range(ROUNDS):
            self.narrow()
            while rules_out and self.rule_out():
                pass
            if not self.subtract():
                break
        self.narrow()
        while rules_out and self.rule_out():
            pass

    def narrow(self) -> None:
        """Nobody has a value that one of her crowds does not have."""
        for persons, values in self.crowds.items():
            for person in persons:
                self.possible[person] &= values.keys()

    def rule_out(self) -> bool:
        """Whether anything is learnt: who is certain leaves her crowds, and values go to the only ones who can have them."""
        before = sum(map(len, self.possible.values()))
        own = self.settled()
        self.shown = {persons.difference(own) for persons in self.shown}
        crowds, self.crowds = self.crowds, {}
        for persons, values in crowds.items():
            known = persons.intersection(own)
            if persons - known:
                self.add(persons - known, values - Counter(own[person] for person in known))
        for persons, values in self.crowds.items():
            self.assign(persons, values)
        self.narrow()
        return sum(map(len, self.possible.values())) < before

    def assign(self, persons: frozenset[str], values: Counter[str]) -> None:
        """Where only so many of a crowd can have a value as do, they have it."""
        holders: dict[str, list[str]] = defaultdict(list)
        for person in persons:
            for value in self.possible[person] & values.keys():
                holders[value].append(person)
        for value, count in values.items():
            if len(holders[value]) == count:
                self.possible |= {person: {value} for person in holders[value]}

    def subtract(self) -> bool:
        """Whether two crowds that share members tell what only one of them has, and what they share."""
        of_person: dict[str, list[frozenset[str]]] = defaultdict(list)
        for persons in self.crowds:
            for person in persons:
                of_person[person].append(persons)
        pairs = {
            (one, other)
            for crowds in of_person.values()
            for one in crowds
            if one in self.shown
            for other in crowds
            if one is not other
        } - self.compared
        self.compared |= pairs
        return sum(self.add(*crowd) for pair in pairs for crowd in self.told(*pair)) > 0

    def told(
        self, one: frozenset[str], other: frozenset[str]
    ) -> Iterable[tuple[frozenset[str], Counter[str]]]:
        """The parts of two crowds, if what one has more of is as much as it has members more."""
        surplus, rest = self.crowds[one] - self.crowds[other], self.crowds[other] - self.crowds[one]
        if surplus.total() == len(one - other):
            parts = (
                (one - other, surplus),
                (other - one, rest),
                (one & other, self.crowds[one] & self.crowds[other]),
            )
            yield from (part for part in parts if 0 < len(part[0]) <= LARGEST_PART)


def joined(groups: Crowds, others: Crowds) -> Iterable[tuple[frozenset[str], Counter[str]]]:
    """For each of the other groups, all groups together most of whose people are in it."""
    other_of = {person: persons for persons in others for person in persons}
    together: dict[frozenset[str], list[frozenset[str]]] = defaultdict(list)
    for persons in groups:
        shared = Counter(other_of[person] for person in sorted(persons) if person in other_of)
        if shared:
            together[shared.most_common(1)[0][0]].append(persons)
    for parts in together.values():
        yield frozenset().union(*parts), sum((groups[part] for part in parts), Counter())


def read(
    folder: Path, people: Mapping[str, Mapping[str, str]], about: str, where: Mapping[str, int] | None = None
) -> Seen:
    """Read a release in csv files: `people` are those in the table, with their quasi-identifiers as texts.

    `where` tells the bucket of each person, or in views without buckets her line, from 0; negative for who is left out.
    """
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    (view,) = (own for own in document["views"] if _has(own, about))
    quasi = {name for own in people.values() for name in own}
    columns = [_Column.read(folder, column, view, quasi) for column in view["columns"]]
    source = next(column for column in columns if about in column.names)
    values_of: dict[Group, Counter[str]] = defaultdict(Counter)
    for group, line in zip(source.groups, source.lines, strict=True):
        values_of[group][line[about]] += 1
    if where is None:
        candidates = {person: _candidates(columns, own) for person, own in people.items()}
        published = set(people) if not document["suppressed"] else _published(columns, people)
    else:
        published = {person for person, place in where.items() if place >= 0}
        candidates = {
            person: {where[person] if view["bucketed"] else source.groups[where[person]]}
            for person in published
        }
    possible = {
        person: {
            value for group in candidates[person] for value in source.values(group, people[person], about)
        }
        for person in published
    }
    return Seen(possible, _whole(candidates, published, values_of))


def _has(view: Mapping[str, list[Mapping[str, list[str]]]], about: str) -> bool:
    return any(about in column["attributes"] for column in view["columns"])


def _whole(
    candidates: Mapping[str, set[Group]], published: set[str], values_of: Mapping[Group, Counter[str]]
) -> Crowds:
    """The groups of which every member is known: as many people can only be there, and no others can be."""
    surely: dict[Group, set[str]] = defaultdict(set)
    perhaps: set[Group] = set()
    for person, groups in candidates.items():
        if len(groups) == 1 and person in published:
            surely[next(iter(groups))].add(person)
        else:
            perhaps |= groups
    return {
        frozenset(persons): values_of[group]
        for group, persons in surely.items()
        if group not in perhaps and len(persons) == values_of[group].total()
    }


def _published(columns: Sequence["_Column"], people: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Who is surely in the release: where labels stand as often as there are people who may have them."""
    return {person for column in columns if column.quasi for person in column.surely(people)}


def _candidates(columns: Sequence["_Column"], known: Mapping[str, str]) -> set[Group]:
    """The groups in which somebody may be of whom this is known."""
    fitting = [column.groups_of(known) for column in columns if column.quasi]
    return set.intersection(*fitting) if fitting else set(columns[0].groups[:1])


@dataclass
class _Column:
    """The lines of one file, with the group of each."""

    names: list[str]
    quasi: list[str]
    lines: list[dict[str, str]]
    groups: list[Group]
    covers: dict[str, "_Cover"]
    by_label: dict[Label, set[Group]] = field(default_factory=lambda: defaultdict(set))
    by_place: dict[tuple[Group, Label], list[dict[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @classmethod
    def read(
        cls, folder: Path, column: Mapping[str, object], view: Mapping[str, object], quasi: set[str]
    ) -> "_Column":
        """Read a file; without buckets, lines that read alike make a group."""
        with (folder / str(column["file"])).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        names = list(column["attributes"])  # type: ignore[attr-defined]
        known = [name for name in names if name in quasi]
        labels = [tuple(line[name] for name in known) for line in lines]
        groups: list[Group] = [int(line["bucket"]) for line in lines] if view["bucketed"] else [*labels]
        own = cls(
            names,
            known,
            lines,
            groups,
            {name: _Cover(folder, str(view["name"]), name, lines) for name in known},
        )
        for label, group, line in zip(labels, groups, lines, strict=True):
            own.by_label[label].add(group)
            own.by_place[group, label].append(line)
        return own

    def labels_of(self, known: Mapping[str, str]) -> Iterable[Label]:
        """All ways in which somebody of whom this is known may be labelled."""
        return product(*(self.covers[name].labels_of(known[name]) for name in self.quasi))

    def groups_of(self, known: Mapping[str, str]) -> set[Group]:
        """The groups that have such a label."""
        return {group for label in self.labels_of(known) for group in self.by_label.get(label, ())}

    def surely(self, people: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
        """Everybody who may have some labels, where no fewer lines have them."""
        lines_of = Counter(tuple(line[name] for name in self.quasi) for line in self.lines)
        joint: dict[Label, Label] = {label: label for label in lines_of}

        def root(label: Label) -> Label:
            while joint[label] != label:
                label = joint[label]
            return label

        label_of: dict[str, Label] = {}
        for person, known in people.items():
            first, *others = [label for label in self.labels_of(known) if label in lines_of] or [()]
            if first:
                label_of[person] = first
                for other in others:
                    joint[root(other)] = root(first)
        n_people = Counter(root(label) for label in label_of.values())
        n_lines: Counter[Label] = Counter()
        for label, count in lines_of.items():
            n_lines[root(label)] += count
        return [person for person, label in label_of.items() if n_people[root(label)] == n_lines[root(label)]]

    def values(self, group: Group, known: Mapping[str, str], about: str) -> set[str]:
        """The values in a group's lines that may be hers."""
        places = ((group, label) for label in self.labels_of(known))
        return {line[about] for place in places for line in self.by_place.get(place, ())}


class _Cover:
    """Which labels of an attribute cover a value: as its recoding file says, or as labels read without one."""

    def __init__(self, folder: Path, view: str, name: str, lines: Iterable[Mapping[str, str]]) -> None:
        self.labels = {line[name] for line in lines}
        self.told: dict[str, set[str]] | None = None
        self.remembered: dict[str, list[str]] = {}
        file = folder / "recodings" / f"{view}.{name}.csv"
        if file.is_file():
            self.told = defaultdict(set)
            with file.open(encoding="utf-8", newline="") as opened:
                for published, original in list(csv.reader(opened, delimiter=";"))[1:]:
                    self.told[original].add(published)

    def labels_of(self, value: str) -> list[str]:
        """The published labels that cover a value."""
        if value not in self.remembered:
            self.remembered[value] = [label for label in sorted(self.labels) if self._covers(label, value)]
        return self.remembered[value]

    def _covers(self, label: str, value: str) -> bool:
        if label in (value, "*"):
            return True
        if self.told is not None and value in self.told:
            return label in self.told[value]
        if label.startswith("[") and label.endswith("]"):
            low, high = label[1:-1].split(",")
            return float(low) <= float(value) <= float(high)
        if label.startswith("{") and label.endswith("}"):
            return value in label[1:-1].split(", ")
        kept = label.rstrip("*")
        return kept != label and len(label) == len(value) and value.startswith(kept)
