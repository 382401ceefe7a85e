"""Elimination: who can rule values out is left with fewer.

Knows: the quasi-identifiers, and of m values that the target does not have them: of the attribute itself, or of
another sensitive one in the same column. They are the values whose absence tells most, so this is the worst case.
How: takes the rows with these values away, and looks at what is left; m is the policy's `eliminations`, or 1.
Paper: Machanavajjhala et al., l-diversity (2006); paper 001.
"""

import numpy as np

from manyveils.attacks.beliefs import ALMOST, Beliefs
from manyveils.attacks.minds import Mind
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids, People
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Bound, Look, Seen, how_sure, outcome, tally
from manyveils.policy.guarantees import Elimination

NAME = "elimination"


def attack(scene: Scene) -> Outcome:
    """Rule out the values that tell most."""
    m = max(
        [
            1,
            *(
                each.guarantee.eliminations
                for each in scene.promises
                if isinstance(each.guarantee, Elimination)
            ),
        ]
    )
    knows = (
        f"the quasi-identifiers, or what a rule gives, and {m} value{'s' * (m > 1)} the target does not have"
    )
    tallies = [
        tally(
            scene,
            aim,
            _look(scene, aim, m),
            bound=_bound(scene, aim, m),
        )
        for aim in scene.aims
    ]
    return outcome(NAME, knows, how_sure(scene, scene.aims), tallies, {"eliminations": m})


def _bound(scene: Scene, aim: Aim, m: int) -> Bound:
    """What a cap leaves once m values are gone that were as likely as it allows: 1/(l - m) of 1/l; at most certainty."""
    codes = scene.people.codes[aim.about]
    caps = aim.caps.at(codes)
    left = caps / np.maximum(1 - m * caps, ALMOST)
    promised = aim.caps.is_promised(codes) & (left < 1 - ALMOST)
    return Bound(np.minimum(left, 1 - 2 * ALMOST), promised, f"{aim.caps.words}, less {m} of the values")


def _look(scene: Scene, aim: Aim, m: int) -> Look:
    others = [
        name for names in scene.beside(aim).values() for name in names if _together(scene, aim.about, name)
    ]
    is_bit = scene.table[aim.about].absence >= 0

    def look(mind: Mind, people: People, at: Aim) -> Seen:
        beliefs, codes = mind.of(people, at.known, at.about), people.codes[at.about]
        seen = Seen(beliefs.right(codes), beliefs.at(codes))
        # Not having a value cannot be ruled out: that would be to know it.
        found = [] if is_bit else [_own(beliefs, codes, m)]
        for name in others:
            factor = _factor(mind, people, at, name, m, scene.table[name].absence)
            truth = np.minimum(seen.truth * factor, 1.0)
            found.append(Seen((truth > 0.5 + ALMOST).astype(np.float64), truth))
        for each in found:
            seen = Seen(np.maximum(seen.right, each.right), np.maximum(seen.truth, each.truth))
        return seen

    return look


def _together(scene: Scene, one: str, other: str) -> bool:
    return any({one, other} <= {*part.attributes} for shape in scene.reader.shapes for part in shape.parts)


def _own(beliefs: Beliefs, codes: Ids, m: int) -> Seen:
    """Rule out the m likeliest values but the true one."""
    truth = beliefs.at(codes)
    top = -np.sort(-beliefs.rows, axis=1)[:, : m + 1]
    top = np.pad(top, ((0, 0), (0, m + 1 - top.shape[1])))[beliefs.of]
    # Where hers is among the first, it is passed over.
    among = truth >= top[:, m] - ALMOST
    gone = np.where(among, top.sum(axis=1) - truth, top[:, :m].sum(axis=1))
    left = np.maximum(1.0 - gone, ALMOST)
    # Of the values that were at least as likely as hers, m are gone; she is guessed among the rest.
    as_likely = _n_as_likely(beliefs, truth)
    right = np.where(among, 1.0 / np.maximum(as_likely - m, 1), 0.0)
    return Seen(np.where(truth > 0, right, 0.0), np.minimum(truth / left, 1.0))


def _n_as_likely(beliefs: Beliefs, truth: Floats) -> Ids:
    """For each person how many values are believed at least as much as the true one."""
    places, numbers = np.unique(np.stack([beliefs.of, truth]), axis=1, return_inverse=True)
    rows = beliefs.rows[places[0].astype(np.int64)]
    counts: Ids = (rows >= places[1][:, np.newaxis] - ALMOST).sum(axis=1)
    return counts[numbers]


def _factor(mind: Mind, people: People, aim: Aim, name: str, m: int, absence: int) -> Floats:
    """How much likelier the truth gets when the m values of another attribute that tell most are ruled out."""
    own, codes = people.codes[name], people.codes[aim.about]
    all_rows = mind.of(people, aim.known, name)
    with_truth = mind.of(people, (*aim.known, aim.about), name)
    keys = all_rows.of * with_truth.rows.shape[0] + with_truth.of
    _, firsts, of = np.unique(
        keys * (own.max(initial=0) + 2) + own + 1, return_index=True, return_inverse=True
    )
    before, after = all_rows.rows[all_rows.of[firsts]].copy(), with_truth.rows[with_truth.of[firsts]].copy()
    for kept in (own[firsts], np.full(firsts.size, absence)):
        has = np.flatnonzero(kept >= 0)
        before[has, kept[has]] = after[has, kept[has]] = 0.0
    gone_before, gone_after = np.zeros(firsts.size), np.zeros(firsts.size)
    factor = np.ones(firsts.size)
    for _ in range(m):
        left = np.maximum(1.0 - gone_before[:, np.newaxis] - before, ALMOST)
        ratio = np.where(before > 0, (1.0 - gone_after[:, np.newaxis] - after) / left, 0.0)
        best, rows = ratio.argmax(axis=1), np.arange(firsts.size)
        gone_before += before[rows, best]
        gone_after += after[rows, best]
        factor = np.maximum(factor, ratio[rows, best])
        before[rows, best] = after[rows, best] = 0.0
    return np.where(codes >= 0, factor[of], 1.0)
