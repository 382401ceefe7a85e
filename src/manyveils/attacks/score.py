"""Attack success beside guessing and beside people who were not in the data, with an interval."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from manyveils.attacks.beliefs import ALMOST
from manyveils.attacks.bounds import half_the_doubt
from manyveils.attacks.minds import Mind
from manyveils.attacks.outcome import How, Outcome
from manyveils.attacks.people import Bools, Floats, People
from manyveils.attacks.scene import Aim, Scene

NORMAL = 1.959964


@dataclass(frozen=True, repr=False)
class Seen:
    """For each person how often the attack is right about her, and how much it believes what is true."""

    right: Floats
    truth: Floats


Look = Callable[[Mind, People, Aim], Seen]


@dataclass(frozen=True)
class Tally:
    """What an attack achieves against one column."""

    home: str
    targets: int
    right: float
    guessed: float
    outside: float | None
    n_outside: int
    broken: int
    certain: int
    worst: float
    bound: str
    details: Mapping[str, float] = field(default_factory=dict)


def wilson(right: float, n: int) -> tuple[float, float]:
    """A 95 % interval for a share (Wilson, 1927).

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    if n == 0:
        return 0.0, 1.0
    share, z2 = right / n, NORMAL**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def tally(
    scene: Scene,
    aim: Aim,
    look: Look,
    *,
    cap: Floats | float | None = None,
    bound: str = "",
    mind: Mind | None = None,
) -> Tally:
    """Look at people in the data with and without the release, and at people outside it.

    `bound` says in words what `cap` is; given alone, it says why half of the doubt is the bound.
    """
    people, outside, mind = scene.people, scene.strangers, mind or scene.reader
    seen, guess = look(mind, people, aim), look(scene.ignorant, people, aim)
    other = look(mind, outside, aim)
    inside, beyond = protected(people, aim), protected(outside, aim)
    if cap is None:
        cap = half_the_doubt(guess.truth) if bound else aim.caps.at(people.codes[aim.about])
    above = inside & (seen.truth > cap + ALMOST) & (seen.truth > guess.truth + ALMOST)
    certain = inside & (seen.truth >= 1 - ALMOST) & (guess.truth < 1 - ALMOST)
    return Tally(
        aim.home,
        int(inside.sum()),
        float(seen.right[inside].sum()),
        float(guess.right[inside].sum()),
        float(other.right[beyond].sum()),
        int(beyond.sum()),
        int(above.sum()),
        int(certain.sum()),
        float(seen.truth[inside].max(initial=0.0)),
        bound or aim.caps.words,
    )


def protected(people: People, aim: Aim) -> Bools:
    """Who has a value that needs protection."""
    codes = people.codes[aim.about]
    return (codes < 0) | ~aim.spared[np.maximum(codes, 0)]


def outcome(
    name: str,
    knows: str,
    how: How,
    tallies: Iterable[Tally],
    details: Mapping[str, Any] | None = None,
    reason: str = "No sensitive attribute is published in the open.",
) -> Outcome:
    """Sum tallies up, column by column of every attribute; without a target the attack does not apply."""
    found = [each for each in tallies if each.targets]
    if not found:
        return Outcome(name, knows, "none", reason=reason)
    homes = dict.fromkeys(each.home for each in found)
    by_attribute = {home: _summed([each for each in found if each.home == home]) for home in homes}
    whole = _summed(found)
    return Outcome(
        name,
        knows,
        how,
        targets=whole["targets"],
        success=whole["success"],
        baseline=whole["baseline"],
        control=whole["control"],
        low=whole["interval"][0],
        high=whole["interval"][1],
        broken=whole["broken"],
        certain=whole["certain"],
        worst=whole["worst"],
        bound="; ".join(dict.fromkeys(each.bound for each in found)),
        by_attribute=by_attribute,
        details=details or {},
    )


def _summed(found: Sequence[Tally]) -> dict[str, Any]:
    n = sum(each.targets for each in found)
    n_outside = sum(each.n_outside for each in found)
    right = sum(each.right for each in found)
    counted = [each.outside for each in found if each.outside is not None]
    extra = {
        key: _together([each.details[key] for each in found if key in each.details]) for key in _keys(found)
    }
    return {
        "targets": n,
        "success": right / n,
        "baseline": sum(each.guessed for each in found) / n,
        "control": sum(counted) / n_outside if n_outside and counted else None,
        "interval": list(wilson(right, n)),
        "broken": sum(each.broken for each in found),
        "certain": sum(each.certain for each in found),
        "worst": max(each.worst for each in found),
        **extra,
    }


def _keys(found: Sequence[Tally]) -> list[str]:
    return list(dict.fromkeys(key for each in found for key in each.details))


def _together(values: Sequence[float]) -> float:
    """Counts are summed; of shares and gains the greatest counts."""
    return sum(values) if all(isinstance(value, int) for value in values) else max(values)


def how_sure(scene: Scene, aims: Iterable[Aim]) -> How:
    """Exact where every belief is a share of rows that look alike."""
    return "exact" if all(scene.reader.is_exact(aim.known, aim.about) for aim in aims) else "estimate"
