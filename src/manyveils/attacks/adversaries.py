"""Adversaries and what they believe: one who has read a release, and one who has not.

Where people have several rows, both count people: everybody weighs 1 among those who may be the target.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from manyveils.attacks.beliefs import Beliefs, Known, believed
from manyveils.attacks.people import Floats, Ids, People, alike, looked_up
from manyveils.attacks.search import Search, searched
from manyveils.attacks.sparse_rows import Rows
from manyveils.policy import Policy
from manyveils.reading.views import PublishedView
from manyveils.reading.weighing import Placing, placings, weighed
from manyveils.release import Release
from manyveils.table import Table

MOST_REMEMBERED = 20_000_000


class Adversary(Protocol):
    """Someone with beliefs about people."""

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """What is believed of one attribute of some people, knowing others of theirs."""


@dataclass(frozen=True, repr=False)
class Ignorant:
    """Someone without the release, who knows how common each value is."""

    table: Table

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """Everybody is like the table."""
        shares = shares_of(self.table, about)[np.newaxis, :]
        return Beliefs(Rows.of(shares), np.zeros(people.n, dtype=np.int64))


def shares_of(table: Table, name: str) -> Floats:
    """How common each value of a table is: everybody weighs 1, spread evenly over her rows."""
    counts = table[name].counts
    if table.persons is None:
        return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)
    weights = 1.0 / np.bincount(table.persons)[table.persons]
    totals = np.bincount(table[name].codes, weights=weights, minlength=counts.size)
    return totals / max(table.n_persons, 1)


@dataclass(frozen=True, repr=False)
class Reader:
    """Someone who has read a release; what she finds out once she remembers.

    She counts people where it can be told which rows are about whom, unless she `ignores` persons.
    """

    release: Release
    table: Table
    policy: Policy
    ignores: bool = False
    _beliefs: dict[object, Beliefs] = field(default_factory=dict)
    _searches: dict[object, Search] = field(default_factory=dict)
    _weighed: dict[object, PublishedView] = field(default_factory=dict)

    @cached_property
    def published(self) -> frozenset[str]:
        """The attributes that the release shows and the original has."""
        return frozenset(self.release.reading.estimate.domains) & frozenset(self.table.attributes)

    @cached_property
    def readable(self) -> frozenset[str]:
        """Those of them whose values are not secret."""
        return self.published - frozenset(self.release.manifest.secret)

    @cached_property
    def places(self) -> dict[str, Ids]:
        """Where each value of the original stands among those the release speaks of; -1 for others."""
        domains = self.release.reading.estimate.domains
        return {name: domains[name].codes_of(self.table[name].texts) for name in self.published}

    @property
    def views(self) -> tuple[PublishedView, ...]:
        """The views of the release."""
        return self.release.reading.estimate.views

    @cached_property
    def placed(self) -> dict[str, tuple[Placing, ...]]:
        """Where the rows of the data stand, for each view of which it is told; nothing where rows are people."""
        return {} if self.ignores else placings(self.release, self.table, self.policy)

    @property
    def counts_people(self) -> bool:
        """Whether it can be told of all views which rows are about whom, or every row is about a person of its own."""
        return self.table.persons is None or len(self.placed) == sum(view.n_rows > 0 for view in self.views)

    def weighed(self, view: PublishedView, known: Known) -> PublishedView:
        """A view whose counts are people among those who look alike to someone who knows some attributes."""
        if view.name not in self.placed:
            return view
        question = view.name, frozenset(known)
        if question not in self._weighed:
            self._weighed[question] = weighed(view, self.placed[view.name], known)
        return self._weighed[question]

    def readable_in(self, view: PublishedView, names: Iterable[str]) -> Known:
        """Those of some attributes that can be read in a view."""
        return tuple(name for name in names if name in view.attributes and name in self.readable)

    def known_of(self, people: People, names: Iterable[str]) -> dict[str, Ids]:
        """What is known of people, in the release's own codes; -1 for a value it does not speak of."""
        return {
            name: looked_up(self.places[name], people.codes[name], -1)
            for name in names
            if name in self.readable and name in people.codes
        }

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """p̂ of the release, in the original's codes; values only the release has stand after them."""
        question = (people.name, known, about)
        if question not in self._beliefs:
            self._beliefs[question] = self.cells(people, known, about).in_codes(self.places[about])
        return self._beliefs[question]

    def search(self, people: People, view: PublishedView, known: Known) -> Search:
        """Where people stand in a view, for someone who knows some of its attributes."""
        question = (people.name, view.name, known)
        if question in self._searches:
            return self._searches[question]
        search = searched(self.weighed(view, known), self.known_of(people, known))
        if search.n_located <= MOST_REMEMBERED:
            self._searches[question] = search
        return search

    def cells(self, people: People, known: Known, about: str) -> Beliefs:
        """p̂ of the release in its own codes, whatever they mean."""
        names = tuple(self.known_of(people, known))
        row_of, firsts = self._alike(people, names, about)

        def find(view: PublishedView, shown: Known) -> Search:
            everybody = self.search(people, view, shown)
            return replace(everybody, number_of=everybody.number_of[firsts])

        beliefs = believed(self.views, names, about, find, firsts.size, self.weighed)
        return Beliefs(beliefs.rows, beliefs.row_of[row_of])

    def by_view(self, people: People, known: Known, about: str) -> Iterator[Beliefs]:
        """p̂ in each view by itself that shows an attribute, in the release's own codes."""
        names = tuple(self.known_of(people, known))
        find = partial(self.search, people)
        for view in self.views:
            if about in view.attributes and view.n_rows:
                yield believed([view], names, about, find, people.n, self.weighed)

    def _alike(self, people: People, known: Known, about: str) -> tuple[Ids, Ids]:
        """A number for people who look alike in every view that shows an attribute, and where each stands first."""
        numbers = []
        for view in self.views:
            names = tuple(name for name in known if name in view.attributes and name != about)
            if about in view.attributes and view.n_rows and names:
                numbers.append(self.search(people, view, names).number_of)
        return alike(numbers, people.n)

    def is_exact(self, known: Known, about: str) -> bool:
        """Whether beliefs are shares of rows that look alike: one view, and what is known in one column of it."""
        views = [view for view in self.views if about in view.attributes]
        if not self.counts_people:
            return False
        if len(views) != 1 or views[0].cover_of(about).is_coarse:
            return False
        names = {*known} & self.readable - {about}
        columns = [column for column in views[0].columns if names & {*column.attributes}]
        return len(columns) <= 1 and not any(
            column.covers[name].overlaps for column in columns for name in names & {*column.attributes}
        )
