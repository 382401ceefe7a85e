"""Proximity: the numbers of a group differ and lie close together.

Knows: the quasi-identifiers.
How: guesses a short interval, two epsilon wide; epsilon is the policy's, or a twentieth of the range.
The belief in the truth is the share of the group within epsilon of it, the proximity breach P_b.
Paper: Li, Tao and Xiao, (epsilon, m)-anonymity (2008); paper 004.
"""

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Seen
from manyveils.attacks.bounds import even_bound
from manyveils.attacks.nearness import BOUND, near, span_of
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, how_sure, outcome, tally
from manyveils.policy.guarantees import Proximity

NAME = "proximity"
KNOWS = "the quasi-identifiers, or what a rule gives"
SHARE = 0.05


def attack(scene: Scene) -> Outcome:
    """Guess a short interval around everybody's number."""
    aims = [aim for aim in scene.aims if span_of(scene.table[aim.about]) > 0]
    tallies = [_tally(scene, aim) for aim in aims]
    reason = "No numeric sensitive attribute is shown."
    return outcome(NAME, KNOWS, how_sure(scene, aims), tallies, reason=reason, is_foreseen=True)


def _tally(scene: Scene, aim: Aim) -> Tally:
    attribute, promised = scene.table[aim.about], _promised(scene, aim)
    within = float(promised.epsilon) if promised else SHARE * span_of(attribute)

    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        beliefs = adversary.beliefs(people, aim.known, aim.about)
        return near(beliefs, attribute, people.codes[aim.about], within)

    if promised is None:
        return tally(scene, aim, look, instead=BOUND)
    bound = even_bound(scene.people.n, 1 / promised.m, promised.kind, is_promised=promised.m > 1)
    return tally(scene, aim, look, bound=bound)


def _promised(scene: Scene, aim: Aim) -> Proximity | None:
    """What is promised of an attribute to those who know this much."""
    for promise in scene.promises:
        is_about = promise.protects == (aim.about,) and {*aim.known} <= {*promise.given}
        if is_about and isinstance(promise.guarantee, Proximity):
            return promise.guarantee
    return None
