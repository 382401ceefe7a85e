"""Alias frequency: a pseudonym is as common as what it stands for.

Knows: how common each value is, and that pseudonyms stand for values.
How: matches pseudonyms with values by how often they occur, for the share of people behind them that fits best; the
belief in a match falls with the misfit, as counts vary by chance. Pseudonyms of groups mislead her.
Paper: the limits of paper 004; Naveed, Kamara and Wright (2015) for encrypted databases.
"""

import numpy as np

from manyveils.attacks.beliefs import Seen
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.pseudonyms import Pseudonyms, is_hidden, pseudonyms_of, secret_attributes
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import Tally, bound_of, counted, outcome, protected

NAME = "alias-frequency"
KNOWS = "how common each value is"
# The shares of people who may have chosen a pseudonym of their own, and the misfit at which one is taken for no value's.
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
NEITHER = 9.0


def attack(scene: Scene) -> Outcome:
    """Read every pseudonym as the value that is as common."""
    pseudonyms = {name: pseudonyms_of(scene, name) for name in secret_attributes(scene, numeric=False)}
    tallies = [_tally(scene, own, scene.aim((), name)) for name, own in pseudonyms.items()]
    reason = "No sensitive attribute is published in codes of its values."
    details = {"codes": sum(own.counts.size for own in pseudonyms.values())}
    return outcome(NAME, KNOWS, "estimate", tallies, details, reason)


def _tally(scene: Scene, pseudonyms: Pseudonyms, aim: Aim) -> Tally:
    people, values = scene.people, scene.people.codes[aim.about]
    expected = np.maximum(pseudonyms.all - pseudonyms.openly, 0)
    right, belief = _read(pseudonyms, expected)
    share = pseudonyms.all / max(int(pseudonyms.all.sum()), 1)
    guess = (values == int(np.argmax(expected))).astype(np.float64)
    inside = is_hidden(scene, people.codes, aim.about) & protected(people, aim)
    seen = Seen(right[values], np.where(right > 0, belief, 0.0)[values])
    return counted(aim.home, inside, seen, Seen(guess, share[values]), bound_of(people, aim))


def _read(pseudonyms: Pseudonyms, expected: Ids) -> tuple[Floats, Floats]:
    """For each value how often its pseudonym is read as it, and how much that is believed; equally common ones share."""
    right, belief = np.zeros(expected.size), np.zeros(expected.size)
    if not pseudonyms.counts.size:
        return right, belief
    matches = [_matched(pseudonyms.counts, (expected * share).astype(np.float64)) for share in SHARES]
    _, misfit, read = min(matches, key=lambda match: match[0])
    likely = np.exp(-misfit / 2)
    believed = likely / (likely.sum(axis=1, keepdims=True) + np.exp(-NEITHER / 2))
    for value in np.flatnonzero(pseudonyms.hidden).tolist():
        own = pseudonyms.own(value)
        if own.size:
            right[value] = (read[own] == value).sum() / own.size
            belief[value] = believed[own, value].mean()
    return right, belief


def _matched(counts: Ids, expected: Floats) -> tuple[float, Floats, Ids]:
    """The best match of pseudonyms and values hidden as often as expected: its misfit, that of each pair, and the match.

    A pseudonym may stand for none of the values: those of groups do.
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
