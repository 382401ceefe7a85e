"""Homogeneity: people who look alike share a value, and then whoever finds the group knows it.

Knows: the quasi-identifiers, and that the target is in the data.
How: finds the rows that may be the target's and takes the value most of them have.
Paper: Machanavajjhala et al., l-diversity (2006).
"""

from manyveils.attacks.outcome import Outcome
from manyveils.attacks.scene import Scene
from manyveils.attacks.score import how_sure, outcome, tally

NAME = "homogeneity"
KNOWS = "the quasi-identifiers, or what a rule gives"


def attack(scene: Scene) -> Outcome:
    """Guess the likeliest value of everybody."""
    tallies = [tally(scene, aim) for aim in scene.aims]
    return outcome(NAME, KNOWS, how_sure(scene, scene.aims), tallies, is_foreseen=True)
