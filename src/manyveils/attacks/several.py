"""Attacks on several views or releases of the same people: each is sound alone, and few tables fit them all."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from manyveils.attacks.adversaries import Reader, shares_of
from manyveils.attacks.beliefs import Beliefs, Known, Seen
from manyveils.attacks.chain import Follower
from manyveils.attacks.outcome import TOLERANCE, How, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People, alike
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, bound_of, founded, harm, look, outcome, protected, tally
from manyveils.attacks.sparse_rows import Rows, normalized
from manyveils.attacks.worlds import Combined, Limits, TooMany, combined, linked, worst
from manyveils.table.earlier import Earlier

KNOWS = "the quasi-identifiers, or what a rule gives"
KNOWS_CHAIN = "every release of the chain, and in which groups of it everybody is"
LEAST_EFFORT, MOST_EFFORT = 3.0, 12.0
PEOPLE_PER_EFFORT = 4_000
MOST_KINDS, MOST_FOLLOWED = 300_000, 3_000_000
ALONE = "No protected attribute stands in a view that shares attributes with another; there is nothing to combine."


@dataclass(frozen=True, repr=False)
class Comparer:
    """Someone who holds views side by side: her beliefs are shares over all possible worlds.

    What she works out once she remembers.
    Of people whom no world has she believes what is true of everybody; where there are more kinds of people than
    there is room for, what a reader of the release believes.
    """

    reader: Reader
    limits: Limits
    _worlds: dict[tuple[Known, str], Combined | None] = field(default_factory=dict)

    def worlds(self, known: Known, about: str) -> Combined | None:
        """The views, combined for one question; None where there are too many kinds of people."""
        names = tuple(sorted({*known} & self.reader.readable - {about}))
        if (names, about) not in self._worlds:
            try:
                self._worlds[names, about] = combined(self.reader.release, (*names, about), self.limits)
            except TooMany:
                self._worlds[names, about] = None
        return self._worlds[names, about]

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The share of each value among all who have the same known values, over all worlds."""
        worlds = self.worlds(known, about)
        if worlds is None:
            return self.reader.beliefs(people, known, about)
        codes = self.reader.known_of(people, sorted({*known} - {about}))
        row_of, firsts = alike([*codes.values()], people.n)
        profiles = {name: own[firsts] for name, own in codes.items()}
        rows, everybody = _rows(worlds, profiles, firsts.size, about), _rows(worlds, {}, 1, about)
        return Beliefs(rows.or_else(everybody), row_of).in_codes(self.reader.places[about])


def _rows(worlds: Combined, profiles: Mapping[str, Ids], n: int, about: str) -> Rows:
    beliefs = worlds.beliefs(profiles, n, about)
    profile, value, belief = (beliefs[name].to_numpy() for name in ("profile", "value", "belief"))
    return Rows.from_cells(profile, value, belief, (n, len(worlds.domains[about].texts)))


def intersection(scene: Scene) -> Outcome:
    """Intersection: views that are each fine alone are held side by side, and only few tables fit them all.

    Knows: the quasi-identifiers, or what a rule gives, and that the target is in the data.
    How: works out all possible worlds, or bounds on them, and believes a value as often as people with the same known
    values have it there.
    Paper: 002 (versatile publishing), Table 2: three tables that give four tuples away together.
    """
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable and _can_be_combined(scene, aim)]
    limits = Limits(kinds=MOST_KINDS, effort=_effort(scene) / max(len(aims), 1))
    comparer = Comparer(scene.reader, limits)
    tallies = [tally(scene, aim, adversary=comparer) for aim in aims]
    worlds = [comparer.worlds(aim.known, aim.about) for aim in aims]
    ways = worst(own.how if own else "estimate" for own in worlds)
    how: How = "bound" if ways == "bounds" else ways
    details = {
        **_compared(scene, aims, comparer),
        "beliefs": worst(own.beliefs_by if own else "estimate" for own in worlds),
        "certainty": worst(own.certainty_by if own else "estimate" for own in worlds),
        "views_without_room": len({name for own in worlds if own for name in own.left_out}),
    }
    return outcome("intersection", f"{KNOWS}; compares all views", how, tallies, details, reason=ALONE)


