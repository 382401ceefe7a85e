"""Intersection: views that are each fine alone are held side by side, and only few tables fit them all.

Knows: the quasi-identifiers, or what a rule gives, and that the target is in the data.
How: works out all possible worlds, or bounds on them, and believes a value as often as people with the same known
values have it there.
Paper: 002 (versatile publishing), Table 2: three tables that give four tuples away together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyveils.attacks.beliefs import ALMOST, Beliefs, believed
from manyveils.attacks.homogeneity import look
from manyveils.attacks.minds import Known
from manyveils.attacks.outcome import How, Outcome
from manyveils.attacks.people import Bools, Floats
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import outcome, protected, tally
from manyveils.attacks.sightings import Sightings
from manyveils.attacks.worlds.comparer import Comparer
from manyveils.attacks.worlds.solve import Limits, worst
from manyveils.attacks.worlds.strips import linked
from manyveils.reading.views import PublishedView

NAME = "intersection"
KNOWS = "the quasi-identifiers, or what a rule gives; compares all views"
LEAST_EFFORT, MOST_EFFORT = 3.0, 12.0
PEOPLE_PER_EFFORT = 4_000
MOST_KINDS = 300_000
ALONE = "No protected attribute stands in a view that shares attributes with another; there is nothing to combine."


@dataclass(frozen=True, repr=False)
class Harm:
    """Whose value is believed more than the bound, and of whom it is certain."""

    broken: Bools
    certain: Bools

    def less(self, other: "Harm") -> "Harm":
        """Only those whom the other does not have."""
        return Harm(self.broken & ~other.broken, self.certain & ~other.certain)


def attack(scene: Scene) -> Outcome:
    """Believe what is true in most possible worlds, and compare with what each view tells alone."""
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable and _can_be_combined(scene, aim)]
    effort = min(max(scene.people.n / PEOPLE_PER_EFFORT, LEAST_EFFORT), MOST_EFFORT)
    limits = Limits(kinds=MOST_KINDS, effort=effort / max(len(aims), 1))
    mind = Comparer(scene.reader, limits)
    tallies = [tally(scene, aim, look, mind=mind) for aim in aims]
    ways = worst([mind.how(aim.known, aim.about) for aim in aims])
    how: How = "bound" if ways == "bounds" else ways
    return outcome(NAME, KNOWS, how, tallies, _compared(scene, aims, mind), reason=ALONE)


def _can_be_combined(scene: Scene, aim: Aim) -> bool:
    groups = linked(scene.release.views)
    return any(len(group) > 1 and any(aim.about in view.attributes for view in group) for group in groups)


def _compared(scene: Scene, aims: list[Aim], mind: Comparer) -> dict[str, Any]:
    """How many are harmed by single views, and how many only by holding views side by side."""
    counts = dict.fromkeys(
        ("broken_alone", "certain_alone", "broken_by_combining", "certain_by_combining"), 0
    )
    for aim in aims:
        alone = _harm(scene, aim, _alone(scene, aim))
        truth = mind.of(scene.people, aim.known, aim.about).at(scene.people.codes[aim.about])
        gained = _harm(scene, aim, truth).less(alone)
        counts["broken_alone"] += int(alone.broken.sum())
        counts["certain_alone"] += int(alone.certain.sum())
        counts["broken_by_combining"] += int(gained.broken.sum())
        counts["certain_by_combining"] += int(gained.certain.sum())
    solved = [mind.asked(aim.known, aim.about) for aim in aims]
    left_out = {name for each in solved if each for link in each.links for name in link.left_out}
    return {
        **counts,
        "beliefs": worst([each.beliefs_by if each else "estimate" for each in solved]),
        "certainty": worst([each.certainty_by if each else "estimate" for each in solved]),
        "views_without_room": len(left_out),
    }


def _harm(scene: Scene, aim: Aim, truth: Floats) -> Harm:
    people = scene.people
    codes = people.codes[aim.about]
    guess = scene.ignorant.of(people, aim.known, aim.about).at(codes)
    inside = protected(people, aim)
    broken = inside & (truth > aim.caps.at(codes) + ALMOST) & (truth > guess + ALMOST)
    return Harm(broken, inside & (truth >= 1 - ALMOST) & (guess < 1 - ALMOST))


def _alone(scene: Scene, aim: Aim) -> Floats:
    """The strongest belief in each person's value that a single view gives."""
    people, reader = scene.people, scene.reader
    known = reader.known_of(people, tuple(name for name in aim.known if name != aim.about))
    codes = reader.known_of(people, (aim.about,))[aim.about]

    def find(shape: PublishedView, asked: Known) -> Sightings:
        return reader.sighted(people, shape, asked)

    strongest = np.zeros(people.n)
    for shape in reader.shapes:
        if aim.about in shape.attributes and shape.n_rows:
            rows = believed([shape], known, aim.about, find, people.n)
            strongest = np.maximum(strongest, Beliefs(rows, np.arange(people.n)).at(codes))
    return strongest
