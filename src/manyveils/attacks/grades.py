"""Attacks on grades by somebody who knows nobody: grades keep the order of numbers, so their ranks say what they are."""

from collections.abc import Callable

import numpy as np

from manyveils.attacks.groups import INTERVAL, UNPROMISED, near, span_of
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Floats, Ids
from manyveils.attacks.scene import Aim, Scene
from manyveils.attacks.score import unpromised
from manyveils.attacks.secrets import if_found, published_counts, ranked_cells, secret_attributes
from manyveils.attacks.tallies import Tally, outcome

REASON = "No sensitive number is published as grades."
Read = Callable[[str, Ids], Floats]


def counting_grades(scene: Scene) -> Outcome:
    """Counting grades: where numbers are dense, the n-th grade is the n-th number.

    Knows: the quasi-identifiers, and the least and the greatest number.
    How: spreads the different grades evenly from the one to the other; right within a twentieth of the range. She must
    find the target's cell first.
    Paper: the limits of paper 004.
    """
    knows = "the quasi-identifiers, and the least and the greatest number"
    return _outcome(scene, "counting-grades", knows, lambda name, counts: _evenly(scene, name, counts))


def _evenly(scene: Scene, name: str, counts: Ids) -> Floats:
    numbers = scene.table[name].numbers
    ends = np.nanmin(numbers), np.nanmax(numbers)
    return np.asarray(np.linspace(*ends, counts.size))


def quantile_matching(scene: Scene) -> Outcome:
    """Quantile matching: a grade above a share of all grades is the number above that share of numbers elsewhere.

    Knows: the quasi-identifiers, and the numbers of people who are not in the data.
    How: reads each grade at the middle of its own quantiles; right within a twentieth of the range. She must find the
    target's cell first.
    Paper: the limits of paper 004; Naveed, Kamara and Wright (2015) for encrypted databases.
    """
    knows = "the quasi-identifiers, and the numbers of other people"
    return _outcome(scene, "quantile-matching", knows, lambda name, counts: _like_others(scene, name, counts))


def _like_others(scene: Scene, name: str, counts: Ids) -> Floats:
    codes = scene.non_members.codes.get(name, np.zeros(0, dtype=np.int64))
    others = scene.table[name].numbers[codes[codes >= 0]]
    others = np.sort(others[np.isfinite(others)])
    if not others.size:
        return np.full(counts.size, np.nan)
    below = (np.cumsum(counts) - counts / 2) / counts.sum()
    return np.interp(below, (np.arange(others.size) + 0.5) / others.size, others)


def _outcome(scene: Scene, name: str, knows: str, read: Read) -> Outcome:
    known = scene.table.expand(scene.policy.quasi)
    names = [name for name in secret_attributes(scene, numeric=True) if span_of(scene.table[name]) > 0]
    tallies = [_tally(scene, scene.aim(known, about), read) for about in names]
    return outcome(name, knows, "estimate", tallies, reason=REASON)


def _tally(scene: Scene, aim: Aim, read: Read) -> Tally:
    """What is read of the grades in their order, and found, held against the numbers behind them."""
    attribute, codes = scene.table[aim.about], scene.people.codes[aim.about]
    grades, cell_of = ranked_cells(scene, aim.about)
    counts = published_counts(scene, aim.about)
    shown = np.flatnonzero((counts > 0) & np.isfinite(grades))
    ordered = shown[np.argsort(grades[shown])]
    number_of = np.full(grades.size, np.nan)
    number_of[ordered] = read(aim.about, counts[ordered])
    cell, numbers = cell_of[codes], attribute.numbers[codes]
    targets = np.isfinite(numbers) & (cell >= 0)
    within = INTERVAL * span_of(attribute)
    right = np.abs(number_of[np.maximum(cell, 0)] - numbers) <= within + TOLERANCE
    guess = near(attribute, within, scene.ignorant.beliefs(scene.people, (), aim.about), codes)
    bound = unpromised(guess, UNPROMISED.format("intervals"))
    return if_found(scene, aim, targets, cell, (targets & right).astype(np.float64), guess, bound)
