"""Proximity: the numbers of a group differ and lie close together.

Knows: the quasi-identifiers.
How: guesses a short interval, two epsilon wide; epsilon is the policy's, or a twentieth of the range.
The belief in the truth is the share of the group within epsilon of it, the proximity breach P_b.
Paper: Li, Tao and Xiao, (epsilon, m)-anonymity (2008); paper 004.
"""

import numpy as np

from manyveils.attacks.minds import Mind
from manyveils.attacks.nearness import near, span_of
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Bound, Seen, Tally, how_sure, outcome, tally
from manyveils.policy.guarantees import Proximity

NAME = "proximity"
KNOWS = "the quasi-identifiers, or what a rule gives"
SHARE = 0.05
BOUND = "half of the doubt, since nothing is promised of intervals"


def attack(scene: Scene) -> Outcome:
    """Guess a short interval around everybody's number."""
    aims = [
        aim
        for aim in scene.aims
        if scene.table[aim.about].kind == "numeric" and span_of(scene.table[aim.about]) > 0
    ]
    tallies = [_tally(scene, aim) for aim in aims]
    reason = "No numeric sensitive attribute is shown."
    return outcome(NAME, KNOWS, how_sure(scene, aims), tallies, reason=reason, is_foreseen=True)


def _tally(scene: Scene, aim: Aim) -> Tally:
    column = scene.table[aim.about]
    promised = [
        each.guarantee
        for each in scene.promises
        if each.protects == (aim.about,)
        and {*aim.known} <= {*each.given}
        and isinstance(each.guarantee, Proximity)
    ]
    within = float(promised[0].epsilon) if promised else SHARE * span_of(column)

    def look(mind: Mind, people: People, at: Aim) -> Seen:
        return near(mind.of(people, at.known, at.about), column, people.codes[at.about], within)

    if not promised:
        return tally(scene, aim, look, instead=BOUND)
    n = scene.people.n
    bound = Bound(np.full(n, 1 / promised[0].m), np.full(n, promised[0].m > 1), promised[0].kind)
    return tally(scene, aim, look, bound=bound)