def _can_be_combined(scene: Scene, aim: Aim) -> bool:
    groups = linked(scene.reader.views)
    return any(len(views) > 1 and any(aim.about in view.attributes for view in views) for views in groups)


def _compared(scene: Scene, aims: list[Aim], comparer: Comparer) -> dict[str, int]:
    """How many are harmed by single views, and how many only by holding views side by side."""
    counts = dict.fromkeys(
        ("broken_alone", "certain_alone", "broken_by_combining", "certain_by_combining"), 0
    )
    for aim in aims:
        alone = _harm(scene, aim, _alone(scene, aim))
        both = _harm(scene, aim, look(comparer, scene.people, aim).truth)
        for kind, by_view, by_both in zip(("broken", "certain"), alone, both, strict=True):
            counts[f"{kind}_alone"] += int(by_view.sum())
            counts[f"{kind}_by_combining"] += int((by_both & ~by_view).sum())
    return counts


def _harm(scene: Scene, aim: Aim, truth: Floats) -> tuple[Bools, Bools]:
    people = scene.people
    guess, bound = look(scene.ignorant, people, aim), bound_of(people, aim)
    broken, certain = harm(protected(people, aim), Seen(truth, truth), guess, bound)
    return people.anyone(broken), people.anyone(certain)


def _alone(scene: Scene, aim: Aim) -> Floats:
    """The strongest belief in each person's value that a single view gives."""
    people, reader = scene.people, scene.reader
    codes = reader.known_of(people, (aim.about,))[aim.about]
    beliefs = [view.at(codes) for view in reader.by_view(people, aim.known, aim.about)]
    return np.maximum.reduce([np.zeros(people.n), *beliefs])


@dataclass(frozen=True, repr=False)
class Collector:
    """Someone who has read several releases."""

    readers: tuple[Reader, ...]

    def beliefs(self, people: People, known: Known, about: str) -> Beliefs:
        """The product of what the releases say, over how common the value is."""
        readers = [reader for reader in self.readers if about in reader.readable]
        beliefs = [reader.beliefs(people, known, about) for reader in readers]
        row_of, firsts = alike([own.row_of for own in beliefs], people.n)
        table = readers[0].table
        counts = table[about].counts
        share = np.maximum(counts, 1) / max(int(counts.sum()), 1)
        if table.persons is not None:
            share = np.maximum(shares_of(table, about), 1 / table.n_rows)
        told = [own.of(firsts).among(counts.size) for own in beliefs]
        rows = told[0]
        believed = rows.beliefs
        for number, own in enumerate(told[1:], 1):
            gained = own.at(rows.cases, rows.values) / share[rows.values]
            believed = believed * np.where(_is_new(own, told[:number])[rows.cases], gained, 1.0)
        return Beliefs(normalized(rows.believing(believed), rows), row_of)


def _is_new(rows: Rows, earlier: list[Rows]) -> Bools:
    """Which rows differ from those of all earlier releases."""
    is_new = np.ones(rows.n, dtype=bool)
    for before in earlier:
        is_new &= Rows.of(abs(rows.matrix - before.matrix)).greatest() > TOLERANCE
    return is_new


