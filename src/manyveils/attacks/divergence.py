"""Divergence: the group leads to a value of another branch, and people are taken for what they are not.

Knows: the quasi-identifiers, and the branches of the hierarchy.
How: believes each branch as much as the group shows it; `success` is the share of people taken for another branch
than their own, `worst` the strongest belief in one wrong branch.
Paper: paper 004.
"""

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Seen
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Look, how_sure, outcome, tally
from manyveils.attacks.similarity import branches, branching_levels
from manyveils.table import Attribute

NAME = "divergence"
KNOWS = "the quasi-identifiers, or what a rule gives, and the branches of the hierarchy"
BOUND = "half of the doubt, since nothing is promised of branches"
MEASURE = Measure(
    "share of targets taken for a wrong branch",
    "{success} of {targets} targets are taken for a wrong branch; by guessing {baseline} are",
    openings={
        "nothing learnt": "Misleads about people in the data no more than guessing does.",
        "within bounds": "Misleads about people in the data, within the bounds.",
        "not promised": "Makes some people seem to have what they have not; no promise caps this.",
    },
)


def attack(scene: Scene) -> Outcome:
    """Take everybody for the branch that is likeliest."""
    looks = {
        aim: _look(scene.table[aim.about], levels[-1])
        for aim in scene.aims
        if aim.about in scene.reader.readable and (levels := branching_levels(scene.table[aim.about]))
    }
    tallies = [tally(scene, aim, look, instead=BOUND) for aim, look in looks.items()]
    reason = "No sensitive attribute has a hierarchy with branches."
    return outcome(NAME, KNOWS, how_sure(scene, looks), tallies, reason=reason, measure=MEASURE)


def _look(attribute: Attribute, top: int) -> Look:
    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        believed = adversary.beliefs(people, aim.known, aim.about)
        beliefs, own = branches(attribute, top, believed, people.codes[aim.about])
        second, first = np.sort(beliefs.rows, axis=1)[:, -2:][beliefs.row_of].T
        # The strongest wrong branch is the first, unless that is hers: then it is the second.
        return Seen(1.0 - beliefs.right(own), np.where(beliefs.at(own) >= first, second, first))

    return look
