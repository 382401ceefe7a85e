"""Background join: who knows one sensitive value of a target reads the others off the matching rows.

Knows: the quasi-identifiers, and the target's other sensitive values: all of them, and one at a time.
How: keeps the rows that match all of this, and takes the value most of them have.
Paper: paper 000 (CODIP).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from manyveils.attacks.outcome import Outcome
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, how_sure, outcome, summed, tally

NAME = "background-join"
KNOWS = "the quasi-identifiers, or what a rule gives, and all other sensitive values of the target"
MOST_SINGLE = 6
SINGLE = ("success", "broken", "promised", "certain", "worst")


def attack(scene: Scene) -> Outcome:
    """Guess each sensitive value from all others, and from each other one."""
    aims, singles = [], dict[tuple[str, str], list[Tally]]()
    for aim in scene.aims:
        beside = scene.beside(aim)
        if not beside:
            continue
        aims.append(_knowing(aim, tuple(name for names in beside.values() for name in names)))
        for home, names in beside.items() if len(beside) <= MOST_SINGLE else ():
            singles.setdefault((aim.home, home), []).append(tally(scene, _knowing(aim, names)))
    reason = "No other sensitive attribute is published in the open."
    tallies = [tally(scene, aim) for aim in aims]
    how, is_foreseen = how_sure(scene, aims), any(promise.conditional for promise in scene.promises)
    result = outcome(NAME, KNOWS, how, tallies, reason=reason, is_foreseen=is_foreseen)
    return replace(result, by_attribute=_with_singles(result.by_attribute, singles))


def _knowing(aim: Aim, more: tuple[str, ...]) -> Aim:
    return replace(aim, known=(*aim.known, *more))


def _with_singles(
    by_attribute: Mapping[str, Mapping[str, Any]], singles: Mapping[tuple[str, str], list[Tally]]
) -> dict[str, dict[str, Any]]:
    """Beside every attribute, what knowing each other one alone achieves."""
    result = {home: {**numbers, "knowing": dict[str, Any]()} for home, numbers in by_attribute.items()}
    for (home, known), tallies in singles.items():
        if any(tally.targets for tally in tallies):
            numbers = summed(tallies)
            result[home]["knowing"][known] = {key: numbers[key] for key in SINGLE}
    return result
