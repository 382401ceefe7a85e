"""Attacks by those who know more of the target than her quasi-identifiers: what she has not, or what else she has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from manyveils.attacks.adversaries import Adversary
from manyveils.attacks.beliefs import Beliefs, Known, Seen
from manyveils.attacks.outcome import TOLERANCE, Outcome
from manyveils.attacks.people import Floats, Ids, People, alike
from manyveils.attacks.scene import Aim, Bound, Scene
from manyveils.attacks.score import Look, bound_of, tally
from manyveils.attacks.tallies import Tally, how_sure, outcome, summed

MOST_SINGLE = 6
SINGLE = ("success", "broken", "promised", "certain", "worst")


def elimination(scene: Scene) -> Outcome:
    """Elimination: who can rule values out is left with fewer.

    Knows: the quasi-identifiers, and of m values that the target does not have them: of the attribute itself, or of
    another sensitive one in the same column. They are the values whose absence tells most, so this is the worst case.
    How: takes the rows with these values away, and looks at what is left; m is the policy's `eliminations`, or 1.
    Paper: Machanavajjhala et al., l-diversity (2006); paper 001.
    """
    m = scene.greatest("eliminations")
    values = f"{m} value{'s' * (m > 1)} the target does not have"
    knows = f"the quasi-identifiers, or what a rule gives, and {values}"
    tallies = [
        tally(scene, aim, _look(scene, aim, m), bound=_bound(bound_of(scene.people, aim), m))
        for aim in scene.aims
    ]
    return outcome("elimination", knows, how_sure(scene, scene.aims), tallies, {"eliminations": m})


def _bound(bound: Bound, m: int) -> Bound:
    """What a cap leaves once m values are gone that were as likely as it allows: 1/(l - m) of 1/l; at most certainty."""
    left = bound.cap / np.maximum(1 - m * bound.cap, TOLERANCE)
    promised = bound.promised & (left < 1 - TOLERANCE)
    return Bound(np.minimum(left, 1 - 2 * TOLERANCE), promised, f"{bound.words}, less {m} of the values")


def _look(scene: Scene, aim: Aim, m: int) -> Look:
    beside = [name for names in scene.beside(aim).values() for name in names]
    beside = [name for name in beside if _share_a_column(scene, aim.about, name)]
    is_bit = scene.table[aim.about].absence >= 0
    factors: list[tuple[Beliefs, Beliefs, Floats]] = []

    def look(adversary: Adversary, people: People, aim: Aim) -> Seen:
        beliefs, codes = adversary.beliefs(people, aim.known, aim.about), people.codes[aim.about]
        plain = beliefs.seen(codes)
        # Not having a value cannot be ruled out: that would be to know it.
        ways = [plain] if is_bit else [plain, _own(beliefs, codes, m)]
        for name in beside:
            factor = _factor(adversary, people, aim, name, m, scene.table[name].absence, factors)
            truth = np.minimum(plain.truth * factor, 1.0)
            ways.append(Seen((truth > 0.5 + TOLERANCE).astype(np.float64), truth, truth))
        right, truth = (
            np.maximum.reduce([getattr(way, name) for way in ways]) for name in ("right", "truth")
        )
        return Seen(right, truth, np.maximum.reduce([way.best for way in ways if way.best is not None]))

    return look


def _share_a_column(scene: Scene, *names: str) -> bool:
    return any({*names} <= {*column.attributes} for view in scene.reader.views for column in view.columns)


def _own(beliefs: Beliefs, codes: Ids, m: int) -> Seen:
    """Rule out the m likeliest values but the true one."""
    truth = beliefs.at(codes)
    top = beliefs.rows.leading(m + 1)[beliefs.row_of]
    # Where hers is among the first, it is passed over.
    among = truth >= top[:, m] - TOLERANCE
    gone = np.where(among, top.sum(axis=1) - truth, top[:, :m].sum(axis=1))
    left = np.maximum(1.0 - gone, TOLERANCE)
    # Of the values that were at least as likely as hers, m are gone; she is guessed among the rest.
    as_likely = beliefs.rows.n_at_least(beliefs.row_of, truth - TOLERANCE)
    right = np.where(among, 1.0 / np.maximum(as_likely - m, 1), 0.0)
    best = np.where(among, truth, top[:, m]) / left
    return Seen(np.where(truth > 0, right, 0.0), np.minimum(truth / left, 1.0), np.minimum(best, 1.0))


def _factor(
    adversary: Adversary,
    people: People,
    aim: Aim,
    name: str,
    m: int,
    absence: int,
    factors: list[tuple[Beliefs, Beliefs, Floats]],
) -> Floats:
    """How much likelier the truth gets when the m values of another attribute that tell most are ruled out.

    `factors` remembers what follows from which beliefs, as someone who knows all rows often believes no more.
    """
    own = people.codes[name]
    everywhere = adversary.beliefs(people, aim.known, name)
    with_truth = adversary.beliefs(people, (*aim.known, aim.about), name)
    for *beliefs, likelier in factors:
        if beliefs[0] is everywhere and beliefs[1] is with_truth:
            return likelier
    number_of, firsts = alike([everywhere.row_of, with_truth.row_of, own], people.n)
    everywhere_of, with_truth_of = everywhere.of(firsts), with_truth.row_of[firsts]
    cases, values = everywhere_of.cases, everywhere_of.values
    # What the target has, and having nothing, cannot be ruled out.
    kept = (everywhere_of.beliefs > 0) & (values != own[firsts][cases]) & (values != absence)
    cases, values, before = cases[kept], values[kept], everywhere_of.beliefs[kept]
    after = with_truth.rows.at(with_truth_of[cases], values)
    factor = _ruled_out(cases, before, after, firsts.size, m)
    likelier = np.where(people.codes[aim.about] >= 0, factor[number_of], 1.0)
    if people.persons is not None:
        factors.append((everywhere, with_truth, likelier))
    return likelier


def _ruled_out(cases: Ids, before: Floats, after: Floats, n: int, m: int) -> Floats:
    """How much likelier each of n cases gets when the m values that tell most are ruled out.

    Values come case by case; `before` and `after` are the beliefs in them without the truth and with it.
    """
    gone_before, gone_after, factor = np.zeros(n), np.zeros(n), np.ones(n)
    for _ in range(m):
        left = np.maximum(1.0 - gone_before[cases] - before, TOLERANCE)
        ratio = np.where(before > 0, (1.0 - gone_after[cases] - after) / left, 0.0)
        best = _first_greatest(cases, ratio)
        gone_before[cases[best]] += before[best]
        gone_after[cases[best]] += after[best]
        factor[cases[best]] = np.maximum(factor[cases[best]], ratio[best])
        before[best] = after[best] = 0.0
    return factor


def _first_greatest(cases: Ids, numbers: Floats) -> Ids:
    """The place of the greatest number of each case, the first of equal ones; cases stand in order."""
    if not cases.size:
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.diff(cases, prepend=-1))
    greatest = np.repeat(np.maximum.reduceat(numbers, starts), np.diff(starts, append=cases.size))
    places = np.flatnonzero(numbers == greatest)
    return places[np.diff(cases[places], prepend=-1) != 0]


def background_join(scene: Scene) -> Outcome:
    """Background join: who knows one sensitive value of a target reads the others off the matching rows.

    Knows: the quasi-identifiers, and the target's other sensitive values: all of them, and one at a time.
    How: keeps the rows that match all of this, and takes the value most of them have.
    Paper: paper 000 (CODIP).
    """
    aims, singles = [], dict[tuple[str, str], list[Tally]]()
    for aim in scene.aims:
        beside = scene.beside(aim)
        if not beside:
            continue
        aims.append(_knowing(aim, tuple(name for names in beside.values() for name in names)))
        for home, names in beside.items() if len(beside) <= MOST_SINGLE else ():
            singles.setdefault((aim.home, home), []).append(tally(scene, _knowing(aim, names)))
    knows = "the quasi-identifiers, or what a rule gives, and all other sensitive values of the target"
    reason = "No other sensitive attribute is published in the open."
    tallies = [tally(scene, aim) for aim in aims]
    how, is_foreseen = how_sure(scene, aims), any(promise.conditional for promise in scene.promises)
    result = outcome("background-join", knows, how, tallies, reason=reason, is_foreseen=is_foreseen)
    return replace(result, by_attribute=_with_singles(result.by_attribute, singles))


def _knowing(aim: Aim, more: tuple[str, ...]) -> Aim:
    return replace(aim, known=(*aim.known, *more))


def _with_singles(
    by_attribute: Mapping[str, Mapping[str, Any]], singles: Mapping[tuple[str, str], list[Tally]]
) -> dict[str, dict[str, Any]]:
    """Beside every attribute, what knowing each other one alone achieves."""
    result = {home: {**numbers, "knowing": dict[str, Any]()} for home, numbers in by_attribute.items()}
    for (home, known), tallies in singles.items():
        if any(tally.targets for tally in tallies):
            numbers = summed(tallies)
            result[home]["knowing"][known] = {key: numbers[key] for key in SINGLE}
    return result


def fingerprint(scene: Scene) -> Outcome:
    """Fingerprint correlation: the sensitive values of one person together tell her bucket, whoever she is.

    Knows: all sensitive values of the target but one, and nothing else of her.
    How: weighs the buckets by how often these values stand in them, and takes the value that is likeliest there.
    Paper: Khan, Tao, Anjum and others, (c,k)-anonymization (2020), on releases as (p,k)-angelization makes them.
    """
    aims = []
    for aim in scene.aims:
        others = tuple(name for names in scene.beside(aim).values() for name in names)
        if others and _share_a_bucketing(scene, aim.about, others):
            aims.append(replace(aim, known=others, bounds=scene.aim(others, aim.about).bounds))
    reason = "No view has several sensitive attributes in buckets."
    tallies = [tally(scene, aim) for aim in aims]
    knows = "all sensitive values of the target but one, and nothing else of her"
    return outcome("fingerprint", knows, how_sure(scene, aims), tallies, reason=reason)


def _share_a_bucketing(scene: Scene, about: str, others: Known) -> bool:
    """Whether a view with buckets shows an attribute and some other."""
    views = (view for view in scene.reader.views if view.n_buckets > 1)
    return any(about in view.attributes and {*others} & {*view.attributes} for view in views)
