"""Where attacks take place: the release, the truth to compare with, and the people on both sides of it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from manyveils.attacks.adversaries import Ignorant, Reader
from manyveils.attacks.beliefs import Known
from manyveils.attacks.bounds import Bound, bounds_of_values, promises_about
from manyveils.attacks.people import Bools, People, control_people, drawn_people, members
from manyveils.attacks.sightings import has_overlaps
from manyveils.policy import Policy, Promise
from manyveils.release import Release
from manyveils.table import Streams, Table

MOST_TARGETS = 50_000
MOST_CELLS = 20_000_000
MOST_COMPARED = 2_500_000_000
NON_MEMBERS = 2_000


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
        return Reader(self.release, self.table)

    @cached_property
    def ignorant(self) -> Ignorant:
        """Someone who has not."""
        return Ignorant(self.table)

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
            for column in view.parts
            if has_overlaps(view, column.attributes)
        ]
        return max(MOST_COMPARED // max([1, *rows]), NON_MEMBERS)

    @cached_property
    def non_members(self) -> People:
        """People who are not in the data."""
        rng = self.streams.of("attacks.strangers")
        if self.control is not None:
            return control_people(self.table, self.control, MOST_TARGETS, rng)
        published = [name for name in self.table.attributes if self.table.home(name) in self.policy.published]
        return drawn_people(self.table, tuple(published), NON_MEMBERS, rng)

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """What the policy promises."""
        return promises_about(self.policy, self.table)

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
        bounds = bounds_of_values(self.promises, self.table[name], known)
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
