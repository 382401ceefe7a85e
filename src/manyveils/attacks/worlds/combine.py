"""Views put together: what a release tells about some attributes when all its views are read at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids
from manyveils.attacks.worlds.beliefs import beliefs_in
from manyveils.attacks.worlds.covers import Covers
from manyveils.attacks.worlds.effort import Effort
from manyveils.attacks.worlds.kinds import Kinds, TooMany, kinds_of
from manyveils.attacks.worlds.solve import How, Limits, Solution, solved, worst
from manyveils.attacks.worlds.strips import strips_of
from manyveils.attacks.worlds.views import linked, telling, whole_views
from manyveils.reading.domains import Domain
from manyveils.reading.views import PublishedView
from manyveils.release import Release

ALLOWED = Limits()
ROUNDING = 1e-6


@dataclass(frozen=True, repr=False)
class Link:
    """Views that shared attributes join: the attributes of the question in them, and what they tell together.

    `left_out` are views for which there was no room.
    """

    left_out: tuple[str, ...]
    attributes: tuple[str, ...]
    solution: Solution


@dataclass(frozen=True, repr=False)
class Combined:
    """What views tell together about some attributes.

    Links share no attribute, so people can be matched across them in any way.
    """

    question: tuple[str, ...]
    n_people: int
    links: tuple[Link, ...]
    domains: Mapping[str, Domain]
    covers: dict[str, Covers]

    @property
    def beliefs_by(self) -> How:
        """Whether beliefs are exact or an estimate."""
        return worst(["estimate" if link.left_out else link.solution.beliefs for link in self.links])

    @property
    def certainty_by(self) -> How:
        """Whether what is certain and what is impossible is known exactly, within bounds, or hardly."""
        return worst(["estimate" if link.left_out else link.solution.certainty for link in self.links])

    @property
    def how(self) -> How:
        """How it was worked out: exact if everything is, bounds if certainty is bounded, else an estimate."""
        if self.beliefs_by == "exact":
            return self.certainty_by
        return "estimate" if self.certainty_by == "estimate" else "bounds"

    def beliefs(self, profiles: Mapping[str, Ids], n: int, about: str) -> pl.DataFrame:
        """What is believed of people with each profile (`beliefs_in`); what other links show tells nothing of it."""
        link = next(link for link in self.links if about in link.attributes)
        known = {name: codes for name, codes in profiles.items() if name in link.attributes}
        return beliefs_in(link.solution, self.covers, known, n, about)

    def certain(self, effort: float = ALLOWED.effort) -> list[tuple[str, ...]]:
        """The tuples over the attributes of the question that somebody has in every world."""
        if {*self.question} - {name for link in self.links for name in link.attributes}:
            return []
        sure = [list(_surely(link, self.covers, Effort(effort))) for link in self.links]
        certain = []
        for parts in product(*sure):
            if sum(least for _, least in parts) > (len(parts) - 1) * self.n_people:
                values = {name: code for cell, _ in parts for name, code in cell.items()}
                certain.append(tuple(self.domains[name].texts[values[name]] for name in self.question))
        return sorted(certain)

    def count(self, values: dict[str, str], effort: float = ALLOWED.effort) -> tuple[int, int]:
        """The least and the most people with given values in any world."""
        least, most = self.n_people, self.n_people
        for link in self.links:
            codes = {
                name: self.domains[name].code.get(values[name], -1)
                for name in link.attributes
                if name in values
            }
            low, high = _between(link, codes, self.covers, Effort(effort))
            least, most = least + low - self.n_people, min(most, high)
        return max(least, 0), most


def combined(
    release: Release,
    question: Sequence[str],
    limits: Limits = ALLOWED,
    views: Sequence[PublishedView] | None = None,
) -> Combined:
    """Read some views (all, if none are named) at once, for questions about some attributes.

    Claim: a tuple is found certain only if every table that the views may have been made from has it.
    Why: kinds of people are all ways to stand in a row of every view with originals that all rows leave open, and
    the solvers only exclude numbers of people per kind that miss the people of some published row.
    Tested by: tests/attacks/test_worlds.py
    """
    domains, n_people = release.reading.estimate.domains, release.rows
    covers = {name: Covers(len(domain.texts)) for name, domain in domains.items()}
    links = []
    for group in linked(whole_views(release) if views is None else views):
        names = tuple(name for name in question if any(name in view.attributes for view in group))
        if names:
            group = telling(group, names, n_people)
            kinds, taken = _fitting(group, names, covers, n_people, limits)
            left_out = tuple(view.name for view in group if view not in taken)
            solution = solved(kinds, limits, is_simple=_is_simple(taken))
            links.append(Link(left_out, tuple(name for name in names if name in kinds.sets), solution))
    return Combined(tuple(question), n_people, tuple(links), domains, covers)


def _fitting(
    group: list[PublishedView],
    question: tuple[str, ...],
    covers: dict[str, Covers],
    n_people: int,
    limits: Limits,
) -> tuple[Kinds, list[PublishedView]]:
    """The kinds of people by all views if there is room, otherwise by those that tell most about the last attribute of the question."""

    def kinds_by(views: list[PublishedView]) -> Kinds | None:
        try:
            return kinds_of(strips_of(views, question, covers, n_people), covers, limits.kinds)
        except TooMany:
            return None

    def usefulness(view: PublishedView) -> tuple[bool, int]:
        return question[-1] in view.attributes, len({*view.attributes} & {*question})

    kinds, taken = kinds_by(group), group
    if kinds is None:
        taken = []
        for view in sorted(group, key=usefulness, reverse=True):
            more = kinds_by([*taken, view])
            if more is not None:
                kinds, taken = more, [*taken, view]
    if kinds is None:
        raise TooMany
    return kinds, taken


def _is_simple(views: list[PublishedView]) -> bool:
    return len(views) == 1 and len({*views[0].attributes}) == len(views[0].attributes)


def _surely(link: Link, covers: dict[str, Covers], effort: Effort) -> Iterator[tuple[dict[str, int], int]]:
    """The tuples of a link that somebody has in every world, with the least number of people."""
    solution = link.solution
    sets = {name: solution.kinds.sets[name] for name in link.attributes}
    is_sure = np.logical_and.reduce([covers[name].sizes[numbers] == 1 for name, numbers in sets.items()])
    frame = pl.DataFrame({**sets, "#kind": np.arange(is_sure.size)}).filter(pl.Series(is_sure))
    for *numbers, kinds in frame.group_by(link.attributes, maintain_order=True).agg("#kind").iter_rows():
        group = np.array(kinds, dtype=np.int64)
        # Somebody in every world makes one on average; only a mean that is exact may rule a tuple out.
        if solution.beliefs == "exact" and solution.expected[group].sum() < 1 - ROUNDING:
            continue
        least, _ = solution.between(group, effort)
        if least >= 1:
            cells = zip(link.attributes, numbers, strict=True)
            yield {name: next(iter(covers[name].sets[number])) for name, number in cells}, least


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
