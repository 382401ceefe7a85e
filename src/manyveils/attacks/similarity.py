"""Similarity: the values of a group differ and mean nearly the same.

Knows: the quasi-identifiers, and which values are akin: the hierarchy, or for numbers without one, their distance.
How: guesses the parent with the greatest belief, or a number and all within a tenth of the range of it.
Paper: Li et al., t-closeness (2007).
"""

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Beliefs, Seen
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Ids, People, looked_up
from manyveils.attacks.proximity import near, span_of
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Look, how_sure, outcome, tally
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


def branching_levels(attribute: Attribute) -> list[int]:
    """The levels of the hierarchy that put some values together and not all of them."""
    sizes = attribute.levels.sizes
    return [level for level in range(1, len(sizes)) if 1 < sizes[level] < attribute.n_values]


def branches(attribute: Attribute, level: int, beliefs: Beliefs, codes: Ids) -> tuple[Beliefs, Ids]:
    """What is believed of the branches of one level, and the branch of each person."""
    branch_of = attribute.levels[level].label_of.astype(np.int64)
    return beliefs.merged(branch_of, attribute.levels.sizes[level]), looked_up(branch_of, codes, -1)


def _look(attribute: Attribute) -> Look | None:
    levels, within = branching_levels(attribute), NEAR * span_of(attribute)
    if not levels and not within > 0:
        return None

    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        beliefs, codes = adversary.beliefs(people, aim.known, aim.about), people.codes[aim.about]
        if not levels:
            return near(beliefs, attribute, codes, within)
        parents, own = branches(attribute, levels[0], beliefs, codes)
        return parents.seen(own)

    return look
