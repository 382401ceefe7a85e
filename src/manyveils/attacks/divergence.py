"""Divergence: the group leads to a value of another branch, and people are taken for what they are not.

Knows: the quasi-identifiers, and the branches of the hierarchy.
How: believes each branch as much as the group shows it; `success` is the share of people taken for another branch
than their own, `worst` the strongest belief in one wrong branch.
Paper: paper 004.
"""

import numpy as np

from manyveils.attacks.minds import Mind
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Look, Seen, how_sure, outcome, tally
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
        aim: _look(scene.table[aim.about], top)
        for aim in scene.aims
        if aim.about in scene.reader.readable and (top := _top(scene.table[aim.about]))
    }
    tallies = [tally(scene, aim, look, instead=BOUND) for aim, look in looks.items()]
    reason = "No sensitive attribute has a hierarchy with branches."
    return outcome(NAME, KNOWS, how_sure(scene, looks), tallies, reason=reason, measure=MEASURE)


def _top(column: Attribute) -> int | None:
    """The highest level of the hierarchy that has several branches, some of them with several values."""
    sizes = column.levels.sizes
    return next((level for level in range(len(sizes) - 1, 0, -1) if 1 < sizes[level] < column.n_values), None)


def _look(column: Attribute, top: int) -> Look:
    branches = column.levels[top].label_of.astype(np.int64)

    def look(mind: Mind, people: People, aim: Aim) -> Seen:
        codes = people.codes[aim.about]
        own = np.where(codes >= 0, branches[np.maximum(codes, 0)], -1)
        beliefs = mind.of(people, aim.known, aim.about).merged(branches, column.levels.sizes[top])
        two = np.sort(beliefs.rows, axis=1)[:, -2:]
        believed = beliefs.at(own)
        # The strongest other branch is the first, unless that is hers: then it is the second.
        other = np.where(believed >= two[beliefs.of, 1], two[beliefs.of, 0], two[beliefs.of, 1])
        return Seen(1.0 - beliefs.right(own), other)

    return look
