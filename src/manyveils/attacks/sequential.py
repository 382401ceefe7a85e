"""Several releases of the same people: each is sound alone, and together they tell more.

Releases of a chain say who is in which of their groups, and everybody is followed through them; releases of different
publishers do not, and who is in them follows from what is known.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from manyveils.attacks.adversaries import Adversary, Reader
from manyveils.attacks.chain import Follower
from manyveils.attacks.composition import Collector, Composer
from manyveils.attacks.correspondence import corresponding, pairs_of
from manyveils.attacks.outcome import How, Outcome
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import founded, tally
from manyveils.attacks.several import KNOWS, effort_for
from manyveils.attacks.tallies import Tally, outcome
from manyveils.attacks.worlds import Limits, worst
from manyveils.table.earlier import Earlier

NAME = "sequential"
KNOWS_CHAIN = "every release of the chain, and in which groups of it everybody is"
ONE = "There is one release only; give others with `others` or --other, or the earlier ones of its chain with `after` or --after."
MOST_KINDS = 3_000_000
OF_GONE = "certain_gone", "broken_gone", "promised_gone"


def sequential(scene: Scene) -> Outcome:
    """Sequential: several releases of the same people, each sound, are played off against each other.

    Knows: of a chain, in which groups everybody is, whether she is still there or gone; of other releases the
    quasi-identifiers, that the target is in those that she fits, and that her values did not change.
    How: works out all worlds that agree with every release, exactly where few people hang together; elsewhere estimates
    them, or multiplies what each release says of her. Releases that say the same of somebody may have been made from the
    same groups, and count once in a product. Of attributes that change, records are excluded that cannot be of the same
    person.
    Estimates that come true no more often than beliefs from one release break nothing but where values are ruled out.
    Paper: Xiao and Tao, m-invariance (2007); Byun et al. (2006); Fung et al. (2008); Ganta et al. (2008).
    """
    if scene.table.earlier is not None:
        return _along_chain(scene, scene.table.earlier)
    if not scene.others:
        return Outcome(NAME, KNOWS, "none", reason=ONE)
    readers = (scene.reader, *(Reader(other, scene.table, scene.policy) for other in scene.others))
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    composer = Composer(Collector(readers), Limits(effort=effort_for(scene) / max(len(aims), 1)))
    alone = [tally(scene, aim) for aim in aims]
    exact = [composer.is_exact(aim.known, aim.about) for aim in aims]
    tallies = [
        _together(scene, aim, composer, plain, is_exact=is_exact)
        for aim, plain, is_exact in zip(aims, alone, exact, strict=True)
    ]
    details = {"releases": len(readers), **_with_one(alone)}
    knows = f"{KNOWS}, and that the target is in every release that she fits"
    return outcome(NAME, knows, "exact" if all(exact) else "estimate", tallies, details)


def _with_one(alone: list[Tally]) -> dict[str, float]:
    """What one release tells."""
    n = max(sum(plain.targets for plain in alone), 1)
    return {
        "success_with_one": sum(plain.n_right for plain in alone) / n,
        "certain_with_one": sum(plain.certain for plain in alone),
    }


def _together(
    scene: Scene,
    aim: Aim,
    adversary: Composer | Follower,
    plain: Tally,
    *,
    is_exact: bool,
    by: Adversary | None = None,
) -> Tally:
    """What someone with several releases achieves, where estimates count only if they come true more often.

    `by` is who holds the worlds beside further releases.
    """
    both = tally(scene, aim, adversary=by or adversary)
    if is_exact or both.is_better_than(plain):
        return both
    counted = tally(scene, aim, adversary=replace(adversary, only_counted=True))
    every, alone, certain = both.all_rows, plain.all_rows, counted.all_rows
    return replace(
        _founded(both, plain, counted),
        all_rows=_founded(every, alone, certain) if every and alone and certain else every,
    )


def _founded(tally: Tally, plain: Tally, counted: Tally) -> Tally:
    """Where beliefs come true no more often than with one release, only what is ruled out for sure counts, and what worlds
    that were counted say.
    """
    both = founded(tally, plain)
    return replace(
        both, broken=max(both.broken, counted.broken), promised=max(both.promised, counted.promised)
    )


def _along_chain(scene: Scene, earlier: Earlier) -> Outcome:
    """What all releases of a chain tell together, of people who may have joined, left and come back."""
    aims = [aim for aim in scene.aims if aim.about in scene.reader.readable]
    n_followed = sum(aim.about in earlier.held for aim in aims)
    limits = Limits(kinds=MOST_KINDS, effort=effort_for(scene) / max(n_followed, 1))
    follower = Follower(scene.reader, scene.constant, limits)
    n_chain = earlier.n_releases
    n_apart = max(len(scene.others) - n_chain, 0)
    others = [Reader(other, scene.table, scene.policy) for other in scene.others]
    by = Collector((scene.reader, *others[:n_apart]), follower) if n_apart else None
    alone = [tally(scene, aim) for aim in aims]
    followed = [aim for aim in aims if follower.follows(aim.about)]
    together = [
        _together(
            scene,
            aim,
            follower,
            plain,
            is_exact=by is None and follower.is_exact(aim.known, aim.about),
            by=by,
        )
        if by or aim in followed
        else plain
        for aim, plain in zip(aims, alone, strict=True)
    ]
    gone = [follower.of_gone(aim) for aim in followed]
    beliefs = worst(follower.beliefs_by(aim.known, aim.about) for aim in followed)
    certainty = worst(follower.certainty_by(aim.known, aim.about) for aim in followed)
    details: Mapping[str, Any] = {
        "releases": 1 + len(scene.others[:n_apart]) + n_chain,
        "constant_attributes": len({aim.home for aim in followed}),
        "persons": follower.gone.size,
        "gone": int(follower.gone.sum()),
        **{name: sum(own[name] for own in gone) for name in OF_GONE},
        **_with_one(alone),
        "beliefs": beliefs,
        "certainty": certainty,
        "counted": min((follower.counted(aim.known, aim.about) for aim in followed), default=1.0),
        **_correspondences(scene, follower, others[n_apart:]),
    }
    how: How = "exact" if beliefs == "exact" else "estimate" if certainty == "estimate" else "bound"
    if by is not None:
        how = "estimate"
    return outcome(NAME, KNOWS_CHAIN, how, together, details, is_foreseen=by is None)


def _correspondences(scene: Scene, follower: Follower, readers: list[Reader]) -> dict[str, int]:
    """Records that cannot be of the same person, by forward, cross and backward attacks, summed over attributes."""
    earlier, people = follower.earlier, scene.people
    if people.rows is None or scene.table.persons is None or len(readers) < earlier.n_releases:
        return {}
    if scene.table.n_persons < scene.table.n_rows:
        # Of somebody with several rows nobody knows how many records she has in the other release.
        return {}
    was_there = np.zeros((earlier.n_releases, follower.n_persons), dtype=bool)
    was_there[earlier.release_of[earlier.groups], earlier.persons] = True
    n_stayed = was_there[:, follower.here].sum(axis=1).tolist()
    persons = scene.table.persons[people.rows]
    is_here = follower.here[persons]
    summed: dict[str, int] = {}
    for aim in scene.aims:
        is_constant = aim.home in scene.constant
        pairs = pairs_of(scene.reader, readers, n_stayed, aim.known, aim.about, is_constant=is_constant)
        there = [(pair, was_there[number][persons]) for number, pair in enumerate(pairs) if pair is not None]
        if there:
            told = corresponding([pair for pair, _ in there], [own for _, own in there], people, is_here)
            for name, n in told.items():
                combine = min if name.endswith("_least") else sum
                summed[name] = combine([summed[name], n]) if name in summed else n
    return summed
