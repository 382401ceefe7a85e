"""Views put together: what a release tells about some attributes when all its views are read at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from manyveils.attacks.worlds.beliefs import beliefs_in
from manyveils.attacks.worlds.covers import Covers
from manyveils.attacks.worlds.effort import Effort
from manyveils.attacks.worlds.kinds import Kinds, TooMany, kinds_of
from manyveils.attacks.worlds.solve import How, Limits, Solution, solved, worst
from manyveils.attacks.worlds.strips import linked, strips_of
from manyveils.attacks.worlds.telling import telling
from manyveils.reading.domains import Domain, domains_of
from manyveils.release import Release, View

ALLOWED = Limits()
ROUNDING = 1e-6


@dataclass(frozen=True, repr=False)
class Link:
    """Views that shared attributes join, the attributes asked about in them, and what they tell together.

    `left_out` are views for which there was no room.
    """

    views: tuple[str, ...]
    left_out: tuple[str, ...]
    asked: tuple[str, ...]
    solution: Solution


@dataclass(frozen=True, repr=False)
class Combined:
    """What views tell together about some attributes.

    Links share no attribute, so people can be matched across them in any way.
    """

    asked: tuple[str, ...]
    n_people: int
    links: tuple[Link, ...]
    domains: dict[str, Domain]
    covers: dict[str, Covers]

    @property
    def beliefs_by(self) -> How:
        """Whether beliefs are exact or an estimate."""
        return worst([self._said(link, link.solution.beliefs) for link in self.links])

    @property
    def certainty_by(self) -> How:
        """Whether what is certain and what is impossible is known exactly, within bounds, or hardly."""
        return worst([self._said(link, link.solution.certainty) for link in self.links])

    @property
    def how(self) -> How:
        """How it was worked out: exact if everything is, bounds if certainty is bounded, else an estimate."""
        if self.beliefs_by == "exact":
            return self.certainty_by
        return "estimate" if self.certainty_by == "estimate" else "bounds"

    @staticmethod
    def _said(link: Link, how: How) -> How:
        return "estimate" if link.left_out else how

    def beliefs(
        self, profiles: pl.DataFrame, given: Sequence[str], protects: Sequence[str]
    ) -> pl.DataFrame | None:
        """What is believed of people with each profile (`beliefs_in`); nothing where the views do not show it all."""
        if {*protects} - {name for link in self.links for name in link.asked}:
            return None
        found: pl.DataFrame | None = None
        for link in self.links:
            here = [name for name in protects if name in link.asked]
            if here:
                known = [name for name in given if name in link.asked]
                one = beliefs_in(link.solution, self.covers, profiles, known, here)
                found = one if found is None else _both(found, one)
        return found

    def certain(self, effort: float = ALLOWED.effort) -> list[tuple[str, ...]]:
        """The tuples over what was asked that somebody has in every world."""
        if {*self.asked} - {name for link in self.links for name in link.asked}:
            return []
        sure = [list(_surely(link, self.covers, Effort(effort))) for link in self.links]
        found = []
        for parts in product(*sure):
            if sum(least for _, least in parts) > (len(parts) - 1) * self.n_people:
                values = {name: code for cell, _ in parts for name, code in cell.items()}
                found.append(tuple(self.domains[name].texts[values[name]] for name in self.asked))
        return sorted(found)

    def count(self, values: dict[str, str], effort: float = ALLOWED.effort) -> tuple[int, int]:
        """The least and the most people with given values in any world."""
        least, most = self.n_people, self.n_people
        for link in self.links:
            codes = {n: self.domains[n].code.get(values[n], -1) for n in link.asked if n in values}
            low, high = _between(link, codes, self.covers, Effort(effort))
            least, most = least + low - self.n_people, min(most, high)
        return max(least, 0), most


def combined(
    release: Release, asked: Sequence[str], limits: Limits = ALLOWED, views: Sequence[View] | None = None
) -> Combined:
    """Read some views (all, if none are named) at once, for questions about some attributes.

    Claim: a tuple is found certain only if every table that the views may have been made from has it.
    Why: kinds of people are all ways to stand in a row of every view with originals that all rows leave open, and
    the solvers only exclude numbers of people per kind that miss the people of some published row.
    Tested by: tests/attacks/test_worlds.py
    """
    domains = domains_of(release)
    covers = {name: Covers(len(domain.texts)) for name, domain in domains.items()}
    links = []
    for group in linked(release.views if views is None else views):
        here = tuple(name for name in asked if any(name in view.attributes for view in group))
        if here:
            group = telling(release, group, here, domains)
            kinds, taken = _fitting(release, group, here, domains, covers, limits)
            left_out = tuple(view.name for view in group if view not in taken)
            here = tuple(name for name in here if name in kinds.sets)
            solution = solved(kinds, limits, is_simple=_is_simple(taken))
            links.append(Link(tuple(view.name for view in taken), left_out, here, solution))
    return Combined(tuple(asked), release.rows, tuple(links), domains, covers)


def _fitting(
    release: Release,
    group: list[View],
    asked: tuple[str, ...],
    domains: dict[str, Domain],
    covers: dict[str, Covers],
    limits: Limits,
) -> tuple[Kinds, list[View]]:
    """The kinds of people by all views if there is room, otherwise by those that tell most about what is asked last."""

    def kinds(views: list[View]) -> Kinds:
        return kinds_of(strips_of(release, views, asked, domains, covers), covers, limits.kinds)

    try:
        return kinds(group), group
    except TooMany:
        pass
    taken: list[View] = []
    found: Kinds | None = None
    for view in sorted(
        group, key=lambda each: (asked[-1] not in each.attributes, -len({*each.attributes} & {*asked}))
    ):
        try:
            found = kinds([*taken, view])
        except TooMany:
            continue
        taken.append(view)
    if found is None:
        raise TooMany
    return found, taken


def _is_simple(views: list[View]) -> bool:
    return len(views) == 1 and len({*views[0].attributes}) == len(views[0].attributes)


def _both(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Beliefs about attributes of different links, which are independent."""
    both = one.join(other, on="profile", how="inner", suffix=" other")
    return both.with_columns(
        belief=pl.col("belief") * pl.col("belief other"),
        possible=pl.col("possible") & pl.col("possible other"),
    ).drop("belief other", "possible other")


