"""Where attacks take place: the release, the truth to compare with, and the people on both sides of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from manyveils.attacks.bounds import Caps, caps_of, promises_about
from manyveils.attacks.minds import Ignorant, Known, Reader
from manyveils.attacks.people import Bools, People, members, outsiders
from manyveils.attacks.sightings import shape_overlaps
from manyveils.attacks.strangers import strangers
from manyveils.policy import Policy, Promise
from manyveils.release import Release
from manyveils.table import Streams, Table

MOST_TARGETS = 50_000
MOST_CELLS = 20_000_000
MOST_COMPARED = 2_500_000_000
STRANGERS = 2_000

Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False, eq=False)
class Aim:
    """A column that someone who knows `known` may not learn; `home` is the attribute it stands for.

    `spared[c]` says that the value c needs no protection.
    """

    known: Known
    about: str
    home: str
    caps: Caps
    spared: Bools


@dataclass(frozen=True, repr=False)
class Scene:
    """One release under attack, beside the original and the policy.

    `control` has people who are known not to be in the data; without it, strangers are drawn who resemble those who are.
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
            part.counts.size
            for shape in self.reader.shapes
            for part in shape.parts
            if shape_overlaps(shape, part.attributes)
        ]
        return max(MOST_COMPARED // max([1, *rows]), STRANGERS)

    @cached_property
    def strangers(self) -> People:
        """People who are not in the data."""
        rng = self.streams.of("attacks.strangers")
        if self.control is not None:
            return outsiders(self.table, self.control, MOST_TARGETS, rng)
        names = tuple(
            name for name in self.table.attributes if self.table.home(name) in self.policy.published
        )
        return strangers(self.table, names, STRANGERS, rng)

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        """What the policy promises."""
        return promises_about(self.policy, self.table)

    @cached_property
    def quasi(self) -> Known:
        """What outsiders know: the quasi-identifiers, and without any, what the rules give."""
        given = dict.fromkeys(name for rule in self.policy.rules for name in rule.given)
        return self.table.expand(self.policy.quasi or tuple(given))

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, and without any, what the rules protect."""
        by_rule = tuple(dict.fromkeys(rule.protect for rule in self.policy.rules))
        return self.table.expand(self.policy.sensitive or by_rule)

    @cached_property
    def aims(self) -> tuple[Aim, ...]:
        """Every published column that needs protection, with what is known against it."""
        return tuple(self._aims())

    @property
    def asked(self) -> list[tuple[Known, str]]:
        """What the policy protects against what: roles, and rules."""
        roles = [(self.table.expand(self.policy.quasi), name) for name in self.policy.sensitive]
        return roles + [(self.table.expand(tuple(rule.given)), rule.protect) for rule in self.policy.rules]

    def _aims(self) -> Iterator[Aim]:
        for known, name in self.asked:
            for column in self.table.expand((name,)):
                if self._can_be_read(column) and not self._is_spared(column):
                    yield self.aim(known, column)

    def aim(self, known: Known, column: str) -> Aim:
        """Aim at a column with some knowledge."""
        caps = caps_of(self.promises, self.table[column], known)
        return Aim(known, column, self.table.home(column), caps, self._spared(column))

    def _can_be_read(self, column: str) -> bool:
        """Whether values are published: numbers that are secret are not, and of other secrets those in the open are."""
        if column in self.release.manifest.secret and self.table[column].kind == "numeric":
            return False
        return column in self.reader.published

    def _is_spared(self, column: str) -> bool:
        return self.table.atom(column) in self._insensitive(column)

    def _insensitive(self, column: str) -> set[str]:
        attribute = self.policy.attributes.get(self.table.home(column))
        return set(attribute.insensitive) if attribute else set()

    def _spared(self, column: str) -> Bools:
        held = self.table[column]
        listed = set() if self.table.atom(column) is not None else self._insensitive(column)
        spared = np.array([text in listed for text in held.texts], dtype=bool)
        if held.absence >= 0:
            spared[held.absence] = True
        return spared

    def beside(self, aim: Aim) -> dict[str, tuple[str, ...]]:
        """The columns of every other sensitive attribute that can be read, attribute by attribute."""
        homes: dict[str, list[str]] = {}
        for column in self.sensitive:
            home = self.table.home(column)
            if home != aim.home and column not in aim.known and column in self.reader.readable:
                homes.setdefault(home, []).append(column)
        return {home: tuple(columns) for home, columns in homes.items()}
