"""Where attacks take place: the release, the truth to compare with, and the people on both sides of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from manyveils.attacks.adversaries import Adversary, Ignorant, Reader, shares_of
from manyveils.attacks.all_rows import AllRows
from manyveils.attacks.beliefs import Known
from manyveils.attacks.people import (
    Bools,
    Floats,
    Ids,
    People,
    alike,
    controls,
    drawn_people,
    looked_up,
    members,
)
from manyveils.attacks.search import has_overlaps
from manyveils.errors import ManyveilsError
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Guarantee, Likeness
from manyveils.release import Release
from manyveils.table import Attribute, Streams, Table, resolve

MOST_TARGETS = 50_000
MOST_CELLS = 20_000_000
MOST_COMPARED = 2_500_000_000
NON_MEMBERS = 2_000
SOME = 5_000
UNPROMISED = "half of the doubt, since no promise caps it"


@dataclass(frozen=True, repr=False)
class Bound:
    """How much may be believed of each value or each person, where that is promised, and what it is in words."""

    cap: Floats
    promised: Bools
    words: str

    def of(self, codes: Ids) -> "Bound":
        """The bound of each person, by the bounds of values; of a value the data do not have, half of the doubt."""
        promised = looked_up(self.promised, codes, otherwise=False)
        return Bound(looked_up(self.cap, codes, 0.5), promised, self.words)


@dataclass(frozen=True, repr=False, eq=False)
class Aim:
    """An attribute that someone who knows `known` may not learn; `home` is the one it was derived from, or itself.

    `bounds` says how much may be believed of each value, and `spared` which values need no protection.
    """

    known: Known
    about: str
    home: str
    bounds: Bound
    spared: Bools


@dataclass(frozen=True, repr=False)
class Scene:
    """One release under attack, beside the original and the policy.

    `control` has people who are known not to be in the data; without it, non-members are drawn who resemble members.
    `others` are more releases of the same people, older or younger.
    """

    release: Release
    table: Table
    policy: Policy
    others: tuple[Release, ...] = ()
    control: Table | None = None
    streams: Streams = field(default_factory=Streams)

    @cached_property
    def reader(self) -> Reader:
        """Someone who has the release."""
        return Reader(self.release, self.table, self.policy)

    @cached_property
    def ignorant(self) -> Ignorant:
        """Someone who has not."""
        return Ignorant(self.table)

    @cached_property
    def ignoring(self) -> Reader:
        """Someone who has the release and takes every row for a person."""
        return (
            Reader(self.release, self.table, self.policy, ignores=True) if self.reader.placed else self.reader
        )

    @cached_property
    def constant(self) -> frozenset[str]:
        """The attributes that do not change from row to row of a person."""
        return frozenset(self.policy.constant)

    @cached_property
    def some(self) -> tuple[People, Ids]:
        """Some of the targets, if they are very many, and which of their rows these are."""
        people = self.people
        if people.n <= SOME or people.persons is None:
            return people, np.arange(people.n)
        n = max(1, people.n_persons * SOME // people.n)
        is_drawn = np.zeros(people.n_persons, dtype=bool)
        is_drawn[self.streams.of("attacks.some").choice(people.n_persons, n, replace=False)] = True
        rows = np.flatnonzero(is_drawn[people.persons])
        return people.among(rows, "some members"), rows

    @cached_property
    def _knower(self) -> AllRows:
        return AllRows(self.reader, self.table, frozenset(self.table.expand(tuple(self.constant))))

    def knower(self, adversary: Adversary) -> AllRows:
        """An adversary who knows all rows of everybody."""
        return (
            self._knower
            if adversary is self.reader
            else replace(self._knower, adversary=adversary, _beliefs={})
        )

    @cached_property
    def people(self) -> People:
        """The targets: everybody in the data, or a random sample of very many."""
        widest = max((self.table[aim.about].n_values for aim in self.aims), default=1)
        most = max(1, min(MOST_TARGETS, MOST_CELLS // max(widest, 1), self._most_compared))
        return members(self.table, most, self.streams.of("attacks.members"))

    @property
    def _most_compared(self) -> int:
        """How many people can be held against every row, where labels overlap and there is no shorter way."""
        rows = [
            column.counts.size
            for view in self.reader.views
            for column in view.columns
            if has_overlaps(view, column.attributes)
        ]
        return max(MOST_COMPARED // max([1, *rows]), NON_MEMBERS)

    @cached_property
    def non_members(self) -> People:
        """People who are not in the data."""
        rng = self.streams.of("attacks.strangers")
        if self.control is not None:
            return controls(self.table, self.control, MOST_TARGETS, rng)
        published = [name for name in self.table.attributes if self.table.home(name) in self.policy.published]
        return drawn_people(self.table, tuple(published), NON_MEMBERS, rng)

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """What the policy promises; nothing where promises contradict each other or the data."""
        try:
            return resolve(self.policy, self.table)
        except ManyveilsError:
            return ()

    @cached_property
    def quasi(self) -> Known:
        """What is known of people: the quasi-identifiers, and without any, what the rules give."""
        given = dict.fromkeys(name for rule in self.policy.rules for name in rule.given)
        return self.table.expand(self.policy.quasi or tuple(given))

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes, derived ones included, and without any, what the rules protect."""
        by_rule = tuple(dict.fromkeys(rule.protect for rule in self.policy.rules))
        return self.table.expand(self.policy.sensitive or by_rule)

    def greatest(self, key: str) -> int:
        """The greatest threshold of one name that the policy promises, such as `k`; 1 where there is none."""
        return max([1, *(getattr(promise.guarantee, key, 1) for promise in self.promises)])

    @cached_property
    def aims(self) -> tuple[Aim, ...]:
        """Every published attribute that needs protection, with what is known against it."""
        return tuple(
            self.aim(known, name)
            for known, home in self.protections
            for name in self.table.expand((home,))
            if self._can_be_read(name) and self.table.atom(name) not in self._insensitive(name)
        )

    @property
    def protections(self) -> list[tuple[Known, str]]:
        """What the policy protects against what: by roles, and by rules."""
        roles = [(self.table.expand(self.policy.quasi), name) for name in self.policy.sensitive]
        return roles + [(self.table.expand(tuple(rule.given)), rule.protect) for rule in self.policy.rules]

    def aim(self, known: Known, name: str) -> Aim:
        """Aim at an attribute with some knowledge."""
        bounds = bounds_of_values(self.promises, self.table[name], known, self.table)
        return Aim(known, name, self.table.home(name), bounds, self._spared(name))

    def _can_be_read(self, name: str) -> bool:
        """Whether values are published: secret numbers are not, and of other secrets those in the open are."""
        if name in self.release.manifest.secret and self.table[name].kind == "numeric":
            return False
        return name in self.reader.published

    def _insensitive(self, name: str) -> set[str]:
        section = self.policy.attributes.get(self.table.home(name))
        return set(section.insensitive) if section else set()

    def _spared(self, name: str) -> Bools:
        attribute = self.table[name]
        listed = set() if self.table.atom(name) is not None else self._insensitive(name)
        spared = np.array([text in listed for text in attribute.texts], dtype=bool)
        if attribute.absence >= 0:
            spared[attribute.absence] = True
        return spared

    def beside(self, aim: Aim) -> dict[str, tuple[str, ...]]:
        """The attributes derived from every other sensitive one that can be read, one home after the other."""
        homes: dict[str, list[str]] = {}
        for name in self.sensitive:
            home = self.table.home(name)
            if home != aim.home and name not in aim.known and name in self.reader.readable:
                homes.setdefault(home, []).append(name)
        return {home: tuple(names) for home, names in homes.items()}


