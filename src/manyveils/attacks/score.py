"""Attack success beside guessing and beside people who were not in the data, with an interval."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyveils.attacks.beliefs import ALMOST
from manyveils.attacks.bounds import half_the_doubt
from manyveils.attacks.intervals import Interval, of_hits, of_mean, wilson
from manyveils.attacks.minds import Mind
from manyveils.attacks.outcome import GUESSED_RIGHT, How, Measure, Outcome
from manyveils.attacks.people import Bools, Floats, People
from manyveils.attacks.scene import Aim, Scene


@dataclass(frozen=True, repr=False)
class Seen:
    """For each person how often the attack is right about her, and how much it believes what is true."""

    right: Floats
    truth: Floats


Look = Callable[[Mind, People, Aim], Seen]


@dataclass(frozen=True, repr=False)
class Tally:
    """What an attack achieves against one column: of each person whether she is a target, and how often it is right.

    Of the `broken`, who are beyond the bound, `promised` are beyond one that the policy promises.
    """

    home: str
    inside: Bools
    right: Floats
    guessed: float
    outside: float | None
    n_outside: int
    broken: int
    promised: int
    certain: int
    worst: float
    bound: str
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def targets(self) -> int:
        """How many people are targets."""
        return int(self.inside.sum())

    @property
    def n_right(self) -> float:
        """How many of them the attack gets right."""
        return float(self.right[self.inside].sum())


@dataclass(frozen=True, repr=False)
class Bound:
    """How much may be believed of each person's value, in whose case that is promised, and what it is in words."""

    cap: Floats
    promised: Bools
    words: str


def bound_of(people: People, aim: Aim) -> Bound:
    """What the policy promises of each person's value, or half of the doubt."""
    codes = people.codes[aim.about]
    return Bound(aim.caps.at(codes), aim.caps.is_promised(codes), aim.caps.words)


def unpromised(cap: Floats, words: str) -> Bound:
    """A bound that nothing in the policy promises."""
    return Bound(cap, np.zeros(cap.size, dtype=bool), words)


def tally(
    scene: Scene,
    aim: Aim,
    look: Look,
    *,
    bound: Bound | None = None,
    instead: str = "",
    mind: Mind | None = None,
) -> Tally:
    """Look at people in the data with and without the release, and at people outside it.

    `instead` says why half of the doubt is the bound, whatever is promised of values.
    """
    people, outside, mind = scene.people, scene.strangers, mind or scene.reader
    seen, guess = look(mind, people, aim), look(scene.ignorant, people, aim)
    other = look(mind, outside, aim)
    if bound is None:
        bound = unpromised(half_the_doubt(guess.truth), instead) if instead else bound_of(people, aim)
    beyond = protected(outside, aim)
    control = float(other.right[beyond].sum()), int(beyond.sum())
    return counted(aim.home, protected(people, aim), seen, guess, bound, control)


def counted(
    home: str,
    inside: Bools,
    seen: Seen,
    guess: Seen,
    bound: Bound,
    control: tuple[float | None, int] = (None, 0),
) -> Tally:
    """Count who is known beyond the bound and better than by guessing, and who for certain."""
    gained = inside & (seen.truth > guess.truth + ALMOST)
    above = gained & (seen.truth > bound.cap + ALMOST)
    certain = gained & (seen.truth >= 1 - ALMOST)
    return Tally(
        home,
        inside,
        np.where(inside, seen.right, 0.0),
        float(guess.right[inside].sum()),
        *control,
        int(above.sum()),
        int((above & bound.promised).sum()),
        int(certain.sum()),
        min(float(seen.truth[inside].max(initial=0.0)), 1.0),
        bound.words,
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
    measure: Measure = GUESSED_RIGHT,
    *,
    is_foreseen: bool = False,
) -> Outcome:
    """Sum tallies up, column by column of every attribute; without a target the attack does not apply.

    `is_foreseen` says that the promises speak of adversaries who know as much as this one.
    """
    found = [each for each in tallies if each.targets]
    if not found:
        return Outcome(name, knows, "none", reason=reason)
    homes = dict.fromkeys(each.home for each in found)
    by_attribute = {home: _summed([each for each in found if each.home == home], measure) for home in homes}
    whole = _summed(found, measure)
    return Outcome(
        name,
        knows,
        how,
        targets=whole["targets"],
        success=whole["success"],
        baseline=whole["baseline"],
        control=whole["control"],
        control_unsure=_unsure(found, whole["control"]),
        low=whole["interval"][0],
        high=whole["interval"][1],
        broken=whole["broken"],
        promised=whole["promised"],
        certain=whole["certain"],
        worst=whole["worst"],
        bound="; ".join(dict.fromkeys(each.bound for each in found)),
        by_attribute=by_attribute,
        details=details or {},
        measure=measure,
        is_foreseen=is_foreseen,
    )


def _summed(found: Sequence[Tally], measure: Measure) -> dict[str, Any]:
    n = sum(each.targets for each in found)
    n_outside = sum(each.n_outside for each in found)
    right = sum(each.n_right for each in found)
    outside = [each.outside for each in found if each.outside is not None]
    extra = {
        key: _together([each.details[key] for each in found if key in each.details]) for key in _keys(found)
    }
    return {
        "targets": n,
        "success": right / n,
        "baseline": sum(each.guessed for each in found) / n,
        "control": sum(outside) / n_outside if n_outside and outside else None,
        "interval": list(interval(found, measure)),
        "broken": sum(each.broken for each in found),
        "promised": sum(each.promised for each in found),
        "certain": sum(each.certain for each in found),
        "worst": max(each.worst for each in found),
        **extra,
    }


def _unsure(found: Sequence[Tally], control: float | None) -> float:
    """How far a control may be off: people outside are counted once, however many attributes they have."""
    n = max(each.n_outside for each in found)
    return 0.0 if control is None else wilson(control * n, n)[1] - control


def interval(found: Sequence[Tally], measure: Measure = GUESSED_RIGHT) -> Interval:
    """The interval of success over all tallies of the same people."""
    hits: Floats = np.sum([each.right for each in found], axis=0)
    targets: Floats = np.sum([each.inside for each in found], axis=0).astype(np.float64)
    if measure.is_mean:
        return of_mean(hits, targets)
    luck = sum(float((each.right * (1 - each.right)).sum()) for each in found)
    return of_hits(hits, targets, luck)


def _keys(found: Sequence[Tally]) -> list[str]:
    return list(dict.fromkeys(key for each in found for key in each.details))


def _together(values: Sequence[float]) -> float:
    """Counts are summed; of shares and gains the greatest counts."""
    return sum(values) if all(isinstance(value, int) for value in values) else max(values)


def how_sure(scene: Scene, aims: Iterable[Aim]) -> How:
    """Exact where every belief is a share of rows that look alike."""
    return "exact" if all(scene.reader.is_exact(aim.known, aim.about) for aim in aims) else "estimate"
