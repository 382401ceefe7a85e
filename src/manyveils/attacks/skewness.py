"""Skewness: a value is more common in the target's group than in the table, so it becomes more likely than it was.

Knows: the quasi-identifiers, and how common each value is in the table.
How: compares the belief in a value with its share in the table; `success` is the mean belief in what is true.
Paper: Li et al., t-closeness (2007); Cao and Karras, beta-likeness (2012).
"""

from dataclasses import replace

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Seen
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, how_sure, outcome, protected, tally

NAME = "skewness"
KNOWS = "the quasi-identifiers, or what a rule gives, and the share of each value"
MEASURE = Measure(
    "mean belief in the true value",
    "The true value is believed with {success} on average over {targets} targets; without the release with {baseline}",
    is_mean=True,
)


def attack(scene: Scene) -> Outcome:
    """Measure how much likelier the truth becomes."""
    tallies = [_tally(scene, aim) for aim in scene.aims]
    gains = [tally.details["worst_gain"] for tally in tallies if tally.targets]
    details = {"worst_gain": max(gains, default=1.0)}
    how = how_sure(scene, scene.aims)
    return outcome(NAME, KNOWS, how, tallies, details, measure=MEASURE, is_foreseen=True)


def _tally(scene: Scene, aim: Aim) -> Tally:
    seen, guess = look(scene.reader, scene.people, aim), look(scene.ignorant, scene.people, aim)
    gains = (seen.truth / guess.truth)[protected(scene.people, aim)]
    return replace(tally(scene, aim, look), details={"worst_gain": float(gains.max(initial=1.0))})


def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
    """The belief in each person's own value, which is also how often a guess by belief is right."""
    truth = adversary.beliefs(people, aim.known, aim.about).at(people.codes[aim.about])
    return Seen(truth, truth)
