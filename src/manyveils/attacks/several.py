"""Attacks on several views of the same people: each is sound alone, and few tables fit them all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from manyveils.attacks.adversaries import Reader
from manyveils.attacks.beliefs import Beliefs, Known, Seen
from manyveils.attacks.outcome import How, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People, alike
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import bound_of, harm, look, protected, tally
from manyveils.attacks.sparse_rows import Rows
from manyveils.attacks.tallies import outcome
from manyveils.attacks.worlds import Combined, Limits, TooMany, combined, linked, worst

KNOWS = "the quasi-identifiers, or what a rule gives"
LEAST_EFFORT, MOST_EFFORT = 3.0, 12.0
PEOPLE_PER_EFFORT = 4_000
MOST_KINDS = 300_000
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
    limits = Limits(kinds=MOST_KINDS, effort=effort_for(scene) / max(len(aims), 1))
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


def effort_for(scene: Scene) -> float:
    """How much work an attack on a scene may take that looks for worlds."""
    return min(max(scene.people.n / PEOPLE_PER_EFFORT, LEAST_EFFORT), MOST_EFFORT)