def _surely(link: Link, covers: dict[str, Covers], effort: Effort) -> Iterator[tuple[dict[str, int], int]]:
    """The tuples of a link that somebody has in every world, with the least number of people."""
    sets = {name: link.solution.kinds.sets[name] for name in link.asked}
    is_sure = np.logical_and.reduce([covers[name].sizes[numbers] == 1 for name, numbers in sets.items()])
    frame = pl.DataFrame({**sets, "#kind": np.arange(is_sure.size)}).filter(pl.Series(is_sure))
    cells = frame.group_by(link.asked, maintain_order=True).agg("#kind")
    groups = [np.array(kinds, dtype=np.int64) for kinds in cells["#kind"].to_list()]
    for place, group in enumerate(groups):
        # Somebody in every world makes one on average; only a mean that is exact may rule a tuple out.
        if link.solution.beliefs == "exact" and link.solution.expected[group].sum() < 1 - ROUNDING:
            continue
        least, _ = link.solution.between(group, effort)
        if least >= 1:
            row = cells.row(place, named=True)
            yield {name: next(iter(covers[name].sets[row[name]])) for name in link.asked}, least


def _between(link: Link, codes: dict[str, int], covers: dict[str, Covers], effort: Effort) -> tuple[int, int]:
    """The least of those who surely have some values, and the most of those who may have them."""
    sets = link.solution.kinds.sets
    may = np.ones(link.solution.kinds.size, dtype=bool)
    surely = may.copy()
    for name, code in codes.items():
        holds = np.array([code in members for members in covers[name].sets], dtype=bool)[sets[name]]
        may &= holds
        surely &= holds & (covers[name].sizes == 1)[sets[name]]
    least, _ = link.solution.between(np.flatnonzero(surely), effort)
    _, most = link.solution.between(np.flatnonzero(may), effort)
    return least, most