def sequential(scene: Scene) -> Outcome:
    """Sequential: several releases of the same people, each sound, are played off against each other.

    Knows: the quasi-identifiers, that the target is in all releases, and that her values did not change.
    How: multiplies what each release says of her; a value that one of them rules out is out. Releases that say the same
    of somebody may have been made from the same groups, and count once.
    Beliefs that come true no more often than those from one release break nothing but where values are ruled out.
    Paper: Xiao and Tao, m-invariance (2007); Byun et al. (2006).
    """
    name, knows = "sequential", f"{KNOWS}, and that the target is in every release"
    if scene.table.earlier is not None:
        return along_chain(scene, scene.table.earlier)
    if not scene.others:
        reason = "There is one release only; give others with `others` or --other, or earlier ones of a chain with `after` or --after."
        return Outcome(name, knows, "none", reason=reason)
    collector = Collector(
        (scene.reader, *(Reader(other, scene.table, scene.policy) for other in scene.others))
    )
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    alone = [tally(scene, aim) for aim in aims]
    together = [tally(scene, aim, adversary=collector) for aim in aims]
    tallies = [_founded(both, plain) for both, plain in zip(together, alone, strict=True)]
    n = max(sum(plain.targets for plain in alone), 1)
    details = {
        "releases": 1 + len(scene.others),
        "success_with_one": sum(plain.n_right for plain in alone) / n,
        "certain_with_one": sum(plain.certain for plain in alone),
    }
    return outcome(name, knows, "estimate", tallies, details)


def _founded(tally: Tally, plain: Tally) -> Tally:
    """Where beliefs come true no more often than with one release, only what is ruled out for sure counts."""
    every, alone = tally.all_rows, plain.all_rows
    return replace(founded(tally, plain), all_rows=founded(every, alone) if every and alone else every)


def along_chain(scene: Scene, earlier: Earlier) -> Outcome:
    """What all releases of a chain tell together, of people who may have joined, left and come back."""
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    n_followed = sum(aim.about in earlier.held for aim in aims)
    follower = Follower(
        scene.reader, scene.constant, Limits(kinds=MOST_FOLLOWED, effort=_effort(scene) / max(n_followed, 1))
    )
    alone = [tally(scene, aim) for aim in aims]
    together = [_followed(scene, aim, follower, plain) for aim, plain in zip(aims, alone, strict=True)]
    followed = [aim for aim in aims if follower.follows(aim.about)]
    worlds = [follower.shared(aim.known, aim.about) for aim in followed]
    is_told = all(follower.is_told(aim.about) for aim in followed)
    beliefs = worst(own.beliefs if own and is_told else "estimate" for own in worlds)
    certainty = worst(own.certainty if own and is_told else "estimate" for own in worlds)
    n = max(sum(plain.targets for plain in alone), 1)
    details = {
        "releases": 1 + np.unique(earlier.release_of).size,
        "persons": follower.gone.size,
        "gone": int(follower.gone.sum()),
        "certain_gone": sum(int(own.details.get("certain_gone", 0)) for own in together),
        "broken_gone": sum(int(own.details.get("broken_gone", 0)) for own in together),
        "success_with_one": sum(plain.n_right for plain in alone) / n,
        "certain_with_one": sum(plain.certain for plain in alone),
        "beliefs": beliefs,
        "certainty": certainty,
        "counted": min((follower.counted(aim.known, aim.about) for aim in followed), default=1.0),
        "constant_attributes": len({aim.home for aim in followed}),
    }
    how: How = (
        "exact" if beliefs == certainty == "exact" else "estimate" if certainty == "estimate" else "bound"
    )
    return outcome("sequential", KNOWS_CHAIN, how, together, details, is_foreseen=True)


def _followed(scene: Scene, aim: Aim, follower: Follower, plain: Tally) -> Tally:
    """What following a chain achieves against one attribute; nothing more than one release where it may change."""
    if not follower.follows(aim.about):
        return plain
    both = tally(scene, aim, adversary=follower)
    worlds = follower.shared(aim.known, aim.about)
    if worlds is None or worlds.beliefs != "exact" or not follower.is_told(aim.about):
        both = _founded(both, plain)
    return replace(both, details={**both.details, **follower.of_gone(aim)})


def _effort(scene: Scene) -> float:
    return min(max(scene.people.n / PEOPLE_PER_EFFORT, LEAST_EFFORT), MOST_EFFORT)
