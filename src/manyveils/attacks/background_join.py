"""Background join: who knows one sensitive value of a target reads the others off the matching rows.

Knows: the quasi-identifiers, and the target's other sensitive values: all of them, and one at a time.
How: keeps the rows that match all of this, and takes the value most of them have.
Paper: paper 000 (CODIP).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from manyveils.attacks.homogeneity import look
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, how_sure, outcome, tally

NAME = "background-join"
KNOWS = "the quasi-identifiers, or what a rule gives, and all other sensitive values of the target"
MOST_SINGLE = 6


def attack(scene: Scene) -> Outcome:
    """Guess each sensitive value from all others, and from each other one."""
    wholes, singles = [], dict[tuple[str, str], list[Tally]]()
    for aim in scene.aims:
        beside = scene.beside(aim)
        if not beside:
            continue
        wholes.append(_knowing(aim, tuple(name for names in beside.values() for name in names)))
        for home, names in beside.items() if len(beside) <= MOST_SINGLE else ():
            singles.setdefault((aim.home, home), []).append(tally(scene, _knowing(aim, names), look))
    reason = "No other sensitive attribute is published in the open."
    tallies = [tally(scene, aim, look) for aim in wholes]
    how, is_foreseen = how_sure(scene, wholes), any(each.conditional for each in scene.promises)
    found = outcome(NAME, KNOWS, how, tallies, reason=reason, is_foreseen=is_foreseen)
    return replace(found, by_attribute=_with_singles(found.by_attribute, singles))


def _knowing(aim: Aim, more: tuple[str, ...]) -> Aim:
    return replace(aim, known=(*aim.known, *more))


def _with_singles(
    found: Mapping[str, Mapping[str, Any]], singles: Mapping[tuple[str, str], list[Tally]]
) -> dict[str, dict[str, Any]]:
    """Beside every attribute, what knowing each other one alone achieves."""
    told = {home: {**each, "knowing": dict[str, Any]()} for home, each in found.items()}
    for (home, other), tallies in singles.items():
        n = sum(each.targets for each in tallies)
        if n:
            told[home]["knowing"][other] = {
                "success": sum(each.n_right for each in tallies) / n,
                "broken": sum(each.broken for each in tallies),
                "promised": sum(each.promised for each in tallies),
                "certain": sum(each.certain for each in tallies),
                "worst": max(each.worst for each in tallies),
            }
    return told
