"""Similarity: the values of a group differ and mean nearly the same.

Knows: the quasi-identifiers, and which values are akin: the hierarchy, or for numbers without one, their distance.
How: guesses the parent with the greatest belief, or a number and all within a tenth of the range of it.
Paper: Li et al., t-closeness (2007).
"""

import numpy as np

from manyveils.attacks.minds import Mind
from manyveils.attacks.nearness import near, span_of
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Look, Seen, how_sure, outcome, tally
from manyveils.table import Attribute

NAME = "similarity"
KNOWS = "the quasi-identifiers, or what a rule gives, and which values are akin"
BOUND = "half of the doubt, since nothing is promised of kin"
NEAR = 0.1


def attack(scene: Scene) -> Outcome:
    """Guess what kind of value everybody has."""
    looks = {aim: look for aim in scene.aims if (look := _look(scene.table[aim.about]))}
    tallies = [tally(scene, aim, look, instead=BOUND) for aim, look in looks.items()]
    reason = "No sensitive attribute has a hierarchy with groups or is numeric."
    return outcome(NAME, KNOWS, how_sure(scene, looks), tallies, reason=reason)


def kin_level(column: Attribute) -> int | None:
    """The lowest level of the hierarchy that puts some values together and not all of them."""
    sizes = column.levels.sizes
    fitting = (level for level in range(1, len(sizes)) if 1 < sizes[level] < column.n_values)
    return next(fitting, None)


def _look(column: Attribute) -> Look | None:
    level = kin_level(column)
    if level is not None:
        return _by_parents(column, level)
    if column.kind == "numeric" and span_of(column) > 0:
        return _by_distance(column)
    return None


def _by_parents(column: Attribute, level: int) -> Look:
    parents = column.levels[level].label_of.astype(np.int64)

    def look(mind: Mind, people: People, aim: Aim) -> Seen:
        codes = people.codes[aim.about]
        kin = mind.of(people, aim.known, aim.about).merged(parents, column.levels.sizes[level])
        own = np.where(codes >= 0, parents[np.maximum(codes, 0)], -1)
        return Seen(kin.right(own), kin.at(own))

    return look


def _by_distance(column: Attribute) -> Look:
    def look(mind: Mind, people: People, aim: Aim) -> Seen:
        beliefs = mind.of(people, aim.known, aim.about)
        return near(beliefs, column, people.codes[aim.about], NEAR * span_of(column))

    return look
