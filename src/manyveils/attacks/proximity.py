"""Proximity: the numbers of a group differ and lie close together.

Knows: the quasi-identifiers.
How: guesses a short interval, two epsilon wide; epsilon is the policy's, or a twentieth of the range.
The belief in the truth is the share of the group within epsilon of it, the proximity breach P_b.
Paper: Li, Tao and Xiao, (epsilon, m)-anonymity (2008); paper 004.
"""

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Beliefs, Seen
from manyveils.attacks.bounds import even_bound, promised_to
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, how_sure, outcome, tally
from manyveils.policy.guarantees import Proximity
from manyveils.table import Attribute

NAME = "proximity"
KNOWS = "the quasi-identifiers, or what a rule gives"
SHARE = 0.05
BOUND = "half of the doubt, since nothing is promised of intervals"


def attack(scene: Scene) -> Outcome:
    """Guess a short interval around everybody's number."""
    aims = [aim for aim in scene.aims if span_of(scene.table[aim.about]) > 0]
    tallies = [_tally(scene, aim) for aim in aims]
    reason = "No numeric sensitive attribute is shown."
    return outcome(NAME, KNOWS, how_sure(scene, aims), tallies, reason=reason, is_foreseen=True)


def _tally(scene: Scene, aim: Aim) -> Tally:
    attribute, promises = scene.table[aim.about], promised_to(scene.promises, aim.about, aim.known)
    promised = next((guarantee for guarantee in promises if isinstance(guarantee, Proximity)), None)
    within = float(promised.epsilon) if promised else SHARE * span_of(attribute)

    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        beliefs = adversary.beliefs(people, aim.known, aim.about)
        return near(beliefs, attribute, people.codes[aim.about], within)

    if promised is None:
        return tally(scene, aim, look, instead=BOUND)
    bound = even_bound(scene.people.n, 1 / promised.m, promised.kind, is_promised=promised.m > 1)
    return tally(scene, aim, look, bound=bound)


def span_of(attribute: Attribute) -> float:
    """How far apart the least and the greatest number are; nothing for an attribute without numbers."""
    numbers = (
        attribute.numbers[np.isfinite(attribute.numbers)] if attribute.kind == "numeric" else np.zeros(0)
    )
    return float(numbers.max() - numbers.min()) if numbers.size else 0.0


def near(beliefs: Beliefs, attribute: Attribute, codes: Ids, within: float) -> Seen:
    """Guess a number and be right if the truth is within a distance of it; the truth is believed with all around it."""
    numbers = attribute.numbers[np.isfinite(attribute.numbers)]
    low = np.searchsorted(numbers, numbers - within - TOLERANCE, side="left")
    high = np.searchsorted(numbers, numbers + within + TOLERANCE, side="right")
    around = _between(beliefs.rows[:, : numbers.size], low, high)
    best = around.max(axis=1, keepdims=True, initial=0.0)
    likeliest = (around >= best - TOLERANCE).astype(np.float64)
    inside = _between(likeliest, low, high) / likeliest.sum(axis=1, keepdims=True)
    is_number = (codes >= 0) & (codes < numbers.size)
    index = np.where(is_number, codes, 0)
    right = np.where(is_number, inside[beliefs.row_of, index], 0.0)
    return Seen(right, np.where(is_number, around[beliefs.row_of, index], 0.0))


def _between(rows: Floats, low: Ids, high: Ids) -> Floats:
    """The sum of each row from one index to another."""
    ends = np.concatenate([np.zeros((rows.shape[0], 1)), np.cumsum(rows, axis=1)], axis=1)
    return ends[:, high] - ends[:, low]