def even_bound(n: int, cap: float, words: str, *, is_promised: bool) -> Bound:
    """The same bound for n people."""
    return Bound(np.full(n, cap), np.full(n, is_promised), words)


def half_the_doubt(before: Floats) -> Floats:
    """The belief that is left of nothing but half of the doubt there was.

    >>> half_the_doubt(np.array([0.0, 0.5])).tolist()
    [0.5, 0.75]
    """
    return (1.0 + before) / 2.0


def promised_to(promises: Sequence[Promise], about: str, known: Sequence[str]) -> list[Guarantee]:
    """What is promised of an attribute to those who know this much."""
    return [
        promise.guarantee
        for promise in promises
        if promise.protects == (about,) and {*known} <= {*promise.given}
    ]


def holders_of(table: Table, name: str) -> Floats:
    """The share of people who have each value in some row."""
    assert table.persons is not None
    attribute = table[name]
    _, firsts = alike([table.persons, attribute.codes], table.n_rows)
    holders = np.bincount(attribute.codes[firsts], minlength=attribute.n_values)
    return holders / max(table.n_persons, 1)


def bounds_of_values(
    promises: Sequence[Promise], attribute: Attribute, known: Sequence[str], table: Table | None = None
) -> Bound:
    """How sure of each value the policy lets those be who know this much: the strictest cap that promises set.

    Where none does, or it allows certainty, somebody is taken to be known too well when more than half of the doubt
    that everybody has without the release is gone: above (1 + p) / 2 for a value of share p. Nobody promises this, and
    going beyond it breaks no promise. In a `table` of people with several rows, p is a share of people.
    """
    shares = attribute.counts / max(int(attribute.counts.sum()), 1)
    have_it = shares
    if table is not None and table.persons is not None:
        shares, have_it = shares_of(table, attribute.name), holders_of(table, attribute.name)
    caps, kinds = np.full(attribute.n_values, np.inf), dict[str, None]()
    for guarantee in promised_to(promises, attribute.name, known):
        # Nobody is surer of a value than of its label.
        labels, step = attribute.at_level(guarantee.level), attribute.levels[guarantee.level]
        reference = have_it if isinstance(guarantee, Likeness) else shares
        pairs = zip(
            reference.tolist(), (labels.texts[label] for label in step.label_of.tolist()), strict=True
        )
        own = [guarantee.most_belief(share, text) for share, text in pairs]
        if min(own, default=np.inf) < np.inf:
            caps = np.minimum(caps, own)
            kinds[guarantee.kind] = None
    promised = caps < 1.0
    words = [*(kinds if promised.any() else ()), *([] if promised.all() else [UNPROMISED])]
    return Bound(np.where(promised, caps, half_the_doubt(shares)), promised, ", or ".join(words))
