"""Views put together: what a release tells about some attributes when all its views are read at once.

How many people of each kind there are is worked out exactly where possible, and within bounds or estimated elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from manyveils.attacks.people import Bools, Floats, Ids
from manyveils.attacks.worlds import solvers
from manyveils.attacks.worlds.blocks import Block, Effort, divided
from manyveils.attacks.worlds.kinds import Covers, Kinds, TooMany, kinds_of
from manyveils.attacks.worlds.views import linked, strips_of, telling, whole_views
from manyveils.reading.domains import Domain
from manyveils.reading.views import PublishedView
from manyveils.release import Release

How = Literal["exact", "bounds", "estimate"]
ORDER: tuple[How, ...] = ("exact", "bounds", "estimate")


@dataclass(frozen=True)
class Limits:
    """How much work is allowed: kinds of people in all, states to remember while counting, and in one block the kinds
    that are counted, solved exactly and bounded; and the effort for each question, in units of about a second.
    """

    kinds: int = 1_000_000
    states: int = 20_000
    counted: int = 400
    exact: int = 3_000
    linear: int = 20_000
    effort: float = 10.0


@dataclass(frozen=True, repr=False)
class Solution:
    """The mean number of people of each kind of a block, or of all kinds, and whether someone may be of it at all.

    `beliefs` says whether the means are exact, `certainty` whether what is possible is.
    """

    expected: Floats
    possible: Bools
    beliefs: How
    certainty: How


@dataclass(frozen=True, repr=False)
class Combined:
    """What views tell together about some attributes.

    `links` are the kinds of people by views that shared attributes join, and how many there are of each.
    Links share no attribute, so people can be matched across them in any way.
    `left_out` are views for which there was no room.
    """

    links: tuple[tuple[Kinds, Solution], ...]
    left_out: frozenset[str]
    domains: Mapping[str, Domain]
    covers: Mapping[str, Covers]

    @property
    def beliefs_by(self) -> How:
        """Whether beliefs are exact or an estimate."""
        return worst(solution.beliefs for _, solution in self.links)

    @property
    def certainty_by(self) -> How:
        """Whether what is certain and what is impossible is known exactly, within bounds, or hardly."""
        return worst(solution.certainty for _, solution in self.links)

    @property
    def how(self) -> How:
        """How it was worked out: exact if everything is, bounds if certainty is bounded, else an estimate."""
        if self.beliefs_by == "exact":
            return self.certainty_by
        return "estimate" if self.certainty_by == "estimate" else "bounds"

    def beliefs(self, profiles: Mapping[str, Ids], n: int, about: str) -> pl.DataFrame:
        """What is believed of people with each of n profiles: profile, value, belief.

        A profile is a code for each attribute that is known; what stands in other links than the attribute tells
        nothing of it. A belief is the share of people with a value among all who have the profile, over all worlds; a
        profile that nobody can have is left out.
        """
        kinds, solution = next(link for link in self.links if about in link[0].sets)
        profiles = {name: codes for name, codes in profiles.items() if name in kinds.sets}
        totals = _totals(kinds, solution, [*profiles, about])
        sets = [f"set: {name}" for name in profiles]
        matched = _matched(profiles, n, totals, self.covers)
        matched = matched.join(totals, on=sets, how="inner") if sets else matched.join(totals, how="cross")
        matched = matched.with_columns(belief=pl.col("belief") * pl.col("expected"))
        weighed = _weighed(matched, totals, about, self.covers, on=f"set: {about}")
        beliefs = _summed(weighed.rename({f"code: {about}": "value"}), ["profile", "value"])
        whole = _summed(beliefs, ["profile"]).rename({"belief": "whole"})
        beliefs = beliefs.join(whole, on="profile").filter(pl.col("whole") > 0)
        return beliefs.select("profile", "value", pl.col("belief") / pl.col("whole")).sort("profile", "value")


def combined(
    release: Release,
    question: Sequence[str],
    limits: Limits | None = None,
    views: Sequence[PublishedView] | None = None,
) -> Combined:
    """Read some views (all, if none are named) at once, for questions about some attributes.

    Claim: people with a profile are believed to have a value for certain, or not to have it, only if that is so in
    every table that the views may have been made from.
    Why: kinds of people are all ways to stand in a row of every view with originals that all rows leave open, and
    the solvers only exclude numbers of people per kind that miss the people of some published row.
    Tested by: tests/attacks/test_worlds.py
    """
    domains, n_people, limits = release.reading.estimate.domains, release.rows, limits or Limits()
    covers = {name: Covers(len(domain.texts)) for name, domain in domains.items()}
    links, left_out = [], set[str]()
    for group in linked(whole_views(release) if views is None else views):
        names = tuple(name for name in question if any(name in view.attributes for view in group))
        if names:
            group = telling(group, names, n_people)
            kinds, taken = _fitting(group, names, covers, n_people, limits)
            solution = solved(kinds, limits, is_simple=_is_simple(taken))
            if len(taken) < len(group):
                left_out |= {view.name for view in group if view not in taken}
                solution = replace(solution, beliefs="estimate", certainty="estimate")
            links.append((kinds, solution))
    return Combined(tuple(links), frozenset(left_out), domains, covers)


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


def worst(ways: Iterable[How]) -> How:
    """The least exact of several ways."""
    return max(ways, key=ORDER.index, default="exact")


def solved(kinds: Kinds, limits: Limits, *, is_simple: bool) -> Solution:
    """Work out every block in the best way there is effort for; one after the other, small ones first.

    With one view whose columns share nothing (`is_simple`) proportions are exact and every kind is possible.
    """
    (blocks, settled), effort = divided(kinds), Effort(limits.effort)
    expected, possible = np.maximum(settled, 0).astype(np.float64), settled > 0
    results: list[Solution] = []
    for block in sorted(blocks, key=lambda block: block.size):
        with effort.share(min(2 / (len(blocks) - len(results)), 1)) as own:
            results.append(_fitted(block, "exact", own) if is_simple else _solved_block(block, limits, own))
        expected[block.kinds], possible[block.kinds] = results[-1].expected, results[-1].possible
    ways = worst(result.beliefs for result in results), worst(result.certainty for result in results)
    return Solution(expected, possible, *ways)


def _fitted(block: Block, how: How, effort: Effort) -> Solution:
    return Solution(solvers.fitted_people(block, effort), np.ones(block.size, dtype=bool), how, how)


def _solved_block(block: Block, limits: Limits, effort: Effort) -> Solution:
    """Count the worlds of a small block, with a third of the effort; otherwise fit, and see what is possible."""
    if block.size <= limits.counted:
        with suppress(solvers.Undecided), effort.share(1 / 3) as own:
            means = solvers.mean_people(block, limits.states, own)
            return Solution(means, means > 0, "exact", "exact")
    result = _fitted(block, "estimate", effort)
    if block.size <= limits.exact:
        # Half of the effort is left for bounds.
        with suppress(solvers.Undecided), effort.share(0.5) as half:
            return replace(result, possible=solvers.possible_exactly(block, half), certainty="exact")
    if block.size <= limits.linear and not effort.is_spent:
        return replace(result, possible=solvers.possible_at_most(block, effort), certainty="bounds")
    return result


def _summed(frame: pl.DataFrame, keys: Sequence[str], name: str = "belief") -> pl.DataFrame:
    """A sum for every different key, added up in one order, so that no digit depends on how many threads there are."""
    ordered = frame.sort([*keys, *(column for column in frame.columns if column not in keys)])
    if not ordered.height:
        return ordered.select(*keys, name)
    changes = ordered[1:, [*keys]] != ordered[:-1, [*keys]]
    is_first = np.append(True, changes.fold(lambda left, right: left | right).to_numpy())
    sums = np.add.reduceat(ordered[name].to_numpy(), np.flatnonzero(is_first))
    return ordered.filter(pl.Series(is_first)).select(*keys, pl.Series(name, sums))


def _totals(kinds: Kinds, solution: Solution, names: Sequence[str]) -> pl.DataFrame:
    """The people of all kinds that leave open the same originals."""
    frame = pl.DataFrame({f"set: {name}": kinds.sets[name] for name in names})
    frame = frame.with_columns(expected=pl.Series(solution.expected)).filter(pl.Series(solution.possible))
    return _summed(frame, [f"set: {name}" for name in names], "expected")


def _matched(
    profiles: Mapping[str, Ids], n: int, totals: pl.DataFrame, covers: Mapping[str, Covers]
) -> pl.DataFrame:
    """The sets of originals that may stand for each profile, and which part of them it is."""
    codes = {f"code: {name}": own for name, own in profiles.items()}
    matched = pl.DataFrame({"profile": np.arange(n), **codes, "belief": np.ones(n)})
    sets: list[str] = []
    for name in profiles:
        matched = _weighed(matched, totals, name, covers, on=f"code: {name}").drop(f"code: {name}")
        sets.append(f"set: {name}")
        matched = matched.join(totals.select(sets).unique(), on=sets, how="semi")
    return matched


def _weighed(
    frame: pl.DataFrame, totals: pl.DataFrame, name: str, covers: Mapping[str, Covers], on: str
) -> pl.DataFrame:
    """Rows joined with the originals of the sets of one attribute, each believed by its share of the set."""
    members = covers[name].members(totals[f"set: {name}"].to_numpy())
    members = members.rename({"set": f"set: {name}", "original": f"code: {name}"})
    joined = frame.join(members, on=on, how="inner")
    return joined.with_columns(belief=pl.col("belief") * pl.col("share")).drop("share")
