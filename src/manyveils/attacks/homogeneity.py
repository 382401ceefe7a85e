"""Homogeneity: people who look alike share a value, and then whoever finds the group knows it.

Knows: the quasi-identifiers, and that the target is in the data.
How: finds the rows that may be the target's and takes the value most of them have.
Paper: Machanavajjhala et al., l-diversity (2006).
"""

from manyveils.attacks.minds import Mind
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Seen, how_sure, outcome, tally

NAME = "homogeneity"
KNOWS = "the quasi-identifiers, or what a rule gives"


def attack(scene: Scene) -> Outcome:
    """Guess the likeliest value of everybody."""
    tallies = [tally(scene, aim, look) for aim in scene.aims]
    return outcome(NAME, KNOWS, how_sure(scene, scene.aims), tallies, is_foreseen=True)


def look(mind: Mind, people: People, aim: Aim) -> Seen:
    """The belief in each person's own value, and whether it is the likeliest."""
    beliefs, codes = mind.of(people, aim.known, aim.about), people.codes[aim.about]
    return Seen(beliefs.right(codes), beliefs.at(codes))
