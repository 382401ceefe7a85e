"""Attacks on groups: whoever finds the rows that may be the target's learns from the values in them.

They differ in what counts as learning: a value, its gain in likelihood, what is akin to it, or what is near it.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from manyveils.attacks.beliefs import Beliefs, Seen
from manyveils.attacks.outcome import TOLERANCE, Measure, Outcome
from manyveils.attacks.people import Floats, Ids, looked_up
from manyveils.attacks.scene import Aim, Scene, even_bound, promised_to
from manyveils.attacks.score import looking, protected, tally
from manyveils.attacks.tallies import Tally, how_sure, outcome
from manyveils.policy.guarantees import Proximity
from manyveils.table import Attribute

KNOWS = "the quasi-identifiers, or what a rule gives"
UNPROMISED = "half of the doubt, since nothing is promised of {}"
KIN, INTERVAL = 0.1, 0.05
MEAN_BELIEF = Measure(
    "mean belief in the true value",
    "The true value is believed with {success} on average over {targets} targets; without the release with {baseline}",
    is_mean=True,
)
WRONG_BRANCH = Measure(
    "share of targets taken for a wrong branch",
    "{success} of {targets} targets are taken for a wrong branch; by guessing {baseline} are",
    openings={
        "nothing learnt": "Misleads about people in the data no more than guessing does.",
        "within bounds": "Misleads about people in the data, within the bounds.",
        "not promised": "Makes some people seem to have what they have not; no promise caps this.",
    },
)


def homogeneity(scene: Scene) -> Outcome:
    """Homogeneity: people who look alike share a value, and then whoever finds the group knows it.

    Knows: the quasi-identifiers, and that the target is in the data.
    How: finds the rows that may be the target's and takes the value most of them have.
    Paper: Machanavajjhala et al., l-diversity (2006).
    """
    tallies = [tally(scene, aim) for aim in scene.aims]
    return outcome("homogeneity", KNOWS, how_sure(scene, scene.aims), tallies, is_foreseen=True)


def skewness(scene: Scene) -> Outcome:
    """Skewness: a value is more common in the target's group than in the table, so it becomes more likely than it was.

    Knows: the quasi-identifiers, and how common each value is in the table.
    How: compares the belief in a value with its share in the table; `success` is the mean belief in what is true.
    Paper: Li et al., t-closeness (2007); Cao and Karras, beta-likeness (2012).
    """
    tallies = [_gains(scene, aim) for aim in scene.aims]
    gains = [tally.details["worst_gain"] for tally in tallies if tally.targets]
    details, how = {"worst_gain": max(gains, default=1.0)}, how_sure(scene, scene.aims)
    knows = f"{KNOWS}, and the share of each value"
    return outcome("skewness", knows, how, tallies, details, measure=MEAN_BELIEF, is_foreseen=True)


def _gains(scene: Scene, aim: Aim) -> Tally:
    """The belief in each person's own value is also how often a guess by belief is right."""
    look = looking(lambda beliefs, codes: Seen(beliefs.at(codes), beliefs.at(codes)))
    seen, guess = look(scene.reader, scene.people, aim), look(scene.ignorant, scene.people, aim)
    gains = (seen.truth / guess.truth)[protected(scene.people, aim)]
    return replace(tally(scene, aim, look), details={"worst_gain": float(gains.max(initial=1.0))})


def similarity(scene: Scene) -> Outcome:
    """Similarity: the values of a group differ and mean nearly the same.

    Knows: the quasi-identifiers, and which values are akin: the hierarchy, or for numbers without one, their distance.
    How: guesses the parent with the greatest belief, or a number and all within a tenth of the range of it.
    Paper: Li et al., t-closeness (2007).
    """
    looks = {}
    for aim in scene.aims:
        attribute = scene.table[aim.about]
        levels, within = _branching_levels(attribute), KIN * span_of(attribute)
        if levels:
            looks[aim] = looking(partial(_parent, attribute, levels[0]))
        elif within > 0:
            looks[aim] = looking(partial(near, attribute, within))
    tallies = [tally(scene, aim, look, instead=UNPROMISED.format("kin")) for aim, look in looks.items()]
    reason = "No sensitive attribute has a hierarchy with groups or is numeric."
    knows = f"{KNOWS}, and which values are akin"
    return outcome("similarity", knows, how_sure(scene, looks), tallies, reason=reason)


def _parent(attribute: Attribute, level: int, beliefs: Beliefs, codes: Ids) -> Seen:
    parents, own = _branches(attribute, level, beliefs, codes)
    return parents.seen(own)


