"""Intersection: views that are each fine alone are held side by side, and only few tables fit them all.

Knows: the quasi-identifiers, or what a rule gives, and that the target is in the data.
How: works out all possible worlds, or bounds on them, and believes a value as often as people with the same known
values have it there.
Paper: 002 (versatile publishing), Table 2: three tables that give four tuples away together.
"""

from typing import Any

import numpy as np

from manyveils.attacks.beliefs import Seen
from manyveils.attacks.outcome import How, Outcome
from manyveils.attacks.people import Floats
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Harm, bound_of, harm, look, outcome, protected, tally
from manyveils.attacks.worlds.comparer import Comparer
from manyveils.attacks.worlds.solve import Limits, worst
from manyveils.attacks.worlds.views import linked

NAME = "intersection"
KNOWS = "the quasi-identifiers, or what a rule gives; compares all views"
LEAST_EFFORT, MOST_EFFORT = 3.0, 12.0
PEOPLE_PER_EFFORT = 4_000
MOST_KINDS = 300_000
ALONE = "No protected attribute stands in a view that shares attributes with another; there is nothing to combine."


def attack(scene: Scene) -> Outcome:
    """Believe what is true in most possible worlds, and compare with what each view tells alone."""
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable and _can_be_combined(scene, aim)]
    effort = min(max(scene.people.n / PEOPLE_PER_EFFORT, LEAST_EFFORT), MOST_EFFORT)
    limits = Limits(kinds=MOST_KINDS, effort=effort / max(len(aims), 1))
    comparer = Comparer(scene.reader, limits)
    tallies = [tally(scene, aim, adversary=comparer) for aim in aims]
    ways = worst([comparer.how(aim.known, aim.about) for aim in aims])
    how: How = "bound" if ways == "bounds" else ways
    return outcome(NAME, KNOWS, how, tallies, _compared(scene, aims, comparer), reason=ALONE)


def _can_be_combined(scene: Scene, aim: Aim) -> bool:
    groups = linked(scene.reader.views)
    return any(len(views) > 1 and any(aim.about in view.attributes for view in views) for views in groups)


def _compared(scene: Scene, aims: list[Aim], comparer: Comparer) -> dict[str, Any]:
    """How many are harmed by single views, and how many only by holding views side by side."""
    counts = dict.fromkeys(
        ("broken_alone", "certain_alone", "broken_by_combining", "certain_by_combining"), 0
    )
    for aim in aims:
        alone = _harm(scene, aim, _alone(scene, aim))
        both = _harm(scene, aim, look(comparer, scene.people, aim).truth)
        counts["broken_alone"] += int(alone.broken.sum())
        counts["certain_alone"] += int(alone.certain.sum())
        counts["broken_by_combining"] += int((both.broken & ~alone.broken).sum())
        counts["certain_by_combining"] += int((both.certain & ~alone.certain).sum())
    worlds = [comparer.worlds(aim.known, aim.about) for aim in aims]
    left_out = {name for own in worlds if own for link in own.links for name in link.left_out}
    return {
        **counts,
        "beliefs": worst([own.beliefs_by if own else "estimate" for own in worlds]),
        "certainty": worst([own.certainty_by if own else "estimate" for own in worlds]),
        "views_without_room": len(left_out),
    }


def _harm(scene: Scene, aim: Aim, truth: Floats) -> Harm:
    people = scene.people
    guess, bound = look(scene.ignorant, people, aim), bound_of(people, aim)
    return harm(protected(people, aim), Seen(truth, truth), guess, bound)


def _alone(scene: Scene, aim: Aim) -> Floats:
    """The strongest belief in each person's value that a single view gives."""
    people, reader = scene.people, scene.reader
    codes = reader.known_of(people, (aim.about,))[aim.about]
    beliefs = [view.at(codes) for view in reader.by_view(people, aim.known, aim.about)]
    return np.maximum.reduce([np.zeros(people.n), *beliefs])
