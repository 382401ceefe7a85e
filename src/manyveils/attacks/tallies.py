"""What is counted of an attack against one attribute, and what several come to: sums, intervals, and one outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyveils.attacks.chance import (
    FALSE_POSITIVES,
    Interval,
    named_rightly,
    of_hits,
    of_mean,
    wilson,
)
from manyveils.attacks.outcome import GUESSED_RIGHT, How, Measure, Outcome
from manyveils.attacks.people import Bools, Floats
from manyveils.attacks.scene import Aim, Scene

SUMMED = (
    "targets",
    "success",
    "baseline",
    "control",
    "broken",
    "promised",
    "certain",
    "worst",
    "true_positives",
)


@dataclass(frozen=True, repr=False)
class Tally:
    """What an attack achieves against one attribute: of each person whether she is a target, and how often it is right.

    `luck` is the variance of guesses that chance decides; `outside` sums how often it is right about `n_outside` non-members.
    Of the `broken`, who are beyond the bound, `promised` are beyond one that the policy promises.
    `best` is the belief in what is guessed of each person, the mean over her rows; None where nothing is guessed.
    `all_rows` is what someone achieves who knows all rows of each person, where people have several; nothing more,
    unless an attack says so.
    """

    home: str
    inside: Bools
    right: Floats
    guessed: float
    outside: float
    n_outside: int
    broken: int
    promised: int
    certain: int
    worst: float
    bound: str
    details: Mapping[str, float] = field(default_factory=dict)
    luck: float = 0.0
    all_rows: "Tally | None" = None
    best: Floats | None = None

    @property
    def targets(self) -> int:
        """How many people are targets."""
        return int(self.inside.sum())

    @property
    def n_right(self) -> float:
        """How many of them the attack gets right."""
        return float(self.right[self.inside].sum())

    def is_better_than(self, plain: "Tally") -> bool:
        """Whether this attack is right more often than a plainer one, beyond chance."""
        return self.targets > 0 and interval([self])[0] > plain.n_right / self.targets


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
    """Sum tallies up, over all and for every attribute; without a target the attack does not apply.

    `is_foreseen` says that the promises speak of adversaries who know as much as this one.
    """
    tallies = [tally for tally in tallies if tally.targets]
    if not tallies:
        return Outcome(name, knows, "none", reason=reason)
    homes: dict[str, list[Tally]] = {}
    for tally in tallies:
        homes.setdefault(tally.home, []).append(tally)
    whole = summed(tallies, measure)
    low, high = whole["interval"]
    return Outcome(
        name,
        knows,
        how,
        **{key: whole[key] for key in SUMMED},
        control_unsure=_unsure(tallies, whole["control"]),
        low=low,
        high=high,
        bound="; ".join(dict.fromkeys(tally.bound for tally in tallies)),
        by_attribute={home: _with_all_rows(own, measure) for home, own in homes.items()},
        details=details or {},
        measure=measure,
        is_foreseen=is_foreseen,
        all_rows=_all_rows(tallies, measure),
    )


def _with_all_rows(tallies: Sequence[Tally], measure: Measure) -> dict[str, Any]:
    every = _all_rows(tallies, measure)
    return summed(tallies, measure) | ({} if every is None else {"all_rows": every})


def _all_rows(tallies: Sequence[Tally], measure: Measure) -> dict[str, Any] | None:
    """The sum of what someone achieves who knows all rows of each person; None where people have one."""
    if all(tally.all_rows is None for tally in tallies):
        return None
    whole = summed([tally.all_rows or tally for tally in tallies], measure)
    return {key: whole[key] for key in (*SUMMED, "interval")}


def summed(tallies: Sequence[Tally], measure: Measure = GUESSED_RIGHT) -> dict[str, Any]:
    """The sum of some tallies that have targets, as plain values."""
    n = sum(tally.targets for tally in tallies)
    n_outside = sum(tally.n_outside for tally in tallies)
    details: dict[str, list[float]] = {}
    for tally in tallies:
        for key, value in tally.details.items():
            details.setdefault(key, []).append(value)
    return {
        "targets": n,
        "success": sum(tally.n_right for tally in tallies) / n,
        "baseline": sum(tally.guessed for tally in tallies) / n,
        "control": sum(tally.outside for tally in tallies) / n_outside if n_outside else None,
        "interval": list(interval(tallies, measure)),
        "broken": sum(tally.broken for tally in tallies),
        "promised": sum(tally.promised for tally in tallies),
        "certain": sum(tally.certain for tally in tallies),
        "worst": max(tally.worst for tally in tallies),
        "true_positives": true_positives(tallies),
        **{key: _together(values) for key, values in details.items()},
    }


def true_positives(tallies: Sequence[Tally]) -> dict[str, float] | None:
    """The share of targets named rightly by someone who names those of whom she is surest, by how many may be named wrongly.

    None where an attack names nothing.
    """
    guesses = [
        (tally.best[tally.inside], tally.right[tally.inside]) for tally in tallies if tally.best is not None
    ]
    if len(guesses) < len(tallies):
        return None
    best, right = (np.concatenate(parts) for parts in zip(*guesses, strict=True))
    return {f"{rate:g}": named_rightly(best, right, rate) for rate in FALSE_POSITIVES}


def _unsure(tallies: Sequence[Tally], control: float | None) -> float:
    """How far a control may be off: people outside are counted once, however many attributes they have."""
    n = max(tally.n_outside for tally in tallies)
    return 0.0 if control is None else wilson(control * n, n)[1] - control


def interval(tallies: Sequence[Tally], measure: Measure = GUESSED_RIGHT) -> Interval:
    """The interval of success over all tallies of the same people."""
    hits: Floats = np.sum([tally.right for tally in tallies], axis=0)
    targets: Floats = np.sum([tally.inside for tally in tallies], axis=0).astype(np.float64)
    if measure.is_mean:
        return of_mean(hits, targets)
    return of_hits(hits, targets, sum(tally.luck for tally in tallies))


def _together(values: Sequence[float]) -> float:
    """Counts are summed; of shares and gains the greatest counts."""
    return sum(values) if all(isinstance(value, int) for value in values) else max(values)


def how_sure(scene: Scene, aims: Iterable[Aim]) -> How:
    """Exact where every belief is a share of rows that look alike."""
    return "exact" if all(scene.reader.is_exact(aim.known, aim.about) for aim in aims) else "estimate"