def divergence(scene: Scene) -> Outcome:
    """Divergence: the group leads to a value of another branch, and people are taken for what they are not.

    Knows: the quasi-identifiers, and the branches of the hierarchy.
    How: believes each branch as much as the group shows it; `success` is the share of people taken for another branch
    than their own, `worst` the strongest belief in one wrong branch.
    Paper: paper 004.
    """
    looks = {
        aim: looking(partial(_wrong_branch, scene.table[aim.about], levels[-1]))
        for aim in scene.aims
        if aim.about in scene.reader.readable and (levels := _branching_levels(scene.table[aim.about]))
    }
    tallies = [tally(scene, aim, look, instead=UNPROMISED.format("branches")) for aim, look in looks.items()]
    reason = "No sensitive attribute has a hierarchy with branches."
    knows, how = f"{KNOWS}, and the branches of the hierarchy", how_sure(scene, looks)
    return outcome("divergence", knows, how, tallies, reason=reason, measure=WRONG_BRANCH)


def _wrong_branch(attribute: Attribute, level: int, beliefs: Beliefs, codes: Ids) -> Seen:
    """The strongest wrong branch is the first, unless that is hers: then it is the second."""
    beliefs, own = _branches(attribute, level, beliefs, codes)
    first, second = beliefs.rows.leading(2)[beliefs.row_of].T
    return Seen(1.0 - beliefs.right(own), np.where(beliefs.at(own) >= first, second, first))


def _branching_levels(attribute: Attribute) -> list[int]:
    """The levels of the hierarchy that put some values together and not all of them."""
    sizes = attribute.levels.sizes
    return [level for level in range(1, len(sizes)) if 1 < sizes[level] < attribute.n_values]


def _branches(attribute: Attribute, level: int, beliefs: Beliefs, codes: Ids) -> tuple[Beliefs, Ids]:
    """What is believed of the branches of one level, and the branch of each person."""
    branch_of = attribute.levels[level].label_of.astype(np.int64)
    return beliefs.merged(branch_of, attribute.levels.sizes[level]), looked_up(branch_of, codes, -1)


def proximity(scene: Scene) -> Outcome:
    """Proximity: the numbers of a group differ and lie close together.

    Knows: the quasi-identifiers.
    How: guesses a short interval, two epsilon wide; epsilon is the policy's, or a twentieth of the range.
    The belief in the truth is the share of the group within epsilon of it, the proximity breach P_b.
    Paper: Li, Tao and Xiao, (epsilon, m)-anonymity (2008); paper 004.
    """
    aims = [aim for aim in scene.aims if span_of(scene.table[aim.about]) > 0]
    tallies = [_within_intervals(scene, aim) for aim in aims]
    reason = "No numeric sensitive attribute is shown."
    return outcome("proximity", KNOWS, how_sure(scene, aims), tallies, reason=reason, is_foreseen=True)


def _within_intervals(scene: Scene, aim: Aim) -> Tally:
    attribute, promises = scene.table[aim.about], promised_to(scene.promises, aim.about, aim.known)
    promised = next((guarantee for guarantee in promises if isinstance(guarantee, Proximity)), None)
    within = float(promised.epsilon) if promised else INTERVAL * span_of(attribute)
    look = looking(partial(near, attribute, within))
    if promised is None:
        return tally(scene, aim, look, instead=UNPROMISED.format("intervals"))
    bound = even_bound(scene.people.n, 1 / promised.m, promised.kind, is_promised=promised.m > 1)
    return tally(scene, aim, look, bound=bound)


def span_of(attribute: Attribute) -> float:
    """How far apart the least and the greatest number are; nothing for an attribute without numbers."""
    is_numeric = attribute.kind == "numeric"
    numbers = attribute.numbers[np.isfinite(attribute.numbers)] if is_numeric else np.zeros(0)
    return float(np.ptp(numbers)) if numbers.size else 0.0


def near(attribute: Attribute, within: float, beliefs: Beliefs, codes: Ids) -> Seen:
    """Guess a number and be right if the truth is within a distance of it; the truth is believed with all around it."""
    numbers = attribute.numbers[np.isfinite(attribute.numbers)]
    low = np.searchsorted(numbers, numbers - within - TOLERANCE, side="left")
    high = np.searchsorted(numbers, numbers + within + TOLERANCE, side="right")
    around = _between(beliefs.rows.among(numbers.size).dense(), low, high)
    best = around.max(axis=1, keepdims=True, initial=0.0)
    likeliest = (around >= best - TOLERANCE).astype(np.float64)
    inside = _between(likeliest, low, high) / likeliest.sum(axis=1, keepdims=True)
    is_number = (codes >= 0) & (codes < numbers.size)
    index = np.where(is_number, codes, 0)
    right = np.where(is_number, inside[beliefs.row_of, index], 0.0)
    truth = np.where(is_number, around[beliefs.row_of, index], 0.0)
    return Seen(right, truth, best[beliefs.row_of, 0])


def _between(rows: Floats, low: Ids, high: Ids) -> Floats:
    """The sum of each row from one index to another."""
    ends = np.concatenate([np.zeros((rows.shape[0], 1)), np.cumsum(rows, axis=1)], axis=1)
    return ends[:, high] - ends[:, low]
