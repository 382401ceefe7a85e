"""Minds that hold beliefs: one that has read a release, and one that has not."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from manyveils.attacks.beliefs import Beliefs, believed
from manyveils.attacks.people import Ids, People, places_of
from manyveils.attacks.sightings import MOST_KEPT, Sightings, sightings
from manyveils.reading.matching import numbered
from manyveils.reading.views import PublishedView
from manyveils.release import Release
from manyveils.table import Table

Known = tuple[str, ...]


class Mind(Protocol):
    """Someone with beliefs about people."""

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """What is believed of one attribute of some people, knowing others of theirs."""


@dataclass(frozen=True, repr=False)
class Ignorant:
    """Someone without the release, who knows how common each value is."""

    table: Table

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """Everybody is like the table."""
        counts = self.table[about].counts
        return Beliefs((counts / max(counts.sum(), 1))[np.newaxis, :], np.zeros(people.n, dtype=np.int64))


@dataclass(frozen=True, repr=False)
class Reader:
    """Someone who has read a release; what she finds out once she remembers."""

    release: Release
    table: Table
    _found: dict[object, Beliefs] = field(default_factory=dict)
    _sighted: dict[object, Sightings] = field(default_factory=dict)

    @cached_property
    def published(self) -> frozenset[str]:
        """The columns that the release shows and the original has."""
        return frozenset(self.release.reading.estimate.domains) & frozenset(self.table.attributes)

    @cached_property
    def readable(self) -> frozenset[str]:
        """Those of them whose values are not secret."""
        return self.published - frozenset(self.release.manifest.secret)

    @cached_property
    def places(self) -> dict[str, Ids]:
        """Where each value of the original stands among those the release speaks of; -1 for others."""
        domains = self.release.reading.estimate.domains
        return {name: places_of(self.table[name].texts, domains[name].texts) for name in self.published}

    @property
    def shapes(self) -> tuple[PublishedView, ...]:
        """The views of the release."""
        return self.release.reading.estimate.shapes

    def known_of(self, people: People, names: Known) -> dict[str, Ids]:
        """What is known of people, in the release's own codes; -1 for a value it does not speak of."""
        known = {}
        for name in names:
            if name in self.readable and name in people.codes:
                codes = people.codes[name]
                known[name] = np.where(codes >= 0, self.places[name][np.maximum(codes, 0)], -1)
        return known

    def of(self, people: People, known: Known, about: str) -> Beliefs:
        """p̂ of the release, in the original's codes; values only the release has stand after them."""
        question = (people.name, known, about)
        if question not in self._found:
            self._found[question] = self._worked_out(people, known, about)
        return self._found[question]

    def sighted(self, people: People, shape: PublishedView, known: Known) -> Sightings:
        """Where people stand in a view, for someone who knows some of its attributes."""
        question = (people.name, shape.name, known)
        if question in self._sighted:
            return self._sighted[question]
        found = sightings(shape, self.known_of(people, known))
        if found.n_located <= MOST_KEPT:
            self._sighted[question] = found
        return found

    def cells(self, people: People, known: Known, about: str) -> Beliefs:
        """p̂ of the release in its own codes, whatever they mean."""
        held = self.known_of(people, tuple(name for name in known if self._helps(name, about)))
        of, firsts = self._different(people, tuple(held), about)

        def find(shape: PublishedView, asked: Known) -> Sightings:
            whole = self.sighted(people, shape, asked)
            return replace(whole, of=whole.of[firsts])

        return Beliefs(believed(self.shapes, held, about, find, firsts.size), of)

    def _different(self, people: People, known: Known, about: str) -> tuple[Ids, Ids]:
        """A number for people who look alike in every view that shows an attribute, and where each stands first."""
        places = []
        for shape in self.shapes:
            asked = tuple(name for name in known if name in shape.attributes and name != about)
            if about in shape.attributes and shape.n_rows and asked:
                places.append(self.sighted(people, shape, asked).of + 1)
        if not places:
            return np.zeros(people.n, dtype=np.int64), np.zeros(min(people.n, 1), dtype=np.int64)
        return numbered(places, [int(each.max(initial=0)) + 1 for each in places])

    def _worked_out(self, people: People, known: Known, about: str) -> Beliefs:
        cells = self.cells(people, known, about)
        places, n_values = self.places[about], self.table[about].n_values
        strange = np.setdiff1d(np.arange(cells.rows.shape[1]), places)
        result = np.zeros((cells.rows.shape[0], n_values + strange.size))
        result[:, :n_values] = np.where(places >= 0, cells.rows[:, np.maximum(places, 0)], 0.0)
        result[:, n_values:] = cells.rows[:, strange]
        return Beliefs(result, cells.of)

    def _helps(self, name: str, about: str) -> bool:
        """Whether a view shows both; what stands nowhere beside an attribute tells nothing of it."""
        return any({name, about} <= {*shape.attributes} for shape in self.shapes)

    def is_exact(self, known: Known, about: str) -> bool:
        """Whether beliefs are shares of rows that look alike: one view, and what is known in one column of it."""
        shapes = [each for each in self.shapes if about in each.attributes]
        if len(shapes) != 1:
            return False
        asked = {*known} & self.readable - {about}
        holders = [part for part in shapes[0].parts if asked & {*part.attributes}]
        if shapes[0].spread_of(about).is_coarse:
            return False
        return len(holders) <= 1 and not any(
            part.spreads[name].overlaps for part in holders for name in asked & {*part.attributes}
        )
