"""Alias frequency: a code is as common as what it stands for.

Knows: how common each value is, and that codes stand for values.
How: matches codes with values by how often they occur, for the share of people in codes that fits best; the belief in a
match falls with the misfit, as counts vary by chance. Codes of groups mislead her.
Paper: the limits of paper 004; Naveed, Kamara and Wright (2015) for encrypted databases.
"""

import numpy as np

from manyveils.attacks.codes import Codes, codes_of, is_hidden, secret_columns
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Seen, Tally, bound_of, counted, outcome, protected

NAME = "alias-frequency"
KNOWS = "how common each value is"
# The shares of people who may have chosen a code of their own, and the misfit at which a code is taken for no value's.
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
NEITHER = 9.0


def attack(scene: Scene) -> Outcome:
    """Read every code as the value that is as common."""
    names = secret_columns(scene, numeric=False)
    codes = {name: codes_of(scene, name) for name in names}
    tallies = [_tally(scene, codes[name], scene.aim((), name)) for name in names]
    reason = "No sensitive attribute is published in codes of its values."
    details = {"codes": sum(each.counts.size for each in codes.values())}
    return outcome(NAME, KNOWS, "estimate", tallies, details, reason)


def _tally(scene: Scene, codes: Codes, aim: Aim) -> Tally:
    people, values = scene.people, scene.people.codes[aim.about]
    expected = np.maximum(codes.all - codes.openly, 0)
    right, belief = _read(codes, expected)
    share = codes.all / max(int(codes.all.sum()), 1)
    guess = (values == int(np.argmax(expected))).astype(np.float64)
    inside = is_hidden(scene, people.codes, aim.about) & protected(people, aim)
    seen = Seen(right[values], np.where(right > 0, belief, 0.0)[values])
    return counted(aim.home, inside, seen, Seen(guess, share[values]), bound_of(people, aim))


def _read(codes: Codes, expected: Ids) -> tuple[Floats, Floats]:
    """For each value how often its code is read as it, and how much that is believed; codes as common share."""
    right, belief = np.zeros(expected.size), np.zeros(expected.size)
    if not codes.counts.size:
        return right, belief
    misfit, read = min(
        (_matched(codes.counts, (expected * share).astype(np.float64)) for share in SHARES),
        key=lambda each: each[0],
    )[1:]
    likely = np.exp(-misfit / 2)
    believed = likely / (likely.sum(axis=1, keepdims=True) + np.exp(-NEITHER / 2))
    for value in np.flatnonzero(codes.hidden).tolist():
        same = codes.own(value)
        if same.size:
            right[value] = (read[same] == value).sum() / same.size
            belief[value] = believed[same, value].mean()
    return right, belief


def _matched(counts: Ids, expected: Floats) -> tuple[float, Floats, Ids]:
    """The best match of codes and values, where each is hidden as often as expected: how bad it is, pair by pair, and what it is.

    A code may stand for none of the values: codes of groups do.
    """
    from scipy.optimize import linear_sum_assignment

    hoped = np.maximum(expected, 1e-3)[np.newaxis, :]
    seen = counts[:, np.newaxis].astype(np.float64)
    misfit: Floats = 2 * (seen * np.log(seen / hoped) - seen + hoped)
    padded = np.concatenate([misfit, np.full((counts.size, counts.size), NEITHER)], axis=1)
    rows, columns = linear_sum_assignment(padded)
    read = np.full(counts.size, -1, dtype=np.int64)
    read[rows] = np.where(columns < expected.size, columns, -1)
    return float(padded[rows, columns].sum()), misfit, read
