"""Membership: telling whether somebody is in the data at all.

Knows: the quasi-identifiers, and how common each of their values is.
How: the likelihood ratio of them under the release and under a population in which attributes are independent.
`success` is the area under the curve: how often a member scores above a stranger; one half is guessing.
`broken` and `certain` count members whose quasi-identifiers the release shows for sure, beyond the share of strangers
of whom it does: a fake tuple that looks real protects real ones.
Paper: Homer et al. (2008); paper 003 (slicing), Section 5.
"""

from math import sqrt

import numpy as np
import polars as pl

from manyveils.attacks.intervals import NORMAL
from manyveils.attacks.outcome import Measure, Outcome
from manyveils.attacks.people import Bools, Floats, People
from manyveils.attacks.scene import Scene
from manyveils.reading.views import PublishedView

NAME = "membership"
KNOWS = "the quasi-identifiers, and how common their values are"
FALSE_ALARMS = 0.01
MEASURE = Measure(
    "area under the curve: how often a member ranks above a stranger",
    "A member ranks above a stranger in {success} of comparisons, over {targets} members; guessing gets {baseline}",
    openings={
        "nothing learnt": "Does not tell members from strangers.",
        "within bounds": "Tells members from strangers better than guessing, and shows nobody for sure.",
        "not promised": "Shows for sure that some people are in the data; no promise caps this.",
    },
)


def attack(scene: Scene) -> Outcome:
    """Tell members from strangers."""
    known = tuple(name for name in scene.quasi if name in scene.reader.readable)
    if not known or not scene.release.rows:
        return Outcome(NAME, KNOWS, "none", reason="No quasi-identifier is published.")
    inside, outside = _score(scene, scene.people, known), _score(scene, scene.strangers, known)
    area = area_under_curve(inside, outside)
    half = NORMAL * _error(area, inside.size, outside.size)
    alarm = float(np.quantile(outside, 1 - FALSE_ALARMS, method="higher"))
    found, alarmed = float((inside > alarm).mean()), float((outside > alarm).mean())
    shown, fake = _proven(scene, scene.people, known).mean(), _proven(scene, scene.strangers, known).mean()
    excess = max(0, round(float(shown - fake) * scene.people.n))
    return Outcome(
        NAME,
        KNOWS,
        "estimate",
        targets=scene.people.n,
        measure=MEASURE,
        success=area,
        baseline=0.5,
        low=max(0.0, area - half),
        high=min(1.0, area + half),
        broken=excess,
        certain=excess,
        worst=1.0 if excess else max(found / (found + max(alarmed, FALSE_ALARMS)), 0.5),
        bound="nobody is shown for sure, since nothing is promised of membership",
        details={
            "found_at_1_percent_false_alarms": found,
            "shown_for_sure": float(shown),
            "strangers_shown_for_sure": float(fake),
            "strangers_who_match": float(np.isfinite(outside).mean()),
        },
    )


def area_under_curve(inside: Floats, outside: Floats) -> float:
    """How often one of the first scores above one of the second; ties count half.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranks = pl.Series(np.concatenate([inside, outside])).rank("average").to_numpy()[: inside.size]
    return float((ranks.sum() - inside.size * (inside.size + 1) / 2) / (inside.size * outside.size))


def _error(area: float, n_inside: int, n_outside: int) -> float:
    """The standard error of an area under the curve (Hanley and McNeil, 1982)."""
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n_inside - 1) * (one - area**2) + (n_outside - 1) * (two - area**2)
    return sqrt(max(spread, 0.0) / (n_inside * n_outside))


def _score(scene: Scene, people: People, known: tuple[str, ...]) -> Floats:
    """The log of the likelihood ratio; minus infinity for people the release has no place for."""
    ratio = np.zeros(people.n)
    seen: set[str] = set()
    shapes = [shape for shape in scene.reader.shapes if shape.n_rows and {*known} & {*shape.attributes}]
    for shape in sorted(shapes, key=lambda shape: -len({*known} & {*shape.attributes})):
        asked = tuple(name for name in known if name in shape.attributes)
        ratio += _log(_mass(scene, people, shape, asked))
        shared = tuple(name for name in asked if name in seen)
        if shared:
            before = _mass(scene, people, shape, shared)
            ratio -= np.where(before > 0, _log(np.where(before > 0, before, 1.0)), 0.0)
        seen |= {*asked}
    for name in known:
        counts, codes = scene.table[name].counts, people.codes[name]
        shares = np.where(codes >= 0, counts[np.maximum(codes, 0)], 1) / max(scene.table.n_rows, 1)
        ratio -= np.log(np.maximum(shares, 1 / max(scene.table.n_rows, 1)))
    return ratio


def _log(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.size, -np.inf), where=values > 0)


def _mass(scene: Scene, people: People, shape: PublishedView, asked: tuple[str, ...]) -> Floats:
    """The share of a view's rows that are expected to match each person."""
    sighted = scene.reader.sighted(people, shape, asked)
    return sighted.gathered([each.expected() for each in sighted.each] or [np.zeros(1)], 0.0) / shape.n_rows


def _proven(scene: Scene, people: People, known: tuple[str, ...]) -> Bools:
    """Whether some view shows, however its columns are linked, a row with all of a person's quasi-identifiers."""
    proven = np.zeros(people.n, dtype=bool)
    for shape in scene.reader.shapes:
        if not shape.n_rows or not {*known} <= {*shape.attributes}:
            continue
        sighted = scene.reader.sighted(people, shape, known)
        found = []
        for each in sighted.each:
            targets, buckets, counts = each.counted()
            # Counts that add up to more than the bucket has room for must meet in a row.
            sure = counts.sum(axis=0) > (counts.shape[0] - 1) * each.shape.sizes[buckets]
            some = np.bincount(targets[sure], minlength=each.n) > 0
            found.append((some & each.is_bare()).astype(np.float64))
        proven |= sighted.gathered(found or [np.zeros(1)], 0.0) > 0
    return proven
