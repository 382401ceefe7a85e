"""Attack success beside guessing and beside people who were not in the data, with a 95 % interval.

Whoever is easy to find out in one attribute is often so in others, and by one of her rows as by another, so the people
are the sample and not their attributes or rows: spread is taken from person to person.
Where people have several rows, someone who knows one row of a target is beside someone who knows all of them. Which row
is known is as likely one as another, so a person counts with the share of her rows of which the attack is right; she is
broken if by one of them she is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Beliefs, Seen
from manyveils.attacks.chance import (
    FALSE_POSITIVES,
    NORMAL,
    Interval,
    named_rightly,
    of_hits,
    of_mean,
    wilson,
)
from manyveils.attacks.outcome import GUESSED_RIGHT, TOLERANCE, How, Measure, Outcome
from manyveils.attacks.people import Bools, Floats, Ids, People
from manyveils.attacks.scene import Aim, Bound, Scene, half_the_doubt

Look = Callable[[Adversary, People, Aim], Seen]

HARM = ("broken", "promised", "certain", "worst")
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


def looking(see: Callable[[Beliefs, Ids], Seen]) -> Look:
    """Look at people by what is believed of them and their true values."""

    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        return see(adversary.beliefs(people, aim.known, aim.about), people.codes[aim.about])

    return look


# The belief in each person's own value, and whether it is the likeliest.
look = looking(Beliefs.seen)


def bound_of(people: People, aim: Aim) -> Bound:
    """What the policy promises of each person's value, or half of the doubt."""
    return aim.bounds.of(people.codes[aim.about])


def unpromised(guess: Seen, words: str) -> Bound:
    """Half of the doubt that there is without the release, which nothing in the policy promises."""
    return Bound(half_the_doubt(guess.truth), np.zeros(guess.truth.size, dtype=bool), words)


def tally(
    scene: Scene,
    aim: Aim,
    look: Look = look,
    *,
    bound: Bound | None = None,
    instead: str = "",
    adversary: Adversary | None = None,
) -> Tally:
    """Look at people in the data with and without the release, and at people outside it.

    `instead` says why half of the doubt is the bound, whatever is promised of values.
    """
    people, adversary = scene.people, adversary or scene.reader
    seen, guess = look(adversary, people, aim), look(scene.ignorant, people, aim)
    if bound is None:
        bound = unpromised(guess, instead) if instead else bound_of(people, aim)
    count = partial(counted, aim.home, people, protected(people, aim), guess=guess, bound=bound)
    one = count(seen, control=_control(scene, aim, look, adversary))
    if people.persons is None:
        return one
    if adversary is scene.reader and scene.reader.placed:
        one, seen = _or_by_rows(scene, aim, look, one, seen, count)
    return replace(one, all_rows=_by_all_rows(scene, aim, look, adversary, one, seen, count))


def _control(scene: Scene, aim: Aim, look: Look, adversary: Adversary) -> tuple[float, int]:
    """How often an attack is right about people outside the data, summed, and how many they are."""
    people = scene.non_members
    outside = protected(people, aim)
    right = people.mean(look(adversary, people, aim).right, outside)[people.anyone(outside)]
    return float(right.sum()), right.size


def _or_by_rows(
    scene: Scene, aim: Aim, look: Look, one: Tally, seen: Seen, count: Callable[..., Tally]
) -> tuple[Tally, Seen]:
    """Someone who counts people, or someone who takes rows for people, whoever is right more often.

    The second is surer of those with many rows than she may be: that is knowledge only where it comes true more often.
    Of very many people she looks at some first, and at all only if she is right more often about these.
    """
    some, of_people = scene.some
    if some is not scene.people and not _is_righter(
        some, protected(some, aim), look(scene.ignoring, some, aim).right, seen.right[of_people]
    ):
        return one, seen
    by_rows = look(scene.ignoring, scene.people, aim)
    both = replace(by_rows, truth=np.maximum(by_rows.truth, seen.truth))
    rows = count(both, control=(one.outside, one.n_outside))
    if rows.n_right <= one.n_right:
        return one, seen
    if rows.is_better_than(one):
        return rows, both
    return replace(one, right=rows.right, luck=rows.luck, best=rows.best), seen


def _is_righter(people: People, inside: Bools, right: Floats, other: Floats) -> bool:
    """Whether one is right more often than another about the same people, beyond chance."""
    more = people.mean(right - other, inside)[people.anyone(inside)]
    return bool(more.sum() > NORMAL * sqrt(float((more**2).sum())) + TOLERANCE)


def _by_all_rows(
    scene: Scene,
    aim: Aim,
    look: Look,
    adversary: Adversary,
    one: Tally,
    seen: Seen,
    count: Callable[..., Tally],
) -> Tally:
    """Someone who knows all rows: right as often as by all of them or by one, and as sure as the surer of both."""
    if aim.home not in scene.constant:
        return one
    knower = scene.knower(adversary)
    by_all = look(knower, scene.people, aim)
    both = replace(by_all, truth=np.maximum(by_all.truth, seen.truth))
    every = count(both, control=_control(scene, aim, look, knower))
    if not knower.stands(aim.about):
        every = founded(every, one)
    if every.n_right >= one.n_right:
        return every
    return replace(one, **{name: getattr(every, name) for name in HARM})


def founded(tally: Tally, plain: Tally) -> Tally:
    """Where beliefs come true no more often than plainer ones, only what is ruled out for sure counts."""
    if tally.is_better_than(plain):
        return tally
    promised = max(min(tally.promised, tally.certain), plain.promised)
    return replace(tally, broken=max(tally.certain, plain.broken), promised=promised)


def harm(inside: Bools, seen: Seen, guess: Seen, bound: Bound) -> tuple[Bools, Bools]:
    """Who is known beyond the bound and better than by guessing, and who for certain."""
    gained = inside & (seen.truth > guess.truth + TOLERANCE)
    return gained & (seen.truth > bound.cap + TOLERANCE), gained & (seen.truth >= 1 - TOLERANCE)


def counted(
    home: str,
    people: People,
    inside: Bools,
    seen: Seen,
    guess: Seen,
    bound: Bound,
    control: tuple[float, int] = (0.0, 0),
    weights: Floats | None = None,
) -> Tally:
    """Count who is known beyond the bound and who for certain, by one of her rows at least; `inside` says of each row
    whether it has a target, and `weights` how much of a person counts.
    """
    broken, certain = harm(inside, seen, guess, bound)
    targets = people.anyone(inside)

    def n_people(who: Bools) -> int:
        if weights is None:
            return int(people.anyone(who).sum())
        return round(float(people.greatest(np.where(who, weights, 0.0))[people.anyone(who)].sum()))

    one = Tally(
        home,
        targets,
        people.mean(seen.right, inside),
        float(people.mean(guess.right, inside)[targets].sum()),
        *control,
        n_people(broken),
        n_people(broken & bound.promised),
        n_people(certain),
        min(float(seen.truth[inside].max(initial=0.0)), 1.0),
        bound.words,
        luck=_luck(people, inside, seen.right),
        best=None if seen.best is None else people.mean(seen.best, inside),
    )
    return one if people.persons is None else replace(one, all_rows=one)


def _luck(people: People, inside: Bools, right: Floats) -> float:
    """The variance of guesses that chance decides, summed over people; her rows are guessed one by one."""
    right = np.where(inside, right, 0.0)
    variance = right * (1 - right)
    if people.persons is not None:
        variance = variance / np.maximum(people.summed(inside), 1.0)[people.persons] ** 2
    return float(variance.sum())


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
