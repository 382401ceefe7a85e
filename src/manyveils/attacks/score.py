"""Attack success beside guessing and beside people who were not in the data, with a 95 % interval.

Whoever is easy to find out in one attribute is often so in others, and by one of her rows as by another, so the people
are the sample and not their attributes or rows: spread is taken from person to person.
Where people have several rows, someone who knows one row of a target is beside someone who knows all of them. Which row
is known is as likely one as another, so a person counts with the share of her rows of which the attack is right; she is
broken if by one of them she is.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Beliefs, Seen
from manyveils.attacks.chance import (
    NORMAL,
)
from manyveils.attacks.outcome import TOLERANCE
from manyveils.attacks.people import Bools, Floats, Ids, People
from manyveils.attacks.scene import Aim, Bound, Scene, half_the_doubt
from manyveils.attacks.tallies import Tally

Look = Callable[[Adversary, People, Aim], Seen]

HARM = ("broken", "promised", "certain", "worst")


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
